"""Stored sessions that the tests of the session page share: made here, counted by the real tokenizer."""

from __future__ import annotations

from sessions.importers.parsed import Detection, ParsedMessage, ParsedSession, ParsedTurn, Part, Usage
from sessions.ingest import FileFacts, ingest
from sessions.models import Project, Session

FILE = FileFacts(name="log.jsonl", sha256="f" * 64, size=1234)
MINUTE = 60.0


def log_text(number: int, lines: int) -> str:
    """A result that no other number gives."""
    return "\n".join(
        f"10:{i % 60:02d}:00 INFO worker-{number} wrote row {number * 10_000 + i} of batch" for i in range(lines)
    )


def parsed(
    exchanges: int, *, lines: int = 40, key: str = "k-1", with_usage: bool = False, with_times: bool = True
) -> ParsedSession:
    """A prompt, then as many exchanges of a call and its result; each is a turn."""
    messages = [ParsedMessage("user", [Part("text", "Find the row that stopped the batch")], timestamp=0.0)]
    turns = []
    for number in range(exchanges):
        at, call = (MINUTE * number if with_times else None), f"call-{number}"
        start = len(messages)
        arguments = f'{{"command":"cat var/log/{number}.log"}}'
        messages += [
            ParsedMessage(
                "assistant",
                [Part("text", f"Reading log {number}"), Part("tool_call", arguments, call_id=call, name="Bash")],
                timestamp=at,
            ),
            ParsedMessage(
                "tool", [Part("tool_result", log_text(number, lines), call_id=call, name="Bash")], timestamp=at
            ),
        ]
        usage = Usage(uncached=5_000 + 1_000 * number, cache_read=0, cache_write=0, output=7) if with_usage else None
        turns.append(ParsedTurn(start, start + 1, start + 2, usage=usage, time=at))
    return ParsedSession(
        key=key,
        format="made-up",
        detection=Detection("made-up", 1.0, "made by a test"),
        title="The batch that stopped",
        agent="agent",
        models=["m-1"],
        messages=messages,
        turns=turns,
        source_messages=len(messages),
    )


def store(session: ParsedSession, project: Project) -> Session:
    return ingest(session, project=project, file=FILE).session


def with_event(project: Project, *, exchanges: int = 60) -> Session:
    """Long enough to pass the chapter's trigger: three quarters of 100,000 tokens."""
    return store(parsed(exchanges, lines=76), project)
