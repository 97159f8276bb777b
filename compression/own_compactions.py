"""The agent's own compactions and clearings: what each took out of the window, read off the replay "recorded".

What left is the engine's reading of the log; a silent fall of the recorded context names no message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compression.engine.presets import PRESETS
from compression.forms import PageState
from compression.message_texts import ShownMessage, shown_messages
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from sessions.models import Session
from sessions.templatetags.figures import short

LISTED, MESSAGES_PAGE, TOOLS_NAMED = 4, 8, 4
PREVIEW = 160
NAMES = {
    "compact": gettext_lazy("compacted"),
    "micro": gettext_lazy("cleared results"),
    "silent": gettext_lazy("fell silently"),
}


@dataclass(frozen=True, slots=True)
class OwnCompaction:
    """What happened before one turn. Token figures are calibrated; ``turn`` is None after the last call.

    ``left``: messages that went; ``cleared``: results that were blanked in place; ``named``: results that the log
    names as cleared, whether or not they could be found; ``summaries`` stand for what left.
    """

    number: int
    turn: int | None
    kinds: tuple[str, ...]
    before: int
    after: int
    left: tuple[int, ...]
    cleared: tuple[int, ...]
    named: int
    summaries: tuple[int, ...]
    tokens_left: int
    summary_tokens: int
    tools: tuple[tuple[str, int], ...]
    is_in_file: bool
    url: str
    list_url: str

    @property
    def what(self) -> str:
        return ", ".join(str(NAMES.get(kind, kind)) for kind in self.kinds)

    @property
    def tools_named(self) -> str:
        named = ", ".join(f"{name[:40]} ×{count}" for name, count in self.tools[:TOOLS_NAMED])
        rest = len(self.tools) - TOOLS_NAMED
        return named + (_(" and %(n)s more") % {"n": rest} if rest > 0 else "")

    @property
    def said(self) -> str:
        """One line for the timeline."""
        parts = [_("the agent %(what)s") % {"what": self.what} if "silent" not in self.kinds else _("context fell")]
        if self.left:
            parts.append(
                _("%(n)s messages, %(tokens)s left") % {"n": len(self.left), "tokens": short(self.tokens_left)}
            )
        if self.cleared:
            parts.append(_("%(n)s results blanked") % {"n": len(self.cleared)})
        if not self.left and not self.cleared:
            parts.append(_("%(tokens)s went, the log does not say what") % {"tokens": short(self.before - self.after)})
        if self.summaries:
            parts.append(_("a summary stayed"))
        return "; ".join(parts)


def own_compactions(session: Session, state: PageState) -> list[OwnCompaction]:
    """All of a session, in the order of turns. No query where there is none, at most one stored replay otherwise."""
    records = [row for row in session.boundaries if isinstance(row, dict)]
    if not records:
        return []
    document = stored_replay(session, PRESETS["recorded"])
    events = {event.turn: event for event in document.events if event.kind == "recorded"}
    found = []
    for number, turn in enumerate(dict.fromkeys(row["turn"] for row in records)):
        here = [row for row in records if row["turn"] == turn]
        event = events.get(turn)
        found.append(_compaction(session, document, state, number, here, event))
    return found


def _compaction(
    session: Session, document: ReplayDocument, state: PageState, number: int, records: list[dict[str, Any]], event: Any
) -> OwnCompaction:
    turn = records[0]["turn"] if event is not None else None
    left, cleared = (event.left, tuple(edit.message for edit in event.edits)) if event else ((), ())
    summaries = tuple(row["summary"] for row in records if row.get("summary") is not None)
    tools = Counter(document.tool_names[i] for i in (*left, *cleared) if i in document.tool_names)
    path = reverse("compression:compaction", args=[session.project.slug, session.pk, number])
    return OwnCompaction(
        number=number,
        turn=turn,
        kinds=tuple(dict.fromkeys(row["kind"] for row in records)),
        before=event.before if event else records[0].get("tokens_before") or 0,
        after=event.after if event else 0,
        left=left,
        cleared=cleared,
        named=len({call for row in records for call in row.get("cleared_call_ids", ())}),
        summaries=summaries,
        tokens_left=_tokens(document, (*left, *cleared)),
        summary_tokens=_tokens(document, summaries),
        tools=tuple(tools.most_common()),
        is_in_file=all(row.get("originals_in_file", True) for row in records),
        url=state.url(turn=min(records[0]["turn"], max(document.turns - 1, 0))),
        list_url=path + "?" + state.url().partition("?")[2],
    )


def _tokens(document: ReplayDocument, messages: Sequence[int]) -> int:
    return round(document.k * sum(document.sizes[i] for i in messages))


@dataclass(frozen=True, slots=True)
class LeftMessage:
    """One message that left or was blanked; ``url`` opens it in the last window that held it whole."""

    message: ShownMessage
    tokens: int
    is_cleared: bool
    url: str


@dataclass(frozen=True, slots=True)
class LeftPage:
    """A page of what one compaction took; ``first`` counts from 0."""

    compaction: OwnCompaction
    rows: tuple[LeftMessage, ...]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows)

    @property
    def next_first(self) -> int | None:
        return self.last if self.last < self.total else None

    @property
    def previous_first(self) -> int | None:
        return max(0, self.first - MESSAGES_PAGE) if self.first else None


def left_page(session: Session, state: PageState, compaction: OwnCompaction, first: int) -> LeftPage:
    """What a compaction took, in the order of the log. Two queries."""
    document = stored_replay(session, PRESETS["recorded"])
    everything = sorted({*compaction.left, *compaction.cleared})
    first = min(first, max(0, len(everything) - 1))
    page = everything[first : first + MESSAGES_PAGE]
    messages = shown_messages(session, page, chars=PREVIEW)
    cleared = set(compaction.cleared)
    rows = tuple(
        LeftMessage(
            message=messages[i],
            tokens=document.sizes[i],
            is_cleared=i in cleared,
            url=state.url(turn=max(0, (compaction.turn or 0) - 1), open=i),
        )
        for i in page
        if i in messages
    )
    return LeftPage(compaction, rows, first, len(everything))
