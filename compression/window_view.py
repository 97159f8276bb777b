"""The window at one turn as a page shows it: which messages are shown, which fold, and what each block says.

Works from a stored replay; rows are asked for only for the messages that are shown, whose number does
not depend on the session's. Decides no zone and no edit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import accumulate

from compression.engine.edits import Edit, Event
from compression.forms import PageState, Side
from compression.message_texts import DIFF_CHARS, PREVIEW_CHARS, ShownMessage, shown_messages
from compression.replay_document import ReplayDocument, freed_by
from compression.text_diff import Run, diff_runs
from compression.window_blocks import Block, NoteBlock, block_parts, changed_tokens, note_block
from compression.window_zones import WindowZones
from sessions.models import Session
from sessions.templatetags.figures import grouped

HEAD_SHOWN, PINNED_SHOWN, RECENT_SHOWN = 3, 2, 2
CHANGED_SHOWN, CHANGED_BESIDE_OPENED = 4, 2
OPENED_BLOCKS = 10
"""Blocks of an opened run, a changed message counting as two: with the rest the page keeps under 1,500 nodes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the window: a message on each side that is shown (None where it is not held), or on both alike."""

    index: int
    before: Block | None = None
    after: Block | None = None
    alike: Block | None = None
    is_fold: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A run that is not shown; ``url`` opens it. ``unchanged + changed + left`` messages.

    Tokens are uncalibrated: those of the messages that a side holds, as they stand there.
    """

    unchanged: int
    changed: int
    left: int
    tokens_before: int
    tokens_after: int
    url: str
    is_fold: bool = True


@dataclass(frozen=True, slots=True)
class Opened:
    """Stands above the messages of an opened run."""

    first: int
    last: int
    close_url: str
    is_fold: bool = False
    is_opened: bool = True


@dataclass(frozen=True, slots=True)
class WindowView:
    """What the template draws."""

    rows: tuple[Row | Fold | Opened | NoteBlock, ...]
    hidden: int
    silent: int
    shown: int
    differs: bool


def window_view(session: Session, document: ReplayDocument, state: PageState) -> WindowView:
    """The window of a state's turn. At most two queries."""
    return _Builder(session, document, state).view()


class _Builder:
    def __init__(self, session: Session, document: ReplayDocument, state: PageState) -> None:
        self.session, self.document, self.state = session, document, state
        self.turn = state.turn
        self.request = document.request(self.turn)
        self.base = document.base_request(self.turn)
        self.order = self.request if state.side == "after" else self.base
        self.zones = WindowZones(document, self.turn)
        self.edits = {i: found for i, found in document.edits(self.turn).items() if self.zones.holds(i)}
        self.gone = document.gone(self.turn)
        self.note = note_block(document, self.turn) if state.side != "before" else None
        self.absent = self._absent()

    @cached_property
    def _base_excluded(self) -> frozenset[int]:
        return frozenset(self.document.base_excluded)

    def _in_before(self, i: int) -> bool:
        return i < self.base.end and i not in self._base_excluded

    def _is_shown_somewhere(self, i: int) -> bool:
        sides: dict[Side, bool] = {"before": self._in_before(i), "after": self.zones.holds(i)}
        return sides.get(self.state.side, any(sides.values()))

    def _absent(self) -> list[int]:
        """Ordinals of the order that no side of this view shows."""
        left_out = self.zones.excluded | self._base_excluded
        found = (self._place(i) for i in left_out if not self._is_shown_somewhere(i))
        return sorted(place for place in found if place is not None)

    def _place(self, i: int) -> int | None:
        """The ordinal of message i in the order."""
        order = self.order
        if order.start <= i < order.end:
            return len(order.kept) + i - order.start
        return self.zones.kept.get(i) if order is self.request else None

    @cached_property
    def _note_place(self) -> int | None:
        """The note stands in front of this ordinal of the order: behind the message that the window has before it."""
        if self.note is None:
            return None
        ordinal = min(self.note.note.ordinal, len(self.request))
        before = None if ordinal == 0 else self._place(self.request[ordinal - 1])
        return 0 if before is None else before + 1

    # which messages are shown

    def _chosen(self) -> list[int]:
        """Ordinals that are shown without asking: the head, the largest changes, pins, the newest."""
        request, table = self.request, self.document.table
        heads = [request[o] for o in range(min(table.head_at[self.turn], len(request)))]
        heads = [i for i in heads if self._is_shown_somewhere(i)]
        newest = [request[o] for o in range(max(0, len(request) - RECENT_SHOWN), len(request))]
        limit = CHANGED_SHOWN if self.state.open is None else CHANGED_BESIDE_OPENED
        changed = nlargest(limit, self.edits.items(), key=lambda row: (_original(row[1]), -row[0]))
        wanted = {*heads[: HEAD_SHOWN - 1], *heads[-1:], *sorted(self.zones.pinned)[-PINNED_SHOWN:], *newest}
        wanted.update(i for i, _ in changed)
        places = (self._place(i) for i in wanted if self._is_shown_somewhere(i))
        return sorted(place for place in places if place is not None)

    def _opened(self, chosen: Sequence[int]) -> range | None:
        """The ordinals of the run that the address opens, a page of it at most."""
        if self.state.open is None or (place := self._place(self.state.open)) is None or place in chosen:
            return None
        at = bisect_left(chosen, place)
        last = chosen[at] if at < len(chosen) else len(self.order)
        blocks, end = 0, place
        while end < last and blocks < OPENED_BLOCKS:
            blocks += 2 if self.order[end] in self.edits else 1
            end += 1
        return range(place, end)

    def view(self) -> WindowView:
        chosen = self._chosen()
        opened = self._opened(chosen)
        places = sorted({*chosen, *(opened or ())} - set(self.absent))
        chars = DIFF_CHARS if self.state.side == "diff" else PREVIEW_CHARS
        wanted = [self.order[o] for o in places]
        messages = shown_messages(self.session, wanted, chars=chars, first=self.edits)
        rows: list[Row | Fold | Opened | NoteBlock] = []
        at, note = 0, self._note_place
        for place in [*places, len(self.order)]:
            if self.note is not None and note is not None and at <= note <= place:
                rows += self._folds(at, note, opened)
                rows.append(self.note)
                at, note = note, None
            rows += self._folds(at, place, opened)
            if opened and place == opened.start:
                first, last = self.order[opened.start], self.order[opened.stop - 1]
                rows.append(Opened(first, last, self.state.url()))
            if place < len(self.order) and (message := messages.get(self.order[place])) is not None:
                rows.append(self._row(message, is_opened=opened is not None and place in opened))
            at = place + 1
        return WindowView(tuple(rows), self.document.table.hidden, self._silent(), len(messages), self._differs())

    def _differs(self) -> bool:
        """Whether the two sides hold anything else, be it a changed message or one that left."""
        if self.edits or self.base != self.request:
            return True
        return any(i < self.base.end for i in self._base_excluded ^ self.zones.excluded)

    def _silent(self) -> int:
        """Calibrated tokens that left without the log saying which (as-recorded only)."""
        document, table = self.document, self.document.table
        whole = table.hidden + round(document.k * table.counted_after[self.turn])
        return whole - table.after[self.turn] if whole - table.after[self.turn] > 1 else 0

    # folds

    def _folds(self, first: int, last: int, opened: range | None) -> list[Fold]:
        """The fold of a run; none where nothing is in it."""
        left_out = bisect_left(self.absent, last) - bisect_left(self.absent, first)
        total = last - first - left_out
        if total <= 0:
            return []
        places, freed_before = self._edits_by_place
        a, b = bisect_left(places, first), bisect_left(places, last)
        changed, freed = b - a, freed_before[b] - freed_before[a]
        left = self._left_between(first, last) if self.state.side != "after" else 0
        before, after = self._tokens_between(first, last)
        at = first if opened is None or last != opened.start else max(first, last - OPENED_BLOCKS)
        while at in self.absent:
            at += 1
        return [
            Fold(
                unchanged=total - changed - left,
                changed=changed,
                left=left,
                tokens_before=before,
                tokens_after=after - freed,
                url=self.state.url(open=self.order[min(at, last - 1)]),
            )
        ]

    @cached_property
    def _edits_by_place(self) -> tuple[list[int], list[int]]:
        """Ordinals of changed messages, and running sums of the tokens that they freed."""
        rows = [(p, freed_by(parts)) for i, parts in self.edits.items() if (p := self._place(i)) is not None]
        found = sorted(rows)
        return [place for place, _ in found], list(accumulate((freed for _, freed in found), initial=0))

    def _left_between(self, first: int, last: int) -> int:
        """Messages of the run that are in the window no more: a policy, or the agent itself, took them out."""
        if not self.document.has_own_base or self.state.side == "before":
            return 0
        a, b = self.order[first], min(self.order[last - 1] + 1, self.request.start)
        kept = sum(a <= i < b for i in self.zones.kept)
        absent = sum(a <= self.order[o] < b for o in self.absent)
        return max(0, b - a - kept - absent)

    def _tokens_between(self, first: int, last: int) -> tuple[int, int]:
        """Tokens as logged of what each side holds of a run."""
        if self.order is self.request:
            running = self.document.running
            kept = len(self.order.kept)
            tokens = sum(running[i + 1] - running[i] for i in self.order.kept[first:last])
            start = self.order.start + max(first, kept) - kept
            tokens += running[max(start, self.order.start + last - kept)] - running[start]
            return tokens, tokens
        a, b = self.order[first], self.order[last - 1] + 1
        running = self.document.base_running
        return running[b] - running[a], self.document.held_tokens(self.request, a, b)

    # blocks

    def _row(self, message: ShownMessage, *, is_opened: bool) -> Row:
        i, side = message.index, self.state.side
        has_before, has_after = self._in_before(i), self.zones.holds(i)
        before = self._block(message, after=False) if has_before and side != "after" else None
        after = self._block(message, after=True) if has_after and side != "before" else None
        is_alike = side == "diff" or (is_opened and i not in self.edits)
        if is_alike and before and after:
            return Row(i, alike=after)
        return Row(i, before=before, after=after)

    def _block(self, message: ShownMessage, *, after: bool) -> Block:
        i = message.index
        size, edits = self.document.sizes[i], self.edits.get(i, {})
        zone = self.zones.of(i) if self.zones.holds(i) else "left"
        look = {"head": "sacred", "recent": "sacred", "left": "removed"}.get(zone, zone)
        if edits and after:
            look = "compressed"
        left = self.gone.get(i) if zone == "left" else None
        return Block(
            message=message,
            look=look,
            reason=self._reason(message, zone, edits),
            content_type=self.document.content_types.get(i, "").replace("_", " "),
            tokens_before=size,
            tokens=changed_tokens(size, edits) if after else size,
            parts=block_parts(message, edits if after else {}, self._diffs(message, edits)),
            left=left if left is not None and left.kind != "recorded" else None,
            is_selected=i == self.state.open,
        )

    def _diffs(self, message: ShownMessage, edits: Mapping[int, tuple[Event, Edit]]) -> dict[int, list[Run]]:
        if self.state.side != "diff":
            return {}
        return {
            part.number: diff_runs(part.start, part.lines, edits[part.number][1].text)
            for part in message.parts
            if part.number in edits
        }

    def _reason(self, message: ShownMessage, zone: str, edits: Mapping[int, tuple[Event, Edit]]) -> str:
        if edits:
            reasons = dict.fromkeys(edit.reason for _, edit in edits.values())
            return f"{zone} · {'; '.join(list(reasons)[:2])}"
        if zone == "head":
            return f"head · {self.document.head_reasons.get(message.index, 'first messages')}"
        if zone == "pinned":
            return f"pinned · {self.zones.pinned[message.index]}"
        if zone == "recent":
            return f"recent · within the newest {grouped(self.document.table.recent_budget[self.turn])} tokens"
        if zone == "left":
            event = self.gone.get(message.index)
            if event is None or event.kind == "recorded":
                return "left the window in the agent's own compaction"
            return f"left at turn {event.turn}: {event.kind} · {event.reason}"
        if not message.is_result:
            return "compressible · old, but no tool result"
        least = self.state.policy.min_result_tokens
        if self.document.sizes[message.index] <= least:
            return f"compressible · a result under {grouped(least)} tokens stays"
        return "compressible · old result"


def _original(parts: Mapping[int, tuple[Event, Edit]]) -> int:
    """Tokens of the changed parts of a message as they were logged."""
    return sum(edit.tokens_before for _, edit in parts.values())
