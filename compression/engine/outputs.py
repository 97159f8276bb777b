"""How many tokens each call answered with: what the provider recorded, else what stands in the log.

Some logs write the figure of the stream's first piece (1, 3, 8 tokens for a page of text). Where the record is less
than half of what was counted, the count stands, calibrated to the provider's tokens. Encrypted parts have a size and no
tokens that anybody could count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compression.engine.calibration import Calibration
from compression.engine.transcript import Transcript

LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Output:
    """Tokens of one answer, and whether they were recorded or counted."""

    tokens: int
    basis: Literal["recorded", "counted"]


def outputs_of(transcript: Transcript, calibration: Calibration) -> tuple[Output, ...]:
    """The answer of every call; worked out once for a transcript and its calibration."""
    known = transcript.memo.get("outputs")
    if known is None or known[0] != calibration.k:
        known = (calibration.k, _outputs(transcript, calibration.k))
        transcript.memo["outputs"] = known
    outputs: tuple[Output, ...] = known[1]
    return outputs


def _outputs(transcript: Transcript, k: float) -> tuple[Output, ...]:
    found: list[Output] = []
    for turn in transcript.turns:
        counted = sum(
            tokens
            for i in range(turn.request_end, turn.response_end)
            for part, tokens in zip(transcript.messages[i].parts, transcript.counts[i], strict=True)
            if part.kind != "opaque"
        )
        recorded = 0 if turn.recorded is None else turn.recorded.output
        if recorded and recorded >= LEAST_SHARE * counted:
            found.append(Output(recorded, "recorded"))
        else:
            found.append(Output(round(k * counted), "counted"))
    return tuple(found)
