"""Hermes Agent's pruning, which comes before its summary and needs no model: three passes over the whole list.

Duplicates first, head and tail included; then old results become one line; then old arguments are shortened. It
counts characters / 4 with a counter of its own. What would not become smaller, and pictures, are left alone here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from compression.engine.edits import Edit
from compression.engine.references.hermes_lines import describe
from compression.engine.references.protocol import Now
from compression.engine.references.replacements import replacement, standing_text

RESULT_CHARACTERS = 200
"""Longer old results become one line; duplicates of at least this length are replaced."""

ARGUMENT_CHARACTERS = 500
LEAF_CHARACTERS = 200
DUPLICATE = "[Duplicate tool output — same content as a more recent call]"

PICTURE_TOKENS = 1_600
MESSAGE_TOKENS = 10
ENVELOPE = len("{'id': '', 'type': 'function', 'function': {'name': '', 'arguments': ''}}")
"""Characters of a call beyond its id, name and arguments."""

Pruned = dict[tuple[int, int], Edit]


def weight(now: Now, message: int, pruned: Mapping[tuple[int, int], Edit]) -> int:
    """Tokens of a message by the agent's own counter: content / 4 + 10, and a quarter of each call and of reasoning."""
    content = tokens = 0
    for j, part in enumerate(now.course.transcript.messages[message].parts):
        edit = pruned.get((message, j))
        text = edit.text if edit else standing_text(now, message, j)
        if part.kind in ("text", "tool_result"):
            content += len(text)
        elif part.kind == "media":
            content += 4 * PICTURE_TOKENS
        elif part.kind == "tool_call":
            # Its rendering of a call shows every backslash twice.
            tokens += (ENVELOPE + len(part.call_id) + len(part.name) + len(text) + text.count("\\")) // 4
        else:
            tokens += (part.size if part.kind == "opaque" else len(text)) // 4
    return content // 4 + MESSAGE_TOKENS + tokens


def prune(now: Now, window: Sequence[int], tail_tokens: int, protect_last: int) -> Pruned:
    """What the passes change in a window; O(window)."""
    pruned = _duplicates(now, window)
    old = window[: _boundary([weight(now, i, {}) for i in window], tail_tokens, protect_last)]
    messages = now.course.transcript.messages
    for i in old:
        for j, part in enumerate(messages[i].parts):
            if (i, j) in now.edits or (i, j) in pruned or part.signature:
                continue
            edit = None
            if part.kind == "tool_result" and len(part.text) > RESULT_CHARACTERS:
                line = describe(part.name, now.course.arguments.get(part.call_id, ""), part.text)
                edit = replacement(now, i, j, line, "old result")
            elif part.kind == "tool_call" and len(part.text) > ARGUMENT_CHARACTERS:
                edit = replacement(now, i, j, shortened(part.text), "old arguments", kind="arguments")
            if edit is not None:
                pruned[i, j] = edit
    return pruned


def _boundary(weights: Sequence[int], tail_tokens: int, protect_last: int) -> int:
    """How many of the oldest messages are pruned: the tail is protected by tokens and by number, whichever is more."""
    count, spent, border = len(weights), 0, len(weights)
    floor = min(protect_last, count)
    for at in range(count - 1, -1, -1):
        border = at
        if spent + weights[at] > tail_tokens and count - at >= floor:
            break
        spent += weights[at]
    return count - max(count - border, floor)


def _duplicates(now: Now, window: Sequence[int]) -> Pruned:
    """Older copies of a result, anywhere in the window; the newest stays."""
    pruned: Pruned = {}
    seen: set[str] = set()
    for i in reversed(window):
        for j, part in enumerate(now.course.transcript.messages[i].parts):
            if part.kind != "tool_result" or len(part.text) < RESULT_CHARACTERS or (i, j) in now.edits:
                continue
            sha = now.course.sha(i, j)
            edit = replacement(now, i, j, DUPLICATE, "duplicate") if sha in seen else None
            if edit is not None:
                pruned[i, j] = edit
            seen.add(sha)
    return pruned


def shortened(arguments: str) -> str:
    """Arguments with their long string leaves cut, still JSON; as they are when they are none."""
    try:
        found = json.loads(arguments, parse_constant=_refuse)
        return json.dumps(_leaves(found), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are read by this parser and are no JSON


def _leaves(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LEAF_CHARACTERS else value[:LEAF_CHARACTERS] + "...[truncated]"
    if isinstance(value, dict):
        return {key: _leaves(leaf) for key, leaf in value.items()}
    if isinstance(value, list):
        return [_leaves(leaf) for leaf in value]
    return value
