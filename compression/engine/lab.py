"""One tool output on the bench: what it is, the stub that would stand for it, and what others would leave of it.

Other policies act on whole windows, so the output is put into a made-up session and grows old there. Nothing here
reads a session or knows a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from compression.engine import compressors
from compression.engine.calibration import Calibration
from compression.engine.content_types import ContentType, detect
from compression.engine.cover import FIRST_LINE, Candidate, Cover
from compression.engine.fidelity import fidelity
from compression.engine.focus import Focus
from compression.engine.policy import Policy
from compression.engine.reading import reading_of
from compression.engine.references import REFERENCES
from compression.engine.replay import Replay, replay
from compression.engine.snapshots import digest
from compression.engine.stubs import Stub, Stubber
from compression.engine.tokens import count_parts
from compression.engine.tool_output import cleaned
from compression.engine.transcript import Message, Part, Transcript, Turn
from compression.engine.worth import said_by, worths

EXCHANGES = 130
EXCHANGE_TOKENS = 2_000
WINDOW = 200_000
"""The made-up session: so many exchanges of about so many tokens after the output, in a window of so many."""

OWN_STRATEGIES = ("threshold", "sliding")
"""The policies that make stubs; the others leave what their references leave."""

_BEFORE = 2  # exchanges before the output: the first ones are sacred to many
_LINES = 96
_PROMPT_EVERY = 13
_CLIPPED = "…"
_OPENING = " {"  # a signature stands without it
_TELLING = 8  # characters: shorter ones are found anywhere

Allocation = Literal["per_result", "novelty"]
Fate = Literal["stub", "placeholder", "left", "whole"]


@dataclass(frozen=True, slots=True)
class Tried:
    """A stub made to order, None where none would be shorter.

    ``lines`` = (line, whether the stub says it) of the output as its compressor reads it: ``is_unwrapped`` when that
    is not the text as it came, ``is_numbered`` when the lines came with numbers of their own. ``claims`` = (names and
    numbers of the stub that hold, all of them, those that do not).
    """

    content: ContentType
    stub: Stub | None
    tokens: int
    budget: int
    allocation: Allocation
    lines: tuple[tuple[str, bool], ...]
    is_unwrapped: bool
    is_numbered: bool
    claims: tuple[int, int, list[str]]

    @property
    def filled(self) -> int:
        """Lines that say something."""
        return sum(1 for line, _ in self.lines if line.strip())

    @property
    def kept(self) -> int:
        """Those of them that the stub says."""
        return sum(1 for line, is_kept in self.lines if is_kept and line.strip())


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a policy leaves of the output once it is old.

    ``text`` of ``tokens`` tokens stands there, at the end, for so many ``messages`` together where the output left with
    others. ``reason``: why it was changed at ``turn``, or why it was not. ``simulated`` says what of that policy is.
    """

    policy: str
    fate: Fate
    text: str
    tokens: int
    turn: int | None
    reason: str
    address: str = ""
    simulated: str = ""
    messages: int = 1


def tried(
    text: str, *, tool: str = "", arguments: str = "", kind: str = "", budget: int | None = None,
    allocation: Allocation | None = None, policy: Policy, stubber: Stubber,
) -> Tried:  # fmt: skip
    """The stub of an output with its own budget; ``kind`` overrides what is found, UnknownKind for another word.

    ``allocation`` is the policy's when it is not given; a kind that was not found is always filled ``per_result``.
    """
    tokens = stubber.counter.count(text)
    found = detect(text, tool, arguments)
    content = found._replace(kind=kind, confidence=1.0, why="chosen here") if kind and kind != found.kind else found
    budget = policy.stub_budget(tokens) if budget is None else budget
    chosen = allocation or policy.allocation
    used: Allocation = chosen if content is found else "per_result"
    part = Part("tool_result", text, "call", tool)
    if used == "novelty":
        stub = _covered(part, arguments, tokens, budget, policy, stubber)
    else:
        stub = _filled(part, arguments, tokens, budget, content, policy, stubber)
    body = stub.text.partition("\n")[2] if stub else text
    source = cleaned(text)
    shown = [source.shown(n) for n in range(len(source.lines))]
    lines = tuple(whole if line.strip() else "" for whole, line in zip(shown, source.lines, strict=True))
    return Tried(
        content, stub, tokens, budget, used,
        lines=tuple(_told(lines, body)) if stub else tuple((line, True) for line in lines),
        is_unwrapped=[line.strip() for line in shown] != [line.strip() for line in text.rstrip().split("\n")],
        is_numbered=bool(source.gutter),
        claims=fidelity(text, body, stub.counts) if stub else (0, 0, []),
    )  # fmt: skip


def _filled(
    part: Part, arguments: str, tokens: int, budget: int, content: ContentType, policy: Policy, stubber: Stubber
) -> Stub | None:
    """One result's budget filled by the compressor's own order."""
    count = stubber.counter.count_many
    if content.kind == "code_output" and policy.code_output == "head_tail":
        compressor, made = "head_tail", compressors.head_tail(part.text, budget=budget, count=count)
    else:
        compressor = content.kind
        made = compressors.compress(part.text, kind=content.kind, budget=budget, count=count, arguments=arguments)
    return stubber.finished(part, digest(part.text), tokens, content, compressor, made)


def _covered(part: Part, arguments: str, tokens: int, budget: int, policy: Policy, stubber: Stubber) -> Stub | None:
    """As an event would spend its budget if this were its only result, and only the call stood beside it."""
    if tokens <= budget:
        return None
    sha = digest(part.text)
    prepared = stubber.proposals.of(part, arguments, sha)
    call = reading_of(Message(0, "assistant", (Part("tool_call", arguments, part.call_id, part.name),)))
    candidate = Candidate(1, 0, tokens, part, sha, prepared)
    own = worths([(prepared, 0)], said_by([call], [prepared]), Focus())
    Cover([candidate], own, stubber, diagnosing=False).spend(budget + FIRST_LINE, [budget])
    return candidate.stub


def _told(lines: Iterable[str], body: str) -> Iterator[tuple[str, bool]]:
    """Each line with whether the stub says it, as it is or clipped; blank ones go with the line before."""
    said = {line.strip() for line in body.split("\n")}
    clipped = tuple(
        line[:-1].rstrip() for line in said if line.endswith(_CLIPPED) and len(line) > _TELLING
    )  # fmt: skip
    is_kept = False
    for line in lines:
        if bare := line.strip():
            core = bare.rstrip(_OPENING) or bare
            is_kept = core in said or bare.startswith(clipped) or (len(core) >= _TELLING and core in body)
        yield line, is_kept


@lru_cache(maxsize=1)
def _filler() -> tuple[str, ...]:
    """Outputs that differ in every line, one for each exchange."""
    return tuple(
        "\n".join(
            f"10:{at % 60:02}:{at % 60:02} INFO store wrote part {n * _LINES + at} of batch {n + 1} to s{at % 9}.dat"
            for at in range(_LINES)
        )
        for n in range(_BEFORE + EXCHANGES)
    )


def _session(text: str, tool: str, arguments: str, stubber: Stubber) -> tuple[Transcript, int]:
    """The made-up session, and which of its messages the output is."""
    messages = [Message(0, "user", (Part("text", "Find out what happened, then go on with the work."),))]
    turns: list[Turn] = []
    place = 0
    for n, body in enumerate(_filler()):
        if n == _BEFORE:
            place = _exchange(messages, turns, Part("tool_call", arguments or "{}", "call", tool or "Bash"), text)
        if n and n % _PROMPT_EVERY == 0:
            messages.append(Message(len(messages), "user", (Part("text", f"Go on with batch {n}."),)))
        call = Part("tool_call", f'{{"command": "store batch {n}"}}', f"call_{n}", "Bash")
        _exchange(messages, turns, call, body)
    counts = count_parts((message.parts for message in messages), stubber.counter.count_many)
    return Transcript(tuple(messages), tuple(turns), tuple(map(tuple, counts)), context_window=WINDOW), place


def _exchange(messages: list[Message], turns: list[Turn], call: Part, body: str) -> int:
    """A call and what came back, as a turn. Where the result stands."""
    at = len(messages)
    result = Part("tool_result", body, call.call_id, call.name)
    messages += [Message(at, "assistant", (call,)), Message(at + 1, "tool", (result,))]
    turns.append(Turn(len(turns), at, at + 1, at + 2))
    return at + 1


def elsewhere(
    text: str, policies: Iterable[Policy], *, tool: str = "", arguments: str = "", stubber: Stubber
) -> list[Elsewhere]:
    """What each policy leaves of the output after all exchanges. One replay a policy."""
    transcript, place = _session(text, tool, arguments, stubber)
    return [_elsewhere(transcript, place, policy, stubber) for policy in policies]


def _elsewhere(transcript: Transcript, place: int, policy: Policy, stubber: Stubber) -> Elsewhere:
    done = replay(transcript, policy, Calibration(), stubber=stubber)
    reference = REFERENCES.get(policy.reference or "")
    simulated = reference.simulated if reference else ""
    last = len(transcript.turns) - 1
    standing = done.standing_at(last)
    request = standing.request(last)
    if request.ordinal(place) is None:
        event = next(event for event in done.events if place in event.left)
        note = standing.note(last)
        gone = request.end - len(request)
        return Elsewhere(
            policy.name, "left", note.text if note else "", note.tokens if note else 0, event.turn,
            event.reason, note.address if note else "", simulated, gone,
        )  # fmt: skip
    edit = standing.edits.get((place, 0))
    if edit is None:
        part, tokens = transcript.messages[place].parts[0], transcript.counts[place][0]
        return Elsewhere(policy.name, "whole", part.text, tokens, None, _why_whole(done, place, tokens, stubber))
    turn = next(event.turn for event in reversed(done.events) if edit in event.edits)
    fate: Fate = "placeholder" if edit.kind == "placeholder" else "stub"
    return Elsewhere(policy.name, fate, edit.text, edit.tokens_after, turn, edit.reason, edit.address, simulated)


def _why_whole(done: Replay, place: int, tokens: int, stubber: Stubber) -> str:
    """Why a policy left the output as it is, as far as its rules can be asked."""
    policy = done.policy
    acted = sum(event.changes for event in done.events)
    if not acted:
        return "it never acted: nothing here met its rules"
    if policy.strategy not in OWN_STRATEGIES:
        return f"it acted {acted:,} {'time' if acted == 1 else 'times'}, by its rules never on this result"
    pinned = done.zones_at(len(done.windows_after) - 1).pinned.get(place)
    if pinned:
        return f"pinned: {pinned}"
    if tokens <= policy.min_result_tokens:
        return f"it leaves results of up to {policy.min_result_tokens:,} tokens alone"
    part = done.transcript.messages[place].parts[0]
    if stubber.stub(part, tokens, policy, done.course.arguments.get(part.call_id, "")) is None:
        return "no stub of it would be shorter"
    return "other results were enough to reach its target"
