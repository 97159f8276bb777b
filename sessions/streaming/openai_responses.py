"""OpenAI Responses: items keyed by ``output_index``; ids of items rotate on some bridges and decide nothing alone."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

from sessions.streaming.adapter import Adapter
from sessions.streaming.call_state import Call, Calls
from sessions.streaming.facts import Fact
from sessions.streaming.fields import index, record, records, text
from sessions.streaming.payloads import DONE, Payload

# Items that are calls though their arguments are plain text, and the field that holds it.
RAW_TEXT = {
    "custom_tool_call": "input",
    "shell_call": "command",
    "apply_patch_call": "diff",
    "code_interpreter_call": "code",
}
JSON_CALLS = frozenset({"function_call", "mcp_call"})

_DELTAS = frozenset(
    {
        "response.function_call_arguments.delta",
        "response.custom_tool_call_input.delta",
        "response.mcp_call_arguments.delta",
        "response.apply_patch_call_operation_diff.delta",
        "response.code_interpreter_call_code.delta",
        "response.shell_call_command.delta",
    }
)
_DONES = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
    "response.mcp_call_arguments.done": "arguments",
    "response.apply_patch_call_operation_diff.done": "diff",
    "response.code_interpreter_call_code.done": "code",
}
_ITEM_OF = {
    "response.function_call_arguments": "function_call",
    "response.custom_tool_call_input": "custom_tool_call",
    "response.mcp_call_arguments": "mcp_call",
    "response.apply_patch_call_operation_diff": "apply_patch_call",
    "response.code_interpreter_call_code": "code_interpreter_call",
    "response.shell_call_command": "shell_call",
}
_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_THOUGHTS = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
# Known, and nothing that is not said elsewhere: the parts around texts, and what tools at the provider report.
_QUIET_PREFIXES = (
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.content_part.",
    "response.output_text.",
    "response.refusal.",
    "response.reasoning_",
    "response.shell_call_command.",
    "response.web_search_call.",
    "response.file_search_call.",
    "response.code_interpreter_call.",
    "response.image_generation_call.",
    "response.mcp_call.",
    "response.mcp_list_tools.",
)


class OpenAIResponses(Adapter):
    protocol: ClassVar[str] = "openai-responses"

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls)
        self._by_index: dict[int, Call] = {}
        self._by_id: dict[str, Call] = {}
        self._sequence: int | None = None
        self._told_text = False

    def feed(self, payload: Payload) -> Iterator[Fact]:
        kind = text(payload.get("type"))
        if not kind and payload.get("object") == "response":
            yield from self._end(f"response.{text(payload.get('status'))}", payload)
            return
        if not self._in_order(payload):
            return
        if kind in _TEXTS:
            self._told_text = True
            yield Fact("text", text=text(payload.get("delta")))
        elif kind in _THOUGHTS:
            yield Fact("thinking", text=text(payload.get("delta")))
        elif kind in _DELTAS:
            call = yield from self._call_of(payload, kind)
            yield from call.append(text(payload.get("delta")))
        elif kind in _DONES:
            call = yield from self._call_of(payload, kind)
            yield from call.named(text(payload.get("name")))
            yield from self._caught_up(call, text(payload.get(_DONES[kind])))
        elif kind == "response.shell_call_command.added":
            if index(payload.get("command_index")) and (shell := self._known(payload, {})) is not None:
                yield from shell.append("\n")
        elif kind == "response.output_item.added":
            yield from self._added(record(payload.get("item")), payload)
        elif kind == "response.output_item.done":
            yield from self._item_done(record(payload.get("item")), payload)
        elif kind in ("response.completed", "response.incomplete", "response.failed", "response.cancelled"):
            yield from self._end(kind, record(payload.get("response")))
        elif kind == "error":
            yield from self.failed(payload.get("error") or {k: v for k, v in payload.items() if k != "type"})
        elif kind == DONE:
            pass
        elif kind.startswith(_QUIET_PREFIXES):
            if kind == "response.created" and self.outcome in ("complete", "truncated"):
                self._begin_another()
            self.model = text(record(payload.get("response")).get("model")) or self.model
        else:
            yield self.passed(kind)

    def _begin_another(self) -> None:
        """A second answer on the same connection: its indexes and even its call ids are its own."""
        self.outcome = "open"
        self._by_index.clear()
        self._by_id.clear()
        self._told_text = False

    def _in_order(self, payload: Payload) -> bool:
        number = index(payload.get("sequence_number"))
        if number is None:
            return True
        if self._sequence is not None and number == self._sequence and payload.get("type") != "error":
            self.notes["repeated_sequence_number"] += 1
            return False
        if self._sequence is not None and number > self._sequence + 1:
            self.notes["sequence_gap"] += 1
        self._sequence = number
        return True

    def _known(self, payload: Payload, item: dict[str, Any]) -> Call | None:
        number = index(payload.get("output_index"))
        if number is not None and number in self._by_index:
            return self._by_index[number]
        for name in (text(item.get("call_id")), text(item.get("id")), text(payload.get("item_id"))):
            if name and name in self._by_id:
                return self._by_id[name]
        return None

    def _call_of(self, payload: Payload, kind: str) -> Generator[Fact, None, Call]:
        """The call of a delta; bridges leave out the item's beginning, then the delta begins it."""
        call = self._known(payload, {})
        if call is None:
            self.notes["delta_before_item"] += 1
            item = {"type": _ITEM_OF[kind.rpartition(".")[0]], "id": payload.get("item_id")}
            call = yield from self._started(item, payload)
        return call

    def _added(self, item: dict[str, Any], payload: Payload) -> Iterator[Fact]:
        if text(item.get("type")).endswith("_call") and self._known(payload, item) is None:
            yield from self._started(item, payload)

    def _started(self, item: dict[str, Any], payload: Payload) -> Generator[Fact, None, Call]:
        kind = text(item.get("type"))
        name = text(item.get("name")) or (
            "" if kind in JSON_CALLS | {"custom_tool_call"} else kind.removesuffix("_call")
        )
        call, facts = self.calls.start(text(item.get("call_id")) or text(item.get("id")), name, RAW_TEXT.get(kind))
        yield from facts
        number = index(payload.get("output_index"))
        if number is not None:
            self._by_index[number] = call
        for known in (text(item.get("call_id")), text(item.get("id"))):
            if known:
                self._by_id[known] = call
        if kind == "apply_patch_call" and (path := text(record(item.get("operation")).get("path"))):
            yield Fact("argument", call.number, call.name, ("path",), path)
            yield Fact("argument_complete", call.number, call.name, ("path",), value=path)
        return call

    def _caught_up(self, call: Call, whole: str) -> Iterator[Fact]:
        """The full text at an event's end: what no delta brought is appended."""
        if not whole or not call.open:
            return
        raw = call.raw
        if whole.startswith(raw):
            yield from call.append(whole[len(raw) :])
        elif raw != whole:
            self.notes["done_differs_from_deltas"] += 1

    def _item_done(self, item: dict[str, Any], payload: Payload) -> Iterator[Fact]:
        kind = text(item.get("type"))
        if not kind.endswith("_call"):
            return
        call = self._known(payload, item)
        if call is None:
            call = yield from self._started(item, payload)
        if not call.open:
            return
        if call_id := text(item.get("call_id")):
            call.id = call_id
        yield from call.named(text(item.get("name")))
        yield from self._caught_up(call, _arguments(kind, item))
        if text(item.get("status")) in ("incomplete", "failed"):
            yield from call.abandon("truncated")
            return
        if kind in RAW_TEXT:
            call.value = record(item.get("operation")) or record(item.get("action")) or None
        for fact in call.close():
            if fact.type == "tool_complete" and fact.closed and call.name == "parallel":
                fact.value = _inner(fact.arguments)
            yield fact

    def _end(self, kind: str, response: dict[str, Any]) -> Iterator[Fact]:
        self.model = text(response.get("model")) or self.model
        if kind == "response.failed":
            if self.outcome != "failed":
                yield from self.failed(response.get("error"))
        else:
            for number, item in enumerate(records(response.get("output"))):
                # Some bridges leave items out of this list, so that its positions are only the second best key.
                known = text(item.get("call_id")) in self._by_id or text(item.get("id")) in self._by_id
                yield from self._item_done(item, {} if known else {"output_index": number})
                if item.get("type") == "message" and not self._told_text:
                    yield from _texts(item)
        if usage := record(response.get("usage")):
            yield Fact("usage", value=usage)
        reason = text(record(response.get("incomplete_details")).get("reason"))
        yield Fact("stop", text=reason or kind.removeprefix("response."))
        # A call that the final list does not hold, or that an early end left open, is not whole.
        yield from self.calls.abandon("truncated")
        if self.outcome == "open":
            self.outcome = "complete" if kind in ("response.completed", "response.incomplete") else "truncated"


def _texts(item: dict[str, Any]) -> Iterator[Fact]:
    for part in records(item.get("content")):
        if told := text(part.get("text")) or text(part.get("refusal")):
            yield Fact("text", text=told)


def _arguments(kind: str, item: dict[str, Any]) -> str:
    """The whole argument text that an item holds at its end."""
    if kind in JSON_CALLS:
        return text(item.get("arguments"))
    if kind == "apply_patch_call":
        return text(record(item.get("operation")).get("diff"))
    if kind == "shell_call":
        commands = record(item.get("action")).get("commands")
        return "\n".join(map(text, commands)) if isinstance(commands, list) else ""
    if kind in RAW_TEXT:
        return text(item.get(RAW_TEXT[kind]))
    action = item.get("action")
    return json.dumps(action, ensure_ascii=False) if isinstance(action, dict) else ""


def _inner(arguments: object) -> list[dict[str, Any]] | None:
    """The calls inside the wrapper ``parallel``, so that rules meet the tools that will run."""
    inner = [
        {"name": text(use.get("recipient_name")).removeprefix("functions."), "arguments": use.get("parameters")}
        for use in records(record(arguments).get("tool_uses"))
    ]
    return inner or None
