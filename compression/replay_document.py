"""A replay as it is stored: everything that a page asks about turns, events and windows, without the messages.

Texts of messages stay in their rows; only stubs are kept here. Reading never runs the engine.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import orjson

from compression.cost_ledger import StoredLedger, stored_ledger
from compression.eaters import biggest_eaters
from compression.engine.blocks import content_type
from compression.engine.costs import ledger_of
from compression.engine.edits import Edit, Event, Note
from compression.engine.history import Request
from compression.engine.pins import is_prompt
from compression.engine.replay import Replay
from compression.engine.retention import losses
from compression.engine.snapshots import resolve
from compression.engine.summary import summarize
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.transcript import Message
from compression.engine.turns import TurnTable, tabulate
from compression.engine.zones import head_reason
from compression.lost_names import LostName, lost_names
from compression.tool_columns import tool_columns, tool_names

LABEL_LENGTH = 60
LAYOUT = 5
"""Raised whenever a field is added or changes its meaning."""


class OldLayout(Exception):
    """Stored before the fields were what they are now: it has to be worked out again."""


@dataclass(frozen=True, slots=True)
class Departure:
    """What the address of a note leads to: the text of ``left``, after ``before``, the note that stood until then."""

    note: Note
    left: tuple[int, ...]
    before: str


@dataclass(frozen=True)
class ReplayDocument:
    """One replay. ``sizes[i]`` = uncalibrated tokens of message i as it was logged; ``content_types`` by the
    message of a tool result; ``labels[t]`` says what the model did in turn t; ``tool_tokens[side][tool][t]`` =
    uncalibrated tokens of a tool's results in the window, for the tools that fill most of it; ``tool_names`` by the
    message of a tool result; ``exchanges[t]`` = prompts that a person had typed by turn t; ``lost`` = the first of the
    ``lost_total`` names that were used after they had left the view."""

    table: TurnTable
    events: tuple[Event, ...]
    summary: Mapping[str, Any]
    context_window: int
    window_basis: str
    k: float
    sizes: tuple[int, ...]
    excluded: tuple[int, ...]
    base_excluded: tuple[int, ...]
    content_types: Mapping[int, str]
    recorded: tuple[int | None, ...]
    times: tuple[float | None, ...]
    labels: tuple[str, ...]
    boundaries: tuple[tuple[int, str, int | None], ...]
    eaters: tuple[Mapping[str, Any], ...]
    alarms: tuple[str, ...]
    head_reasons: Mapping[int, str]
    tool_tokens: Mapping[str, Mapping[str, list[int]]]
    tool_names: Mapping[int, str]
    exchanges: tuple[int, ...]
    lost: tuple[LostName, ...]
    lost_total: int
    cost: StoredLedger

    @property
    def turns(self) -> int:
        return len(self.table)

    def request(self, turn: int) -> Request:
        """The messages of a turn's request as the policy's history reads them."""
        at = bisect_right(self.table.requests, turn, key=lambda row: row[0]) - 1
        _, kept, start = self.table.requests[at]
        return Request(kept, start, self.table.request_end[turn])

    def base_request(self, turn: int) -> Request:
        """The messages of a turn's request had no policy ever acted."""
        at = bisect_right(self.table.base_requests, turn, key=lambda row: row[0]) - 1
        _, kept, start = self.table.base_requests[at]
        return Request(kept, start, self.table.request_end[turn])

    @cached_property
    def has_own_base(self) -> bool:
        """Whether the two sides hold other messages at some turn."""
        return self.base_excluded != self.excluded or self.table.base_requests != self.table.requests

    def note(self, turn: int) -> Note | None:
        """What stands in a turn's window for the messages that a policy took out of it."""
        last = self.last_departure(turn)
        return None if last is None else last.note

    def last_departure(self, turn: int) -> Event | None:
        """The event of a policy that last took messages out of the window, by a turn; None where the agent did."""
        last = next((event for event in reversed(self.events) if event.turn <= turn and event.left), None)
        return None if last is None or last.kind == "recorded" else last

    def gone(self, turn: int) -> Mapping[int, Event]:
        """Message -> the event that took it out of the window, by a turn."""
        return {i: event for event in self.events if event.turn <= turn for i in event.left}

    def pinned(self, turn: int) -> Mapping[int, str]:
        """Message -> reason, at a turn."""
        at = bisect_right(self.table.pinned, turn, key=lambda row: row[0]) - 1
        return self.table.pinned[at][1] if at >= 0 else {}

    def edits(self, turn: int) -> dict[int, dict[int, tuple[Event, Edit]]]:
        """The edits in force at a turn by message and part, each with the event that made it."""
        found: dict[int, dict[int, tuple[Event, Edit]]] = {}
        for event in self.events:
            if event.turn <= turn:
                for edit in event.edits:
                    found.setdefault(edit.message, {})[edit.part] = (event, edit)
        return found

    @cached_property
    def running(self) -> tuple[int, ...]:
        """Running sums of the tokens of messages: [i] = messages before i, left out ones with 0."""
        return tuple(accumulate(self._without(self.excluded), initial=0))

    @cached_property
    def base_running(self) -> tuple[int, ...]:
        return tuple(accumulate(self._without(self.base_excluded), initial=0))

    def held_tokens(self, request: Request, first: int, end: int) -> int:
        """Uncalibrated tokens as logged of the messages first..end (left out) that a request of this replay holds."""
        running = self.running
        kept = sum(running[i + 1] - running[i] for i in request.kept if first <= i < end)
        start = max(first, request.start)
        return kept + max(0, running[max(start, min(end, request.end))] - running[start])

    def _without(self, left_out: tuple[int, ...]) -> list[int]:
        sizes = list(self.sizes)
        for i in left_out:
            sizes[i] = 0
        return sizes

    @cached_property
    def landmarks(self) -> tuple[int, ...]:
        """Turns that a reader jumps between: events that changed something, and the agent's own compactions."""
        turns = {event.turn for event in self.events if event.kind != "skip"}
        return tuple(sorted(turns | {turn for turn, _, _ in self.boundaries if turn < self.turns}))

    def source_of(self, address: str) -> Edit | Departure:
        """What an address of this replay leads to; UnknownAddress when it leads nowhere."""
        return self._sources[resolve(address, self._sources)]

    @cached_property
    def _sources(self) -> dict[str, Edit | Departure]:
        """By sha256. What left begins with the note that stood until then."""
        found: dict[str, Edit | Departure] = {}
        stood: Note | None = None
        for event in self.events:
            found.update({edit.sha256: edit for edit in event.edits if edit.sha256})
            if event.left:
                if event.note is not None and event.note.sha256:
                    found[event.note.sha256] = Departure(event.note, event.left, stood.text if stood else "")
                stood = event.note
        return found

    @cached_property
    def minutes(self) -> tuple[float, ...] | None:
        """Minutes since the first call with a time, never falling; None when fewer than two calls have one."""
        known = [time for time in self.times if time is not None]
        if len(known) < 2 or max(known) <= min(known):
            return None
        last, found = known[0], []
        for time in self.times:
            last = max(last, time if time is not None else last)
            found.append(round((last - known[0]) / 60, 2))
        return tuple(found)

    @cached_property
    def exchange_places(self) -> tuple[float, ...] | None:
        """Where each turn stands when every exchange is as wide as another; None where there is only one.

        Exchange 3 of four turns takes 3.0, 3.25, 3.5 and 3.75; what ran before any prompt is exchange 0.
        """
        sizes = Counter(self.exchanges)
        if len(sizes) < 2:
            return None
        seen: Counter[int] = Counter()
        found = []
        for exchange in self.exchanges:
            found.append(round(exchange + seen[exchange] / sizes[exchange], 4))
            seen[exchange] += 1
        return tuple(found)

    def packed(self) -> bytes:
        """zlib-compressed JSON."""
        return zlib.compress(orjson.dumps(self._fields(), option=orjson.OPT_NON_STR_KEYS), 6)

    def _fields(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        events = [asdict(event) for event in self.events]
        for event in events:
            for edit in event["edits"]:
                del edit["counts"]
        fields |= {"table": self.table.as_dict(), "events": events, "cost": self.cost.fields()}
        return {**fields, "lost": [astuple(name) for name in self.lost], "layout": LAYOUT}

    @classmethod
    def unpacked(cls, body: bytes) -> ReplayDocument:
        """What ``packed`` gave; OldLayout when an earlier version of this class did."""
        fields = orjson.loads(zlib.decompress(body))
        if fields.pop("layout", 1) != LAYOUT:
            raise OldLayout
        events = tuple(_event(row) for row in fields["events"])
        by_message = {
            name: {int(i): value for i, value in fields[name].items()}
            for name in ("content_types", "head_reasons", "tool_names")
        }
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
        given["boundaries"] = tuple((turn, kind, left) for turn, kind, left in fields["boundaries"])
        given |= {"events": events, "lost": tuple(LostName(*row) for row in fields["lost"]), **by_message}
        given |= {"table": TurnTable.from_dict(fields["table"]), "cost": StoredLedger.from_fields(fields["cost"])}
        return cls(**given)


def freed_by(parts: Mapping[int, tuple[Event, Edit]]) -> int:
    """Uncalibrated tokens that the edits of one message freed."""
    return sum(edit.tokens_before - edit.tokens_after for _, edit in parts.values())


def _event(row: dict[str, Any]) -> Event:
    edits = tuple(Edit(**{**edit, "kept": tuple(edit["kept"])}) for edit in row["edits"])
    note = None if row["note"] is None else Note(**row["note"])
    return Event(**{**row, "edits": edits, "left": tuple(row["left"]), "note": note})


def _stored_event(event: Event) -> Event:
    """Without the checked counts of its stubs, which serve the proof of fidelity only."""
    return replace(event, edits=tuple(replace(edit, counts=frozenset()) for edit in event.edits))


def document_of(replay: Replay) -> ReplayDocument:
    """Everything worth storing of a replay. O(messages + text of the tool results)."""
    transcript, table = replay.transcript, tabulate(replay)
    known = {e.message: e.content_type for event in replay.events for e in event.edits if e.content_type}
    found, ledger = losses(replay), ledger_of(replay)
    lost, lost_total = lost_names(replay, found)
    return ReplayDocument(
        table=table,
        events=tuple(_stored_event(event) for event in replay.events),
        summary=summarize(replay, table, found, ledger) | {"largest_result": _largest_result(replay)},
        context_window=replay.context_window,
        window_basis=replay.window_basis,
        k=replay.calibration.k,
        sizes=tuple(sum(counts) + MESSAGE_OVERHEAD for counts in transcript.counts),
        excluded=tuple(sorted(replay.course.excluded)),
        base_excluded=tuple(sorted(replay.base.excluded)),
        content_types=_content_types(transcript.messages, known),
        recorded=tuple(t.recorded.context_tokens if t.recorded else None for t in transcript.turns),
        times=tuple(_time(transcript.messages, t.time, t.request_end, t.response_end) for t in transcript.turns),
        labels=tuple(_label(transcript.messages[t.request_end : t.response_end]) for t in transcript.turns),
        boundaries=tuple((b.turn, b.kind, b.tokens_left) for b in transcript.boundaries),
        eaters=tuple(biggest_eaters(replay)),
        alarms=replay.alarms,
        head_reasons=_head_reasons(replay, table),
        tool_tokens=tool_columns(replay),
        tool_names=tool_names(transcript.messages),
        exchanges=_exchanges(replay),
        lost=lost,
        lost_total=lost_total,
        cost=stored_ledger(replay, ledger),
    )


def _largest_result(replay: Replay) -> dict[str, Any] | None:
    """The largest tool result of the session in uncalibrated tokens; ``turn`` is the first that held it, or None."""
    largest = max(replay.base.results, key=lambda row: (row[2], -row[0]), default=None)
    if largest is None:
        return None
    message, part, tokens = largest
    turn = replay.base.arrivals[message]
    name = replay.transcript.messages[message].parts[part].name
    return {
        "message": message,
        "tool": name,
        "tokens": tokens,
        "turn": turn if turn < len(replay.base.windows) else None,
    }


def _exchanges(replay: Replay) -> tuple[int, ...]:
    excluded = replay.base.excluded
    prompts = [m.index for m in replay.transcript.messages if is_prompt(m) and m.index not in excluded]
    return tuple(bisect_left(prompts, turn.request_end) for turn in replay.transcript.turns)


def _head_reasons(replay: Replay, table: TurnTable) -> dict[int, str]:
    found: dict[int, str] = {}
    seen: tuple[object, ...] = ()
    for turn, request in enumerate(replay.requests):
        here = (request.kept, request.start, table.head_at[turn])
        if here != seen:
            seen = here
            messages = (replay.transcript.messages[i] for i in request.indexes(0, table.head_at[turn]))
            found.update((message.index, head_reason(message)) for message in messages)
    return found


def _content_types(messages: tuple[Message, ...], known: Mapping[int, str]) -> dict[int, str]:
    arguments = {p.call_id: p.text for m in messages for p in m.parts if p.kind == "tool_call"}
    found = {}
    for message in messages:
        for part in message.parts:
            if part.kind == "tool_result":
                found[message.index] = known.get(message.index) or content_type(part, arguments).kind
    return found


def _time(messages: tuple[Message, ...], own: float | None, first: int, last: int) -> float | None:
    if own is not None:
        return own
    return next((m.timestamp for m in messages[first:last] if m.timestamp is not None), None)


def _label(response: tuple[Message, ...]) -> str:
    calls = Counter(part.name for message in response for part in message.parts if part.kind == "tool_call")
    if not calls:
        return "answer"
    label = ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in calls.items())
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1] + "…"
