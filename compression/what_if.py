"""What a session would have sent if only one message had been compressed, from the first request that held it.

The engine's own stub under a policy, and sums over the windows without any policy. Knows no page, stores nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compression.engine.columns import columns_of, window_tokens
from compression.engine.history import course_of
from compression.engine.policy import Policy
from compression.engine.stubs import Stub
from compression.engine.windows import window_for
from compression.warm_sessions import WarmSession

Verdict = Literal["shorter", "no result", "no shorter stub", "never sent"]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """``tokens`` and ``stub_tokens`` are uncalibrated, of the results in the message; ``sent`` and ``sent_if``
    calibrated sums over all requests of the session, ``requests`` those that held the message.

    ``least``: the policy leaves results of so few tokens alone, though a stub of this one would be shorter.
    """

    verdict: Verdict
    message: int
    tokens: int = 0
    stub_tokens: int = 0
    compressor: str = ""
    content_type: str = ""
    requests: int = 0
    sent: int = 0
    sent_if: int = 0
    overflow: int | None = None
    overflow_if: int | None = None
    least: int | None = None

    @property
    def freed(self) -> int:
        return self.sent - self.sent_if

    @property
    def share(self) -> float:
        return self.freed / self.sent if self.sent else 0.0

    @property
    def moves_overflow(self) -> bool:
        return self.overflow != self.overflow_if


def what_if(warm: WarmSession, policy: Policy, message: int) -> WhatIf | None:
    """The figures for one message; None when the session has no such message. O(turns) and one stub."""
    subject = warm.subject
    transcript, calibration = subject.transcript, subject.calibration
    if message >= len(transcript.messages):
        return None
    with warm.lock:
        course = course_of(transcript, "uncompacted")
        columns = columns_of(course, calibration)
        first = course.arrivals[message]
        results = [j for i, j, _ in course.results_between(message, message + 1)]
        stubs = {j: _stub(warm, policy, message, j) for j in results} if first < len(course.windows) else {}
    if not results:
        return WhatIf("no result", message)
    if first >= len(course.windows):
        return WhatIf("never sent", message)
    counts = transcript.counts[message]
    made = {j: stub for j, stub in stubs.items() if stub is not None}
    tokens = sum(counts[j] for j in results)
    freed = sum(counts[j] - stub.tokens for j, stub in made.items())
    if policy.context_window == "auto":
        limit = window_for(transcript.model, transcript.context_window, calibration.peak).tokens
    else:
        limit = int(policy.context_window)
    windows = columns.windows
    changed = [
        window if t < first else window_tokens(calibration, columns.counted[t] - freed, course.unknown_left[t])
        for t, window in enumerate(windows)
    ]
    return WhatIf(
        verdict="shorter" if made else "no shorter stub",
        message=message,
        tokens=tokens,
        stub_tokens=tokens - freed,
        compressor=", ".join(dict.fromkeys(stub.compressor for stub in made.values())),
        content_type=", ".join(dict.fromkeys(stub.kind for stub in made.values())),
        requests=len(windows) - first,
        sent=sum(windows),
        sent_if=sum(changed),
        overflow=_overflow(windows, limit, policy.reserve_output),
        overflow_if=_overflow(changed, limit, policy.reserve_output),
        least=policy.min_result_tokens if all(counts[j] <= policy.min_result_tokens for j in made) else None,
    )


def _stub(warm: WarmSession, policy: Policy, i: int, j: int) -> Stub | None:
    transcript = warm.subject.transcript
    course = course_of(transcript, "uncompacted")
    part = transcript.messages[i].parts[j]
    arguments = course.arguments.get(part.call_id, "")
    return warm.stubber.stub(part, transcript.counts[i][j], policy, arguments, course.sha(i, j))


def _overflow(windows: tuple[int, ...] | list[int], limit: int, reserve: int) -> int | None:
    return next((t for t, tokens in enumerate(windows) if tokens + reserve > limit), None)
