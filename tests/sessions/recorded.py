"""Small parsed sessions, made by hand, and a measure that counts words."""

from __future__ import annotations

from collections import Counter

from sessions.importers.parsed import Detection, ParsedMessage, ParsedSession, ParsedTurn, Part, Usage
from sessions.ingest import FileFacts
from sessions.measures import Measurement

FILE = FileFacts(name="log.jsonl", sha256="f" * 64, size=1234)


def words(parsed: ParsedSession) -> Measurement:
    """One token a word."""
    tokens = [[len(part.text.split()) for part in message.parts] for message in parsed.messages]
    return Measurement(tokens, {"k": 1.0, "hidden": 0, "points": 0})


def user_says(text: str) -> ParsedMessage:
    return ParsedMessage("user", [Part("text", text)], timestamp=1.5)


def exchange(number: int, *, result: str = "two words") -> list[ParsedMessage]:
    """The model calls a tool and gets its result."""
    call_id = f"call-{number}"
    return [
        ParsedMessage("assistant", [Part("tool_call", '{"a":1}', call_id=call_id, name="Bash")], model="m-1"),
        ParsedMessage("tool", [Part("tool_result", result, call_id=call_id, name="Bash")]),
    ]


def session(
    exchanges: int = 1, *, key: str = "k-1", prompt: str = "do it now", result: str = "two words"
) -> ParsedSession:
    """A prompt and as many exchanges, each a turn with usage."""
    messages = [user_says(prompt)]
    turns = []
    for number in range(exchanges):
        start = len(messages)
        messages += exchange(number, result=result)
        usage = Usage(uncached=100, cache_read=10 * number, cache_write=5, output=7, model="m-1")
        turns.append(ParsedTurn(start, start + 1, start + 2, usage=usage))
    return ParsedSession(
        key=key,
        format="made-up",
        detection=Detection("made-up", 1.0, "made by a test"),
        title="A title",
        agent="agent",
        models=["m-1"],
        started_at=0.0,
        messages=messages,
        turns=turns,
        source_messages=len(messages),
        metadata=Counter({"note": 2}),
        skipped=Counter({"torn line": 1}),
        warnings=["a warning"],
    )
