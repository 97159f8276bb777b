"""The summary that Hermes Agent writes without a model, when that fails: anchors picked from what leaves.

Its shape and limits are kept - 8,000 characters, 700 for a turn -; the words are ours. It reads what pruning left of
the results, as the original does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from compression.engine.edits import Edit
from compression.engine.references.hermes_lines import describe, known_name
from compression.engine.references.protocol import Now
from compression.engine.references.replacements import standing_text
from compression.engine.transcript import Message

MAX_CHARACTERS = 8_000
TURN_CHARACTERS = 700
ITEM_CHARACTERS = 600
BLOCKER_CHARACTERS = 500
ACTIONS, BLOCKERS, FILES, TURNS, CALLS_NAMED = 12, 5, 12, 8, 6

PREFIX = "[CONTEXT COMPACTION — REFERENCE ONLY]"
END = "--- END OF CONTEXT SUMMARY ---"

_SPACE = re.compile(r"\s+")
_PATH = re.compile(r"(?:/|~/)[^\s`'\")\]}<>]{1,300}")
_TROUBLE = re.compile(r"\b(error|failed|exception|traceback|timeout|timed out|fatal)\b", re.IGNORECASE)


def fallback_summary(now: Now, left: Sequence[int], pruned: Mapping[tuple[int, int], Edit]) -> str:
    """The text that stands for these messages; O(their text)."""
    asks: list[str] = []
    said: list[str] = []
    done: list[str] = []
    trouble: list[str] = []
    files: list[str] = []
    turns: list[str] = []
    for i in left:
        message = now.course.transcript.messages[i]
        text = _one_line(_texts(now, message, pruned))
        names = [known_name(part.name) for part in message.parts if part.kind == "tool_call"][:CALLS_NAMED]
        calls = "calls " + ", ".join(names) if names else ""
        files += _PATH.findall(text)
        for part in message.parts:
            if part.kind == "tool_call":
                files += _PATH.findall(part.text[:TURN_CHARACTERS])
            elif part.kind == "tool_result":
                done.append(describe(part.name, now.course.arguments.get(part.call_id, ""), text))
                if _TROUBLE.search(text):
                    trouble.append(text[:BLOCKER_CHARACTERS])
        turn = "; ".join(filter(None, (calls, text)))
        if turn:
            turns.append(f"{message.role}: {turn}")
        if message.role == "user" and text:
            asks.append(_middle_out(text))
        elif message.role == "assistant" and (calls or text):
            said.append(calls or _middle_out(text))
    body = "\n\n".join(
        (
            PREFIX,
            f"## Task at that time\n{asks[-1] if asks else 'unknown'}",
            f"## Completed actions\n{_numbered([*said, *done][:ACTIONS])}",
            f"## Blocked\n{_bullets(trouble, BLOCKERS)}",
            f"## Relevant files\n{_bullets(files, FILES)}",
            f"## Last turns that left\n{_bullets(turns[-TURNS:], TURNS)}",
            f"## Critical context\nWritten without a model for {len(left):,} messages; check files and state.",
        )
    )
    if len(body) > MAX_CHARACTERS:
        body = body[: MAX_CHARACTERS - len(_CUT)] + _CUT
    return f"{body}\n\n{END}"


_CUT = "\n...[truncated]"


def _texts(now: Now, message: Message, pruned: Mapping[tuple[int, int], Edit]) -> str:
    found = []
    for j, part in enumerate(message.parts):
        if part.kind in ("text", "tool_result"):
            edit = pruned.get((message.index, j))
            found.append(edit.text if edit else standing_text(now, message.index, j))
    return " ".join(found)


def _one_line(text: str) -> str:
    # Four times as much is enough to fill the limit, whatever space is folded; the rest need not be read.
    line = _SPACE.sub(" ", text[: 4 * TURN_CHARACTERS]).strip()
    return line if len(line) <= TURN_CHARACTERS else line[: TURN_CHARACTERS - 15].rstrip() + " ...[truncated]"


def _middle_out(text: str) -> str:
    return text if len(text) <= ITEM_CHARACTERS else f"{text[:420].rstrip()} ... {text[-160:].lstrip()}"


def _bullets(items: Iterable[str], limit: int) -> str:
    return "\n".join(f"- {item}" for item in [*dict.fromkeys(items)][:limit]) or "None."


def _numbered(items: Iterable[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1)) or "None."
