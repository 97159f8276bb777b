"""Codex items to messages: which items were one model response, and what a compaction put in their place.

A response ends where the cumulative token total changes. Some versions write the total before the items of
the response, others after them; the first change of a file tells. Without totals a response ends at the
first result or prompt that follows it.
"""

from __future__ import annotations

from sessions.importers.codex_items import Item, is_model_item, item_from
from sessions.importers.fields import JsonObject, mapping, sequence, string
from sessions.importers.parsed import ParsedBoundary, ParsedMessage, ParsedSession, Part, Usage


class Responses:
    """Adds items to ``session`` in order; ``usage`` holds the figures by response id."""

    def __init__(self, session: ParsedSession) -> None:
        self.usage: dict[str, Usage] = {}
        self._session = session
        self._count = 0
        self._open: ParsedMessage | None = None
        self._had_result = False
        self._pending: Usage | None = None

    def add_all(self, items: list[Item], *, inherited: int = 0) -> None:
        own = items[inherited:]
        totals_come_first = _totals_come_first(own)
        has_totals = any(item.usage for item in own)
        for at, item in enumerate(items):
            is_inherited = at < inherited
            if item.kind == "usage":
                if not is_inherited:
                    self._add_usage(item.usage, totals_come_first)
            elif item.kind == "compacted":
                self._add_compaction(item)
            elif is_model_item(item):
                self._add_to_response(item, is_inherited, has_totals and not is_inherited)
            else:
                self._add_input(item, is_inherited)

    def _add_usage(self, usage: Usage | None, totals_come_first: bool) -> None:
        if usage is None:
            return
        if totals_come_first:
            self._open = None
            self._pending = usage
        elif self._open is not None:
            self.usage[self._open.response_id] = usage
            self._open = None

    def _add_to_response(self, item: Item, is_inherited: bool, has_totals: bool) -> None:
        answer = self._open
        if answer is None or (self._had_result and not has_totals) or is_inherited != ("inherited" in answer.flags):
            self._count += 1
            answer = ParsedMessage("assistant", [], item.time, "", f"response-{self._count}", item.model)
            if is_inherited:
                answer.flags.add("inherited")
            self._session.messages.append(answer)
            self._open = answer
            self._had_result = False
            if self._pending is not None:
                self.usage[answer.response_id] = self._pending
                self._pending = None
        answer.parts.extend(item.parts)
        answer.model = answer.model or item.model

    def _add_input(self, item: Item, is_inherited: bool) -> None:
        flags = set(item.flags) | ({"inherited"} if is_inherited else set())
        if item.role == "system":
            self._session.system_in_log = True
        message = ParsedMessage(item.role, item.parts, item.time, flags=flags)
        self._session.messages.append(message)
        if item.kind == "result":
            self._had_result = True
        else:
            self._open = None

    def _add_compaction(self, item: Item) -> None:
        """Kept items point at the messages they repeat; what is new stands in for the rest.

        The model really received repeated packets (AGENTS.md, developer text) twice: what matches no earlier
        message that is still free is added once more.
        """
        self._open = None
        messages = self._session.messages
        position = len(messages)
        free: dict[tuple[str, str], list[int]] = {}
        for at, message in enumerate(messages):
            free.setdefault((message.role, _text(message.parts)), []).append(at)
        kept: list[int] = []
        summary: list[Part] = []
        added: list[ParsedMessage] = []
        words = string(item.payload.get("message"))
        for entry in sequence(item.payload.get("replacement_history")):
            self._sort_replacement(mapping(entry), item, free, kept, summary, added)
        if words and not any(words in part.text for part in summary):
            summary.insert(0, Part("text", words))
        messages.append(
            ParsedMessage("user", summary or [Part("opaque", name="compaction")], item.time, flags={"compact_summary"})
        )
        messages.extend(added)
        self._session.boundaries.append(
            ParsedBoundary(position, "compact", position, tuple(sorted(kept)), originals_in_file=position > 0)
        )

    def _sort_replacement(
        self,
        entry: JsonObject,
        item: Item,
        free: dict[tuple[str, str], list[int]],
        kept: list[int],
        summary: list[Part],
        added: list[ParsedMessage],
    ) -> None:
        found = item_from(entry, item.time, item.model)
        if found is None:
            return
        matches = free.get((found.role, _text(found.parts)))
        if matches and found.kind == "message":
            kept.append(matches.pop())
        elif found.kind == "message" and ("injected" in found.flags or found.role == "system"):
            added.append(
                ParsedMessage(found.role, found.parts, item.time, flags=found.flags | {"preserved", "injected"})
            )
        else:
            summary.extend(part for part in found.parts if part.kind in ("text", "media", "opaque"))


def _text(parts: list[Part]) -> str:
    return "\x1e".join(part.text for part in parts if part.kind == "text")


def _totals_come_first(items: list[Item]) -> bool:
    for item in items:
        if item.kind == "usage":
            return True
        if is_model_item(item):
            return False
    return False
