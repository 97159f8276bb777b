from __future__ import annotations

from typing import Any

import pytest

from tests.sessions.streaming.streams import Row, body, calls, kinds, run, told


def event(name: str, **fields: Any) -> Row:
    return {"type": f"response.{name}", **fields}


def item(kind: str = "function_call", **fields: Any) -> Row:
    return {"type": kind, "id": "i1", "call_id": "c1"} | fields


def added(number: int = 0, **fields: Any) -> Row:
    return event("output_item.added", output_index=number, item=item(**{"name": "read", "arguments": ""} | fields))


def delta(text: str, number: int = 0, name: str = "i1") -> Row:
    return event("function_call_arguments.delta", output_index=number, item_id=name, delta=text)


def done(number: int = 0, **fields: Any) -> Row:
    return event("output_item.done", output_index=number, item=item(**fields))


END = event("completed", response={"status": "completed", "output": [], "usage": {"output_tokens": 1}})
WHOLE = '{"path":"a"}'
READ = [("read", {"path": "a"}, "closed")]


def test_the_tool_is_named_when_its_item_is_added_and_its_arguments_grow() -> None:
    stream, facts = run(body(added(), delta('{"path":"a'), delta('"}'), done(name="read", arguments=WHOLE), END))

    assert kinds(facts)[:5] == ["call_started", "tool_named", "argument", "argument_complete", "tool_complete"]
    assert (calls(facts), stream.outcome) == (READ, "complete")


def test_ids_of_items_may_rotate() -> None:
    pieces = [delta(WHOLE[:5], name="x"), delta(WHOLE[5:], name="y")]

    assert calls(run(body(added(), *pieces, done(name="read", arguments=WHOLE, id="z"), END))[1]) == READ


def test_arguments_only_in_the_done_event_are_arguments() -> None:
    full = event("function_call_arguments.done", output_index=0, arguments=WHOLE)

    assert calls(run(body(added(), full, done(name="read", arguments=WHOLE), END))[1]) == READ


def test_a_done_item_that_was_never_added_is_a_call() -> None:
    assert calls(run(body(done(name="read", arguments=WHOLE), END))[1]) == READ


def test_a_call_that_only_the_completed_response_holds_is_a_call() -> None:
    end = event("completed", response={"status": "completed", "output": [item(name="read", arguments=WHOLE)]})

    assert calls(run(body(end))[1]) == READ


def test_a_list_of_items_that_leaves_some_out_moves_no_call() -> None:
    second = item(name="read", arguments=WHOLE, id="i2", call_id="c2")
    end = event("completed", response={"status": "completed", "output": [second]})
    stream = body(added(0), delta("{}", 0), done(0, name="read", arguments="{}"), added(1, id="i2", call_id="c2"), end)

    assert calls(run(stream)[1]) == [("read", {}, "closed"), *READ]


def test_a_delta_before_its_item_begins_the_call() -> None:
    assert calls(run(body(delta(WHOLE), done(name="read", arguments=WHOLE), END))[1]) == READ


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_a_call_without_arguments_has_an_empty_object(arguments: str) -> None:
    assert calls(run(body(added(), done(name="read", arguments=arguments), END))[1]) == [("read", {}, "closed")]


def test_a_custom_tool_takes_plain_text() -> None:
    head = added(type="custom_tool_call")
    piece = event("custom_tool_call_input.delta", output_index=0, delta="SELECT {")
    _, facts = run(body(head, piece, done(type="custom_tool_call", name="read", input="SELECT { 1"), END))

    assert calls(facts) == [("read", "SELECT { 1", "closed")]
    assert [(fact.path, fact.text) for fact in facts if fact.type == "argument"] == [
        (("input",), "SELECT {"),
        (("input",), " 1"),
    ]


def test_a_patch_tells_its_path_before_its_text() -> None:
    operation = {"type": "create_file", "path": "a.md", "diff": ""}
    head = event("output_item.added", output_index=0, item=item("apply_patch_call", operation=operation))
    piece = event("apply_patch_call_operation_diff.delta", output_index=0, delta="+x")
    whole = operation | {"diff": "+x"}
    _, facts = run(body(head, piece, done(type="apply_patch_call", operation=whole), END))

    assert [fact.path for fact in facts if fact.type == "argument"] == [("path",), ("diff",)]
    assert calls(facts) == [("apply_patch", whole, "closed")]


def test_a_shell_call_is_keyed_by_index_and_its_commands_are_lines() -> None:
    head = event("output_item.added", output_index=0, item=item("shell_call", action={"commands": []}))
    first = event("shell_call_command.delta", output_index=0, command_index=0, delta="ls")
    between = event("shell_call_command.added", output_index=0, command_index=1)
    second = event("shell_call_command.delta", output_index=0, command_index=1, delta="pwd")
    action = {"commands": ["ls", "pwd"]}
    _, facts = run(body(head, first, between, second, done(type="shell_call", action=action), END))

    assert (told(facts, "argument"), calls(facts)) == ("ls\npwd", [("shell", action, "closed")])


def test_a_local_shell_call_is_known_only_at_its_end() -> None:
    head = event("output_item.added", output_index=0, item=item("local_shell_call", action={"command": []}))
    action = {"command": ["ls"]}
    _, facts = run(body(head, done(type="local_shell_call", action=action), END))

    assert calls(facts) == [("local_shell", action, "closed")]


def test_the_wrapper_parallel_shows_the_calls_inside() -> None:
    inner = '{"tool_uses":[{"recipient_name":"functions.read","parameters":{"path":"a"}}]}'
    _, facts = run(body(added(name="parallel"), delta(inner), done(name="parallel", arguments=inner), END))

    assert [fact.value for fact in facts if fact.type == "tool_complete"] == [
        [{"name": "read", "arguments": {"path": "a"}}]
    ]


def test_a_call_without_its_done_event_is_truncated() -> None:
    stream, facts = run(body(added(), delta(WHOLE)))

    assert (calls(facts), stream.outcome) == ([("read", WHOLE, "truncated")], "truncated")


def test_an_incomplete_response_leaves_its_open_call_truncated() -> None:
    end = event("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}, "output": []})
    _, facts = run(body(added(), delta(WHOLE[:5]), end))

    assert (calls(facts), facts[-2].text) == ([("read", WHOLE[:5], "truncated")], "max_output_tokens")


def test_an_item_that_ended_incomplete_is_truncated() -> None:
    last = done(name="read", arguments=WHOLE, status="incomplete")

    assert calls(run(body(added(), delta(WHOLE), last, END))[1]) == [("read", WHOLE, "truncated")]


def test_an_error_and_the_failed_response_after_it_are_one_failure() -> None:
    failed = event("failed", response={"error": {"code": "x"}, "usage": None})
    error = {"type": "error", "code": "x", "message": "m", "sequence_number": 3}
    stream, facts = run(body(error, failed))

    assert (kinds(facts), stream.outcome) == (["error", "stop"], "failed")


def test_text_refusal_and_reasoning_are_told() -> None:
    names = ("output_text", "refusal", "reasoning_summary_text", "reasoning_text")
    _, facts = run(body(*(event(f"{name}.delta", delta=name) for name in names), END))

    assert told(facts, "text") == "output_textrefusal"
    assert told(facts, "thinking") == "reasoning_summary_textreasoning_text"


def test_an_event_that_comes_twice_is_read_once_and_gaps_are_counted() -> None:
    first = event("output_text.delta", delta="a", sequence_number=1)
    stream, facts = run(body(first, first, event("output_text.delta", delta="b", sequence_number=5), END))

    assert told(facts, "text") == "ab"
    assert stream.notes() == {"repeated_sequence_number": 1, "sequence_gap": 1}


def test_a_call_id_may_come_again_in_the_next_response() -> None:
    one = [event("created", response={}), added(), delta(WHOLE), done(name="read", arguments=WHOLE), END]

    assert calls(run(body(*one, *one))[1]) == READ * 2


def test_done_after_the_end_is_no_error() -> None:
    assert run(body(END, "[DONE]"))[0].outcome == "complete"


def test_unknown_events_pass_and_are_counted() -> None:
    assert run(body(event("sparkle.delta"), END))[0].profile_row()["unknown"] == {"response.sparkle.delta": 1}


def test_a_response_that_was_not_streamed_is_read() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    output = [message, item(name="read", arguments=WHOLE)]
    _, facts = run(body({"object": "response", "status": "completed", "output": output}))

    assert (told(facts, "text"), calls(facts)) == ("Hi", READ)
