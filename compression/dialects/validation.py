"""What must hold of a whole request before it leaves, checked on its bytes and not on the code that wrote them.

The checks read the new request from nothing but its bytes and hold it against the old one. They know of zones only
what every policy has to leave alone: what leads in, and the last thing that the user said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import orjson

from compression.dialects.bodies import read_messages
from compression.dialects.raw_json import Value, parse
from compression.dialects.request import SYSTEM, Request, Unreadable
from compression.dialects.writing import NOTE, Change, Written
from compression.engine.tokens import count_parts, default_counter, message_tokens


def violations(request: Request, change: Change, written: Written) -> list[str]:
    """What is broken in the new messages, in words; nothing when they may leave."""
    if written.body == request.array.source:
        return []
    try:
        after = read_messages(written.body, parse(written.body), request.dialect)
    except (Unreadable, ValueError) as error:
        return [f"the new request cannot be read: {error}"]
    left = frozenset(change.left)
    return [
        *_calls(request, after, left),
        *_same("a signed or private block changed", request.guarded, after.guarded, left),
        *_same("a cache breakpoint changed", request.breakpoints, after.breakpoints, left),
        *_sacred(request, after, written),
        *_sizes(request, after, written),
        *_roles(request, after, written),
    ]


def _calls(request: Request, after: Request, left: frozenset[int]) -> Iterator[str]:
    """The calls that stayed are all there, in their order; arguments that were JSON still are."""
    before = [part for m in request.messages if m.index not in left for part in m.parts if part.kind == "tool_call"]
    now = [part for m in after.messages for part in m.parts if part.kind == "tool_call"]
    if [part.name for part in before] != [part.name for part in now]:
        yield "a tool call is missing or another one"
        return
    for old, new in zip(before, now, strict=True):
        if old.text != new.text and _is_json(old.text) and not _is_json(new.text):
            yield f"the arguments of call {old.call_id[:80]} are no longer JSON"


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _same(
    rule: str, before: Sequence[tuple[int, bytes]], after: Sequence[tuple[int, bytes]], left: frozenset[int]
) -> Iterator[str]:
    """The pieces of what stayed, byte for byte and in their order."""
    if [piece for m, piece in before if m not in left] != [piece for _, piece in after]:
        yield rule


def _sacred(request: Request, after: Request, written: Written) -> Iterator[str]:
    """What leads in, up to the first answer, and every system message: the same bytes. So is the user's last word."""
    new = {origin: item for origins, item in zip(written.origins, after.items, strict=True) for origin in origins}
    alone = {origins[0] for origins in written.origins if len(origins) == 1}
    first = request.roles.index("assistant") if "assistant" in request.roles else len(request.roles) - 1
    for i, role in enumerate(request.roles):
        if i > first and role not in ("system", "developer"):
            continue
        if i not in alone or new[i].source != request.items[i].source:
            yield f"messages[{i}] is protected and changed"
    prompts = [
        m for m, message in enumerate(request.messages) if message.role == "user" and "injected" not in message.flags
    ]
    if prompts:
        source = request.sources[prompts[-1]]
        words = request.blocks[prompts[-1]] or (request.items[source].members()["content"],)
        if source not in new or not all(_stands(word, new[source]) for word in words):
            yield f"messages[{source}], the user's last word, changed"


def _stands(word: Value, item: Value) -> bool:
    """Whether a content, or a block of one, still stands in a message."""
    if word.kind == "array":
        return all(_stands(block, item) for block in word.items())
    return word.source in item.source


def _sizes(request: Request, after: Request, written: Written) -> Iterator[str]:
    """No message grew, in tokens or bytes, and neither did the whole."""
    before, now = _tokens(request), _tokens(after)
    for n, origins in enumerate(written.origins):
        if NOTE in origins:
            continue
        old = request.items[origins[0]]
        grew = len(origins) == 1 and len(after.items[n].source) > len(old.source)
        if grew or now[n] > sum(before[i] for i in origins):
            yield f"messages[{origins[0]}] grew"
    if sum(now) > sum(before):
        yield f"the whole request grew from {sum(before):,} to {sum(now):,} tokens"


def _tokens(request: Request) -> list[int]:
    """Uncalibrated tokens of every item of the array."""
    found = [0] * len(request.items)
    counts = count_parts((message.parts for message in request.messages), default_counter().count_many)
    for source, row in zip(request.sources, counts, strict=True):
        if source != SYSTEM:
            found[source] += message_tokens(row)
    return found


def _roles(request: Request, after: Request, written: Written) -> Iterator[str]:
    """Users and assistants take turns wherever they did."""
    for n, (one, other) in enumerate(pairwise(written.origins)):
        role = after.roles[n]
        if role == after.roles[n + 1] and role in ("user", "assistant") and other[0] - 1 != one[-1]:
            yield f"two {role} messages became neighbours at messages[{n}]"
