"""Codex CLI rollouts, new ({timestamp, type, payload} lines) and old (bare items and state records).

Only response items were seen by the model; ``event_msg`` records mirror them and are used for usage,
or for text when a file has no message items at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.importers.assembly import finish
from sessions.importers.codex_items import Item, is_model_item, item_from
from sessions.importers.codex_responses import Responses
from sessions.importers.fields import JsonObject, mapping, moment, string, tally, whole
from sessions.importers.parsed import Detection, ParsedMessage, ParsedSession, Part, Usage
from sessions.importers.reader import Reader

_MIRRORS = {"user_message": "user", "agent_message": "assistant", "agent_reasoning": "thinking"}
_INHERITED_WITHIN_SECONDS = 1.0


def read(values: Iterator[Any], reader: Reader, detection: Detection) -> list[ParsedSession]:
    rollout = _Rollout(ParsedSession("", detection.format, detection, agent="Codex CLI"))
    for record in reader.objects(values):
        rollout.take(record)
    session = rollout.finish()
    session.skipped.update(reader.skipped)
    session.records += reader.skipped.total()
    return [session]


class _Rollout:
    """One file, item by item; nothing is decided before the last record was seen."""

    def __init__(self, session: ParsedSession) -> None:
        self.session = session
        self._items: list[Item] = []
        self._mirrors: list[Item] = []
        self._metas = 0
        self._meta_time: float | None = None
        self._is_fork = False
        self._model = ""
        self._totals: tuple[int, ...] | None = None
        self._system = ""

    def take(self, record: JsonObject) -> None:
        self.session.records += 1
        kind = string(record.get("type"))
        payload = record.get("payload")
        when = moment(record.get("timestamp"))
        if not isinstance(payload, dict):
            self._take_old(record, kind, when)
        elif kind == "response_item":
            self._take_item(payload, when)
        elif kind == "compacted":
            self._items.append(Item("compacted", payload, when, self._model))
            self.session.boundary_records += 1
        elif kind == "event_msg":
            self._take_event(payload, when)
        else:
            self._take_other(kind, payload, when)

    def finish(self) -> ParsedSession:
        session = self.session
        items = self._items
        if not any(item.kind == "message" for item in items) and self._mirrors:
            items = sorted([*items, *self._mirrors], key=lambda item: item.order)
            session.warnings.append("The file has no message items; the text was taken from its event messages.")
            session.source_messages = sum(item.kind == "message" for item in self._mirrors)
            session.message_records += len(self._mirrors)
            for item in self._mirrors:
                session.metadata[f"event_msg/{item.mirror_of}"] -= 1
            session.metadata += type(session.metadata)()  # drops the names that fell to zero
        if self._system:
            session.system_in_log = True
            session.messages.append(ParsedMessage("system", [Part("text", self._system)]))
        responses = Responses(session)
        responses.add_all(items, inherited=self._inherited(items))
        finish(session, responses.usage, frozenset({"inherited"}))
        return session

    def _take_old(self, record: JsonObject, kind: str, when: float | None) -> None:
        if record.get("record_type") is not None:
            tally(self.session.metadata, f"record_type/{record['record_type']}")
        elif not kind and "id" in record and "role" not in record:
            tally(self.session.metadata, "session_meta")
            self._note_session(record, when)
        else:
            self._take_item(record, when)

    def _take_item(self, payload: JsonObject, when: float | None) -> None:
        item = item_from(payload, when, self._model)
        if item is None:
            tally(self.session.skipped, f"item {string(payload.get('type')) or 'without type'} not understood")
            return
        item.order = self.session.records
        self._items.append(item)
        self.session.message_records += 1
        self.session.source_messages += item.kind == "message"

    def _take_event(self, payload: JsonObject, when: float | None) -> None:
        kind = string(payload.get("type"))
        tally(self.session.metadata, f"event_msg/{kind}")
        if kind == "token_count":
            self._take_usage(mapping(payload.get("info")), when)
        elif kind in _MIRRORS:
            self._take_mirror(kind, payload, when)

    def _take_mirror(self, kind: str, payload: JsonObject, when: float | None) -> None:
        text = string(payload.get("message")) or string(payload.get("text"))
        role = _MIRRORS[kind]
        if not text:
            return
        if role == "thinking":
            item = item_from({"type": "reasoning", "summary": [{"text": text}]}, when, self._model)
        else:
            item = item_from({"role": role, "content": text}, when, self._model)
        if item is not None:
            item.order, item.mirror_of = self.session.records, kind
            self._mirrors.append(item)

    def _take_usage(self, info: JsonObject, when: float | None) -> None:
        """Every count is written twice or more: only a change of the total is a model call."""
        window = whole(info.get("model_context_window"))
        if window:
            self.session.context_window = window
        last, total = mapping(info.get("last_token_usage")), mapping(info.get("total_token_usage"))
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
        figures = [whole(last.get(name)) for name in names]
        now = tuple(whole(total.get(name)) for name in names) if total else tuple(figures)
        if not last and total:
            figures = [max(0, new - old) for new, old in zip(now, self._totals or (0, 0, 0, 0), strict=True)]
        if now == self._totals or not (figures[0] or figures[2]):
            return
        self._totals = now
        prompt, cached, output, reasoning = figures
        uncached = prompt - cached if cached <= prompt else prompt
        usage = Usage(uncached, cached, output=output, reasoning=reasoning, model=self._model, time=when)
        self._items.append(Item("usage", {}, when, self._model, usage=usage, order=self.session.records))

    def _take_other(self, kind: str, payload: JsonObject, when: float | None) -> None:
        tally(self.session.metadata, kind)
        if kind == "session_meta":
            self._note_session(payload, when)
        elif kind == "turn_context":
            self._model = string(payload.get("model")) or self._model

    def _note_session(self, about: JsonObject, when: float | None) -> None:
        self._metas += 1
        if self._metas > 1:
            return
        session = self.session
        session.key = string(about.get("id"))
        self._meta_time = when
        session.started_at = moment(about.get("timestamp")) or when
        self._system = string(mapping(about.get("base_instructions")).get("text")) or string(about.get("instructions"))
        self._model = string(about.get("model")) or self._model
        spawn = mapping(mapping(mapping(about.get("source")).get("subagent")).get("thread_spawn"))
        forked = string(about.get("forked_from_id"))
        session.parent = string(spawn.get("parent_thread_id")) or forked
        if spawn:
            session.spawned_by = string(spawn.get("call_id")) or "thread_spawn"
        self._is_fork = bool(spawn or forked)

    def _inherited(self, items: list[Item]) -> int:
        """How many leading items were replayed from the parent: those of the fork's own second, up to the last
        one that a model call made. Their timestamps are those of the fork, not of the parent."""
        if not (self._is_fork or self._metas > 1) or self._meta_time is None:
            return 0
        count = 0
        for at, item in enumerate(items):
            if item.time is None or item.time - self._meta_time > _INHERITED_WITHIN_SECONDS:
                break
            if is_model_item(item) or item.kind in ("result", "usage", "compacted"):
                count = at + 1
        return count
