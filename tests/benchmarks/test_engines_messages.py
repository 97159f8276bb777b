"""Windows as messages: what counts as changed and as broken, for peers and for ours alike."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks.engines_messages import TOOLS, chat_messages, first_changed, tokens_of, violations
from compression.engine.history import course_of
from compression.engine.tokens import default_counter
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder

HEAD = 2


def call(*ids: str, arguments: str = "{}") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "terminal", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": "I look.", "tool_calls": calls}


def result(call_id: str, text: str = "a long output of a tool") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def window() -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "please"},
        call("a"),
        result("a"),
        call("b", "c"),
        result("b"),
        result("c"),
        {"role": "user", "content": "and now?"},
    ]


def test_a_request_becomes_messages_with_calls_and_results() -> None:
    session = SessionBuilder()
    session.user("please")
    session.turn(("Bash", "output"), text="I look.", arguments='{"command": "ls"}')
    session.turn()
    course = course_of(session.build(), "uncompacted")

    messages = chat_messages(course, course.windows[1], {2: "less"}, TOOLS)

    function = {"name": "terminal", "arguments": '{"command": "ls"}'}
    assert messages == [
        {"role": "user", "content": "please"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "call-0-0", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "less", "tool_call_id": "call-0-0"},
    ]


def test_thinking_is_not_sent_and_a_picture_is_a_word() -> None:
    session = SessionBuilder()
    session.add("user", Part("text", "see"), Part("media", media_type="image/png", size=9))
    session.add("assistant", Part("thinking", "hm", signature="signed"), Part("text", "yes"))
    session.turn()
    course = course_of(session.build(), "uncompacted")

    assert [m["content"] for m in chat_messages(course, course.windows[0])] == ["see\n[picture]", "yes"]


def test_messages_cost_their_texts_names_and_arguments_and_four_each() -> None:
    texts = ["please", "I look.", "terminal", "{}", "a long output of a tool"]

    assert tokens_of(window()[:3]) == sum(default_counter().count_many(texts)) + 12


def test_an_unchanged_window_breaks_nothing() -> None:
    assert violations(window(), window(), HEAD) == Counter()
    assert first_changed(window(), window()) is None


@pytest.mark.parametrize(
    ("after", "broken"),
    [
        ([m for m in window() if m != result("a")], {"call without its result": 1}),
        ([m for m in window() if m != call("a")], {"result without its call": 1, "head changed": 1}),
        ([*window()[:4], result("b"), call("d"), result("d"), *window()[5:]], {
            "batch torn apart": 1, "result without its call": 1, "request grew": 1,
        }),
        ([*window()[:3], call("b", "c", arguments="{"), *window()[4:]], {"arguments are no JSON": 2}),
        ([*window()[:5], result("c", "a long output of a tool, and more"), window()[6]], {
            "result grew": 1, "request grew": 1,
        }),
        ([*window()[:6], {"role": "user", "content": "and"}], {"latest request changed": 1}),
        ([window()[0], call("a", arguments='{"x": 1}'), *window()[2:]], {"head changed": 1, "request grew": 1}),
    ],
    ids=["no result", "no call", "torn", "arguments", "grew", "request", "head"],
)  # fmt: skip
def test_a_broken_promise_is_named(after: list[dict[str, Any]], broken: dict[str, int]) -> None:
    assert violations(window(), after, HEAD) == broken


def test_what_the_log_itself_had_broken_is_not_held_against_an_engine() -> None:
    orphaned = [m for m in window() if m != result("a")]

    assert violations(orphaned, orphaned, HEAD) == Counter()


@pytest.mark.parametrize(
    ("after", "first"),
    [
        ([*window()[:4], result("b", "less"), *window()[5:]], 4),
        (window()[:5], 5),
        ([*window(), {"role": "user", "content": "more"}], 7),
    ],
    ids=["changed", "left", "came"],
)
def test_the_first_message_that_differs_is_found(after: list[dict[str, Any]], first: int) -> None:
    assert first_changed(window(), after) == first
