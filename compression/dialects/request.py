"""A model request as the engine sees it, and where in its bytes each part stands.

What both dialects share: the parts with their places, the pairing of calls and results, and the complaint about a
request that no provider would take. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from compression.dialects.raw_json import Value
from compression.engine.calibration import Calibration, family_k
from compression.engine.tokens import count_parts, default_counter, provider_of
from compression.engine.transcript import Message, Part, Role, Transcript, Turn

Dialect = Literal["openai", "anthropic"]
DIALECTS: tuple[Dialect, ...] = ("openai", "anthropic")
SYSTEM = -1
"""The source of a message that stands beside the messages array."""

BREAKPOINTS = 4
"""As many cache breakpoints as a provider takes in one request."""


class Unreadable(Exception):
    """A request that cannot be read; ``place`` says where in it, ``hint`` what to send instead."""

    def __init__(self, place: str, why: str, hint: str = "") -> None:
        super().__init__(f"{place}: {why}" + (f"; {hint}" if hint else ""))
        self.place = place
        self.why = why
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Place:
    """Where the text of a part stands: ``value`` is replaced by a JSON string, or as ``json`` by JSON itself.

    ``also``: blocks whose text is a part of it and that go when it is replaced.
    """

    source: int
    value: Value
    json: bool = False
    also: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was read. ``sources[m]``: the item of the array that engine message m stands in;
    ``blocks[m]``: its blocks there, None when it is all of it."""

    raw: bytes
    dialect: Dialect
    array: Value
    items: tuple[Value, ...]
    messages: tuple[Message, ...]
    sources: tuple[int, ...]
    blocks: tuple[tuple[Value, ...] | None, ...]
    places: Mapping[tuple[int, int], Place]
    guarded: tuple[tuple[int, bytes], ...]
    """Signed, encrypted and private pieces, by engine message: byte for byte what they were."""
    breakpoints: tuple[tuple[int, bytes], ...]
    """The cache breakpoints of the array, by engine message."""
    roles: tuple[str, ...]
    beside: tuple[str, ...] = ()
    """Texts that stand beside the messages and cost tokens: the tools."""

    def transcript(self, model: str = "", context_window: int | None = None) -> Transcript:
        """The conversation with its counts: every assistant message ended a request, and this is the newest one."""
        return Transcript(
            messages=self.messages,
            turns=turns_of(self.messages),
            counts=counts_of(self.messages, model),
            model=model,
            context_window=context_window,
        )

    def calibration(self, model: str = "", hidden_tokens: int = 0) -> Calibration:
        """No usage is known here: the model family's k. The tools are hidden tokens, as are those of the caller."""
        k = family_k(model)
        beside = sum(default_counter().count_many(self.beside))
        return Calibration(k=k, hidden=hidden_tokens + round(k * beside), basis="family" if model else "none")


def counts_of(messages: Sequence[Message], model: str) -> tuple[tuple[int, ...], ...]:
    """Uncalibrated tokens of every part."""
    counted = count_parts((m.parts for m in messages), default_counter().count_many, provider_of(model))
    return tuple(tuple(row) for row in counted)


def turns_of(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """One turn for each assistant message, and one for the request at hand."""
    turns: list[Turn] = []
    for i, message in enumerate(messages):
        if message.role == "assistant":
            end = next((j for j in range(i + 1, len(messages)) if messages[j].role != "tool"), len(messages))
            turns.append(Turn(len(turns), i, i + 1, end))
    return (*turns, Turn(len(turns), len(messages), len(messages), len(messages)))


@dataclass
class Builder:
    """Collects what a dialect reads, and holds calls and results together. Engine ids are unique, whatever the
    provider's are: some servers number the calls of each answer from 0."""

    raw: bytes
    dialect: Dialect
    array: Value
    items: list[Value]
    messages: list[Message] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    blocks: list[tuple[Value, ...] | None] = field(default_factory=list)
    places: dict[tuple[int, int], Place] = field(default_factory=dict)
    guarded: list[tuple[int, bytes]] = field(default_factory=list)
    breakpoints: list[tuple[int, bytes]] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    marks_beside: int = 0
    _pending: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # id -> engine id, name, place
    _seen: set[str] = field(default_factory=set)

    def add(
        self,
        role: Role,
        parts: Sequence[tuple[Part, Place | None]],
        source: int,
        blocks: tuple[Value, ...] | None = None,
    ) -> None:
        """Append an engine message."""
        index = len(self.messages)
        for j, (_, found) in enumerate(parts):
            if found is not None:
                self.places[index, j] = found
        self.messages.append(Message(index, role, tuple(part for part, _ in parts)))
        self.sources.append(source)
        self.blocks.append(blocks)

    def settled(self, where: str) -> None:
        """Unreadable when calls still wait for their results although another message begins."""
        for _, name, place in self._pending.values():
            hint = "send the result of every call right after the message that makes it"
            raise Unreadable(place, f"the call of {name[:80]!r} has no result before {where}", hint)

    def expect(self, calls: Sequence[tuple[str, str, str]]) -> list[str]:
        """Engine ids of the calls (id, name, place) of the assistant message that was just read."""
        ids = []
        for call_id, name, place in calls:
            if not call_id:
                raise Unreadable(place, "a tool call has no id", "give every call an id and its result the same one")
            if call_id in self._pending:
                raise Unreadable(place, f"two calls have the id {call_id[:80]!r}", "give every call its own")
            engine_id = call_id if call_id not in self._seen else f"{call_id}#{len(self.messages)}"
            self._seen.update((call_id, engine_id))
            self._pending[call_id] = (engine_id, name, place)
            ids.append(engine_id)
        return ids

    def answered(self, call_id: str, place: str) -> tuple[str, str]:
        """(engine id, name) of the call that a result answers."""
        if call_id not in self._pending:
            hint = "send a result right after the message with its call, once, under the call's id"
            raise Unreadable(place, f"no call of the message before waits for a result {call_id[:80]!r}", hint)
        engine_id, name, _ = self._pending.pop(call_id)
        return engine_id, name

    def mark(self, fields: Mapping[str, Value]) -> None:
        """Note a cache breakpoint among the members of a message or block that is about to be added."""
        if "cache_control" in fields and fields["cache_control"].source != b"null":
            self.breakpoints.append((len(self.messages), fields["cache_control"].source))

    def guard(self, piece: Value) -> None:
        """Note a piece, of a message that is about to be added, whose bytes nobody may change."""
        self.guarded.append((len(self.messages), piece.source))

    def finish(self, tools: Value | None) -> Request:
        """The request. Calls of the last message may still wait."""
        found = len(self.breakpoints) + self.marks_beside + marks(tools)
        if found > BREAKPOINTS:
            raise Unreadable("messages", f"{found} cache_control marks in the request", f"send {BREAKPOINTS} at most")
        return Request(
            raw=self.raw,
            dialect=self.dialect,
            array=self.array,
            items=tuple(self.items),
            messages=tuple(self.messages),
            sources=tuple(self.sources),
            blocks=tuple(self.blocks),
            places=self.places,
            guarded=tuple(self.guarded),
            breakpoints=tuple(self.breakpoints),
            roles=tuple(self.roles),
            beside=(tools.source.decode(),) if tools is not None else (),
        )


def marks(value: Value | None) -> int:
    """Cache breakpoints in an array of blocks or tools beside the messages."""
    if value is None:
        return 0
    return sum("cache_control" in item.members() for item in value.items())


def text_member(members: Mapping[str, Value], name: str, where: str) -> str:
    """The text of a member that has to be a string."""
    found = members[name].text() if name in members else None
    if found is None:
        raise Unreadable(f"{where}.{name}", "is missing" if name not in members else "is not a string")
    return found


def optional_text(members: Mapping[str, Value], name: str) -> str:
    """The text of a member, empty when it is no string or not there."""
    return (members[name].text() or "") if name in members else ""


def objects(value: Value, where: str) -> list[dict[str, Value]]:
    """The items of an array of objects, as members."""
    found = []
    for i, item in enumerate(value.items()):
        if item.kind != "object":
            raise Unreadable(f"{where}[{i}]", "is not an object")
        found.append(item.members())
    return found


def joined(texts: Sequence[tuple[str, Value, Value, bool]], source: int) -> tuple[str, Place | None]:
    """The text of a result in several blocks (text, its value, its block, whether the cache is marked there).

    A stub takes the place of the block that a mark stands on, else of the first one; with several marks the result
    cannot be replaced, because a mark would be lost.
    """
    text = "\n".join(text for text, _, _, _ in texts)
    marked = [i for i, row in enumerate(texts) if row[3]]
    if not texts or len(marked) > 1:
        return text, None
    stays = marked[0] if marked else 0
    also = tuple(block for i, (_, _, block, _) in enumerate(texts) if i != stays)
    return text, Place(source, texts[stays][1], also=also)
