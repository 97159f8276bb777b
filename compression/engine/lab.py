"""One tool output on the bench: what it is, the stub that would stand for it, and what others would leave of it.

Other policies act on whole windows, so the output is put into a made-up session and grows old there. Nothing here
reads a session or knows a page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from compression.engine import compressors
from compression.engine.calibration import Calibration
from compression.engine.content_types import ContentType, detect
from compression.engine.edits import Edit
from compression.engine.policy import Policy
from compression.engine.references import REFERENCES
from compression.engine.replay import replay
from compression.engine.snapshots import digest
from compression.engine.stubs import Stub, Stubber
from compression.engine.tokens import count_parts
from compression.engine.transcript import Message, Part, Transcript, Turn

EXCHANGES = 130
WINDOW = 200_000
"""The made-up session: so many exchanges after the output, in a window of so many tokens."""

_LINES = 84
_PROMPT_EVERY = 13
_PLACE = (2, 0)  # message and part of the output

Fate = Literal["stub", "placeholder", "left", "whole"]


@dataclass(frozen=True, slots=True)
class Tried:
    """A stub made to order, None where none would be shorter. ``lines`` = (line, whether the stub has it)."""

    content: ContentType
    stub: Stub | None
    tokens: int
    budget: int
    lines: tuple[tuple[str, bool], ...]

    @property
    def kept(self) -> int:
        return sum(is_kept for _, is_kept in self.lines)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a policy leaves of the output once it is old. ``text`` stands there; ``tokens`` of it."""

    policy: str
    fate: Fate
    text: str
    tokens: int
    turn: int | None
    reason: str
    address: str
    simulated: bool


def tried(
    text: str, *, tool: str = "", arguments: str = "", kind: str = "", budget: int | None = None,
    policy: Policy, stubber: Stubber,
) -> Tried:  # fmt: skip
    """The stub of an output with its own budget; ``kind`` overrides what is found, UnknownKind for another word."""
    tokens = stubber.counter.count(text)
    found = detect(text, tool, arguments)
    content = found._replace(kind=kind, confidence=1.0, why="chosen here") if kind else found
    budget = policy.stub_budget(tokens) if budget is None else budget
    made = compressors.compress(
        text, kind=content.kind, budget=budget, count=stubber.counter.count_many, arguments=arguments
    )
    stub = stubber.finished(Part("tool_result", text, name=tool), digest(text), tokens, content, content.kind, made)
    return Tried(content, stub, tokens, budget, _kept_lines(text, made.text if stub else text))


def _kept_lines(text: str, body: str) -> tuple[tuple[str, bool], ...]:
    """Each line with whether the stub says it, gutters and blanks aside."""
    said = {line.strip() for line in body.split("\n")}
    return tuple(
        (line, bool(bare) and (bare in said or (len(bare) > 7 and bare in body)))
        for line in text.split("\n")
        for bare in [line.strip()]
    )


@lru_cache(maxsize=1)
def _filler() -> tuple[str, ...]:
    """Outputs that differ in every line, some 2,000 tokens each."""
    return tuple(
        "\n".join(
            f"10:{at % 60:02}:{at % 60:02} INFO store wrote part {n * _LINES + at} of batch {n + 1} to s{at % 9}.dat"
            for at in range(_LINES)
        )
        for n in range(EXCHANGES)
    )


def _session(text: str, tool: str, arguments: str, stubber: Stubber) -> Transcript:
    messages = [
        Message(0, "user", (Part("text", "Find out what happened, then go on with the work."),)),
        Message(1, "assistant", (Part("tool_call", arguments or "{}", "call_0", tool or "Bash"),)),
        Message(2, "tool", (Part("tool_result", text, "call_0", tool or "Bash"),)),
    ]
    turns = [Turn(0, 1, 2, 3)]
    for n, body in enumerate(_filler(), 1):
        at = len(messages)
        if n % _PROMPT_EVERY == 0:
            messages.append(Message(at, "user", (Part("text", f"Go on with batch {n}."),)))
            at += 1
        call = Part("tool_call", f'{{"command": "store batch {n}"}}', f"call_{n}", "Bash")
        messages += [
            Message(at, "assistant", (Part("text", f"Batch {n} is next."), call)),
            Message(at + 1, "tool", (Part("tool_result", body, f"call_{n}", "Bash"),)),
        ]
        turns.append(Turn(n, at, at + 1, at + 2))
    counts = count_parts((message.parts for message in messages), stubber.counter.count_many)
    return Transcript(tuple(messages), tuple(turns), tuple(map(tuple, counts)), context_window=WINDOW)


def elsewhere(
    text: str, policies: Iterable[Policy], *, tool: str = "", arguments: str = "", stubber: Stubber
) -> list[Elsewhere]:
    """What each policy leaves of the output after all exchanges. One replay a policy."""
    transcript = _session(text, tool, arguments, stubber)
    return [_elsewhere(transcript, policy, stubber) for policy in policies]


def _elsewhere(transcript: Transcript, policy: Policy, stubber: Stubber) -> Elsewhere:
    sized = policy.model_copy(update={"context_window": WINDOW}) if policy.context_window == "auto" else policy
    done = replay(transcript, sized, Calibration(), stubber=stubber)
    reference = REFERENCES.get(policy.reference or "")
    simulated = bool(reference and reference.simulated)
    i, j = _PLACE
    edit: Edit | None = None
    turn = None
    for event in done.events:
        if i in event.left:
            note = event.note
            text = note.text if note else ""
            tokens = note.tokens if note else 0
            address = note.address if note else ""
            is_simulated = bool(note and note.simulated)
            return Elsewhere(policy.name, "left", text, tokens, event.turn, event.reason, address, is_simulated)
        for one in event.edits:
            if (one.message, one.part) == (i, j):
                edit, turn = one, event.turn
    if edit is None:
        part, tokens = transcript.messages[i].parts[j], transcript.counts[i][j]
        return Elsewhere(policy.name, "whole", part.text, tokens, None, "", "", simulated=False)
    fate: Fate = "placeholder" if edit.kind == "placeholder" else "stub"
    return Elsewhere(
        policy.name, fate, edit.text, edit.tokens_after, turn, edit.reason, edit.address, simulated and not edit.address
    )
