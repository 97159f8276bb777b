"""The lab's page: where an output comes from, its lines kept and dropped, and the same output under other policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from urllib.parse import urlencode

from django.urls import reverse

from compression.engine.lab import Elsewhere, Tried, elsewhere
from compression.engine.presets import PRESETS
from compression.engine.proposals import Proposals
from compression.engine.stubs import Stubber
from compression.engine.tokens import default_counter
from compression.policy_keys import Choice
from compression.transcripts import engine_messages
from sessions.models import Message, Project, Session

ROWS_SHOWN = 400
KEPT_SHOWN, DROPPED_SHOWN = 60, 3
LINE_CHARS = 400
TEXT_SHOWN = 2_000
NAMES_SHOWN = 8
SESSIONS_OFFERED, RESULTS_OFFERED = 100, 20
CALLS_LOOKED_AT = 12


@dataclass(frozen=True, slots=True)
class Output:
    """A tool output with what is known of its call. ``session`` and ``message`` where it was picked."""

    text: str
    tool: str = ""
    arguments: str = ""
    session: Session | None = None
    message: int = 0


@dataclass(frozen=True, slots=True)
class Pick:
    """A large result of a session, to be chosen."""

    message: int
    tool: str
    tokens: int
    turn: int | None
    url: str


@dataclass(frozen=True, slots=True)
class Run:
    """Lines in a row that a stub says, or does not say; (number, line) of those shown, ``more`` of them are not."""

    is_kept: bool
    lines: tuple[tuple[int, str], ...]
    more: int


@dataclass(frozen=True, slots=True)
class Row:
    """A policy's line in the table. ``saved`` is a share of the output's tokens; ``cut`` characters are not shown."""

    label: str
    about: str
    found: Elsewhere
    text: str
    cut: int
    saved: float


@lru_cache(maxsize=1)
def _proposals() -> Proposals:
    """What was worked out of an output serves the next request; bounded by itself, safe between threads."""
    return Proposals(default_counter())


def stubber() -> Stubber:
    """A fresh one: it forgets the stubs, and with them what somebody pasted."""
    return Stubber(proposals=_proposals())


def session_of(project: Project, pk: int) -> Session | None:
    return Session.objects.filter(project=project, pk=pk).defer("tools_json").first()


def sessions_offered(project: Project) -> Sequence[Session]:
    """The newest sessions with results."""
    rows = Session.objects.filter(project=project, tool_result_count__gt=0).order_by("-pk")
    return list(rows.only("pk", "title", "key", "tool_result_count", "project_id")[:SESSIONS_OFFERED])


def picks(project: Project, session: Session, query: dict[str, str]) -> list[Pick]:
    """The largest results of a session. One query, without their texts."""
    rows = session.messages.filter(role="tool").order_by("-tokens", "index").only("index", "tokens", "turn", "parts")
    here = reverse("compression:lab", args=[project.slug])
    return [
        Pick(row.index, _tool(row), row.tokens, row.turn, f"{here}?{urlencode({**query, 'message': row.index})}")
        for row in rows[:RESULTS_OFFERED]
    ]


def _tool(row: Message) -> str:
    return next((part.get("name", "") for part in row.parts if part["kind"] == "tool_result"), "")


def picked(session: Session, message: int) -> Output | None:
    """The tool result in a message of a session; None when there is none."""
    for engine, _counts in engine_messages(list(session.messages.filter(index=message))):
        for part in engine.parts:
            if part.kind == "tool_result":
                return Output(part.text, part.name, _arguments(session, message, part.call_id), session, message)
    return None


def _arguments(session: Session, message: int, call_id: str) -> str:
    """The arguments of the call, looked for in the responses shortly before."""
    rows = session.messages.filter(role="assistant", index__lt=message).order_by("-index")[:CALLS_LOOKED_AT]
    for engine, _counts in engine_messages(list(rows)):
        for part in engine.parts:
            if part.kind == "tool_call" and part.call_id == call_id:
                return part.text
    return ""


def runs(lines: Iterable[tuple[str, bool]]) -> tuple[list[Run], int]:
    """Kept and dropped runs in order, no more than ``ROWS_SHOWN`` rows of them, and how many lines come after.

    A dropped run shows how it begins, unless all of it is hardly more.
    """
    found: list[Run] = []
    room, at, rest = ROWS_SHOWN, 1, 0
    for is_kept, group in groupby(lines, key=lambda row: row[1]):
        own = [line for line, _ in group]
        if room <= 0:
            rest += len(own)
            continue
        most = KEPT_SHOWN if is_kept else DROPPED_SHOWN
        shown = own[: min(room, len(own) if len(own) <= most + 1 else most)]
        numbered = tuple((at + n, _clipped(line)) for n, line in enumerate(shown))
        found.append(Run(is_kept, numbered, len(own) - len(shown)))
        room -= len(shown) + (len(shown) < len(own))
        at += len(own)
    return found, rest


def _clipped(line: str) -> str:
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]} … {len(line) - LINE_CHARS:,} more characters"


def stub_context(tried: Tried) -> dict[str, object]:
    """What the cards about the stub show."""
    shown, rest = runs(tried.lines)
    _good, _all, bad = tried.claims
    return {"tried": tried, "runs": shown, "rest": rest, "wrong": bad[:NAMES_SHOWN], "wrong_total": len(bad)}


def rows(output: Output, choice: Choice, tokens: int) -> list[Row]:
    """The output under the policy that was chosen, then under every preset and reference that acts by itself."""
    presets = [preset for preset in PRESETS.values() if preset.strategy not in ("none", "recorded")]
    policies = [(policy.name, policy) for policy in presets]
    if choice.key not in PRESETS:
        policies.insert(0, (choice.label, choice.policy))
    found = elsewhere(
        output.text,
        [policy for _label, policy in policies],
        tool=output.tool,
        arguments=output.arguments,
        stubber=stubber(),
    )
    return [
        Row(
            label=label,
            about=policy.about,
            found=one,
            text=one.text[:TEXT_SHOWN],
            cut=max(0, len(one.text) - TEXT_SHOWN),
            saved=1.0 if one.fate == "left" else 1 - one.tokens / max(1, tokens),
        )
        for (label, policy), one in zip(policies, found, strict=True)
    ]
