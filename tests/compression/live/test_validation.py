"""The whole-request validator: each promise is broken here by hand, and named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compression.dialects.bodies import read_request
from compression.dialects.request import Request
from compression.dialects.validation import violations
from compression.dialects.writing import Change, Written, write
from tests.compression.live.requests import ANTHROPIC, OPENAI, anthropic_messages, openai_messages


def found(request: Request, body: bytes, change: Change | None = None) -> list[str]:
    """What is wrong with a new array whose messages are the old ones, one for one."""
    origins = tuple((i,) for i in range(len(request.items)))
    return violations(request, change or Change(), Written(body, origins))


def tampered(raw: bytes, old: bytes, new: bytes) -> list[str]:
    request = read_request(raw)
    assert old in request.array.source
    return found(request, request.array.source.replace(old, new))


def test_a_good_edit_breaks_nothing() -> None:
    for raw in (OPENAI, ANTHROPIC):
        assert tampered(raw, rb'"line 1\nline 2"', b'"line 1"') == []


@pytest.mark.parametrize(
    ("raw", "old", "new", "rule"),
    [
        (OPENAI, b'"tool_call_id":"c1"', b'"tool_call_id":"cX"', "cannot be read: messages[3]: no call"),
        (OPENAI, rb'"{\"path\":\"a.py\"}"', rb'"{\"path"', "arguments of call c2 are no longer JSON"),
        (OPENAI, b'"name":"read"', b'"name":"rm"', "a tool call is missing or another one"),
        (OPENAI, b"https://example.org/a.png", b"https://x", "a signed or private block changed"),
        (OPENAI, b"fix", b"do", "messages[0] is protected and changed"),
        (OPENAI, rb"f\u00e4il", "fäil".encode(), "messages[1] is protected and changed"),
        (OPENAI, b"And now?", b"And", "messages[6], the user's last word, changed"),
        (OPENAI, rb'"line 1\nline 2"', b'"one two three four five six"', "messages[3] grew"),
        (ANTHROPIC, b'"signature":"c2ln"', b'"signature":"c2lu"', "a signed or private block changed"),
        (ANTHROPIC, b"Signed thought", b"Signed", "a signed or private block changed"),
        (ANTHROPIC, b'"data":"AAAA"', b'"data":"A"', "a signed or private block changed"),
        (ANTHROPIC, b',"ttl":"1h"', b"", "a cache breakpoint changed"),
        (ANTHROPIC, b"And now?", b"And", "messages[4], the user's last word, changed"),
    ],
)
def test_what_must_not_change_is_named(raw: bytes, old: bytes, new: bytes, rule: str) -> None:
    assert any(rule in violation for violation in tampered(raw, old, new))


def test_half_a_parallel_batch_may_not_leave() -> None:
    request = read_request(json.dumps(anthropic_messages(3, 5)).encode())
    change = Change(left=(2,))

    [complaint] = violations(request, change, write(request, change))

    assert "has no result before" in complaint


def test_a_call_may_not_stay_without_its_result() -> None:
    request = read_request(json.dumps(openai_messages(3, 5)).encode())
    change = Change(left=(5,))

    [complaint] = violations(request, change, write(request, change))

    assert complaint == (
        "the new request cannot be read: messages[4].tool_calls[0]: the call of 'bash' has no result before "
        "messages[5]; send the result of every call right after the message that makes it"
    )


def test_two_answers_may_not_become_neighbours() -> None:
    rows: list[dict[str, Any]] = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": f"word {n}"} for n in range(7)
    ]
    request = read_request(json.dumps(rows).encode())
    change = Change(left=(2,))

    assert violations(request, change, write(request, change)) == [
        "two assistant messages became neighbours at messages[1]"
    ]


def test_the_users_last_word_may_not_leave() -> None:
    rows = [{"role": role, "content": "x"} for role in ("user", "assistant", "user", "assistant")]
    request = read_request(json.dumps(rows).encode())
    change = Change(left=(2, 3))

    assert violations(request, change, write(request, change)) == ["messages[2], the user's last word, changed"]


def test_a_note_that_makes_the_request_larger_may_not_enter() -> None:
    request = read_request(json.dumps(openai_messages(2, 2)).encode())
    change = Change(note="words " * 50, note_before=4)

    [complaint] = violations(request, change, write(request, change))

    assert complaint.startswith("the whole request grew from")


def test_groups_may_leave_as_a_whole() -> None:
    for rows, left in ((openai_messages(4, 20), (4, 5)), (anthropic_messages(4, 20), (4, 5))):
        request = read_request(json.dumps(rows).encode())
        change = Change(left=left, note="[one call left: hermes:000000000000]", note_before=left[0])

        assert violations(request, change, write(request, change)) == []
