"""OpenAI Chat Completions and what the many compatible servers make of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from sessions.streaming.adapter import Adapter
from sessions.streaming.call_state import Calls
from sessions.streaming.chat_calls import ChoiceCalls
from sessions.streaming.chat_text import LeakedMarkup, ThinkTags
from sessions.streaming.facts import Fact
from sessions.streaming.fields import index, record, records, text
from sessions.streaming.increments import Increments
from sessions.streaming.payloads import DONE, Payload

KNOWN_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
THINKING_FIELDS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
TEXT_FIELDS = frozenset({"content", "refusal"})
CUT_REASONS = frozenset({"length", "content_filter"})


class Choice:
    def __init__(self, calls: Calls) -> None:
        self.calls = ChoiceCalls(calls)
        self.content = Increments()
        self.reasoning = Increments()
        self.tags = ThinkTags()
        self.structured_reasoning = False
        self.finished = ""


class OpenAIChat(Adapter):
    protocol: ClassVar[str] = "openai-chat"

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls)
        self._response = ""
        self._choices: dict[int, Choice] = {}
        self._leaked = LeakedMarkup()

    def feed(self, payload: Payload) -> Iterator[Fact]:
        if payload.get("type") == DONE:
            yield from self._done()
            return
        self._meet(payload)
        raw_choices = records(payload.get("choices"))
        for raw in raw_choices:
            yield from self._choice(raw)
        for place in (payload, record(payload.get("x_groq")), *raw_choices):
            if found := record(place.get("usage")):
                yield Fact("usage", value=found)
                break
        if error := payload.get("error"):
            for choice in self._choices.values():
                yield from choice.calls.flush()
            yield from self.failed(error)
        elif "choices" not in payload and "usage" not in payload:
            yield self.passed(text(payload.get("type")) or text(payload.get("object")))

    def finish(self) -> Iterator[Fact]:
        for choice in self._choices.values():
            yield from self._held(choice)
            yield from choice.calls.flush()
        if self.outcome == "open" and self._all_finished():
            self.notes["no_done"] += 1
            self.outcome = "complete"
        yield from super().finish()

    def _meet(self, payload: Payload) -> None:
        """Another id after the end is another answer on the same stream: its choices and indexes begin anew."""
        self.model = text(payload.get("model")) or self.model
        identity = text(payload.get("id"))
        if identity and identity != self._response:
            if self._choices and self._all_finished():
                self._choices = {}
                if self.outcome == "complete":
                    self.outcome = "open"
            self._response = identity

    def _all_finished(self) -> bool:
        return bool(self._choices) and all(choice.finished for choice in self._choices.values())

    def _choice(self, raw: dict[str, Any]) -> Iterator[Fact]:
        number = index(raw.get("index")) or 0
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = Choice(self.calls)
        delta = record(raw.get("delta")) or record(raw.get("message"))
        if not THINKING_FIELDS.isdisjoint(delta):
            yield from self._thinking(choice, delta)
        if not TEXT_FIELDS.isdisjoint(delta):
            yield from self._content(choice, delta)
        if "tool_calls" in delta:
            for call in records(delta["tool_calls"]):
                if "function" in call or call.get("id"):
                    yield from choice.calls.feed(call)
        if legacy := record(delta.get("function_call")):
            yield from choice.calls.feed({"function": legacy})
        if reason := text(raw.get("finish_reason")):
            yield from self._finished(choice, reason)

    def _thinking(self, choice: Choice, delta: dict[str, Any]) -> Iterator[Fact]:
        found = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
        if not found:
            found = "".join(
                text(part.get("text")) or text(part.get("summary")) for part in records(delta.get("reasoning_details"))
            )
        if found:
            choice.structured_reasoning = True
            if new := choice.reasoning.take(found):
                yield Fact("thinking", text=new)
                yield from self._alarm(new)

    def _content(self, choice: Choice, delta: dict[str, Any]) -> Iterator[Fact]:
        content = delta.get("content")
        if isinstance(content, list):
            for part in records(content):
                if part.get("type") == "thinking":
                    for thought in records(part.get("thinking")):
                        yield Fact("thinking", text=text(thought.get("text")))
                elif text(part.get("text")):
                    yield Fact("text", text=part["text"])
        elif new := choice.content.take(text(content)):
            yield from self._told(choice, choice.tags.split(new))
        if refusal := text(delta.get("refusal")):
            yield Fact("text", text=refusal)

    def _told(self, choice: Choice, pieces: Iterator[tuple[bool, str]]) -> Iterator[Fact]:
        for thinking, piece in pieces:
            if not piece:
                continue
            if thinking and choice.structured_reasoning:
                self.notes["thinking_told_twice"] += 1
                continue
            yield Fact("thinking" if thinking else "text", text=piece)
            yield from self._alarm(piece)

    def _alarm(self, piece: str) -> Iterator[Fact]:
        if (fact := self._leaked.look(piece)) is not None:
            self.notes["leaked_markup"] += 1
            yield fact

    def _held(self, choice: Choice) -> Iterator[Fact]:
        if held := choice.reasoning.flush():
            yield Fact("thinking", text=held)
        if held := choice.content.flush():
            yield from self._told(choice, choice.tags.split(held))
        yield from self._told(choice, choice.tags.flush())

    def _finished(self, choice: Choice, reason: str) -> Iterator[Fact]:
        yield from self._held(choice)
        if reason in CUT_REASONS:
            yield from choice.calls.abandon()
        else:
            yield from choice.calls.close()
        if choice.finished:
            self.notes["repeated_finish"] += 1
            return
        choice.finished = reason
        if reason not in KNOWN_REASONS:
            self.notes["other_finish_reason"] += 1
        if reason == "stop" and len(choice.calls):
            self.notes["stop_with_calls"] += 1
        yield Fact("stop", text=reason)

    def _done(self) -> Iterator[Fact]:
        """``[DONE]`` ends the bytes in order; without a finish_reason the answer is still not known to be whole."""
        for choice in self._choices.values():
            yield from self._held(choice)
            yield from choice.calls.close()
        if self.outcome == "open":
            self.outcome = "complete" if self._all_finished() else "truncated"

    def failed(self, error: object) -> Iterator[Fact]:
        yield from super().failed(error)
        generation = record(error).get("failed_generation")
        if generation:
            # The call that the server could not read. Nobody will run it, so it is none; rules may still look at it.
            yield Fact("unknown", text="failed_generation", value=generation)
