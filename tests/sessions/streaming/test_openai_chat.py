"""Chat Completions: each quirk of compatible servers that is known, as the small stream that shows it."""

from __future__ import annotations

import pytest

from tests.sessions.streaming.streams import body, calls, chunk, kinds, run, told, tool

END = chunk(finish="tool_calls")
A = '{"path":"a"}'
B = '{"path":"b"}'
READ_A = ("read", {"path": "a"}, "closed")
READ_B = ("read", {"path": "b"}, "closed")


def ended(*payloads: dict[str, object] | str) -> list[tuple[str | None, object, str | None]]:
    return calls(run(body(*payloads, END, "[DONE]"))[1])


def test_the_name_is_told_before_the_arguments_and_these_as_they_come() -> None:
    _, facts = run(
        body(
            chunk(tool("read", "", index=0, id="c1")),
            chunk(tool(None, '{"path":"a', index=0)),
            chunk(tool(None, '"}', index=0)),
            END,
        )
    )

    assert kinds(facts) == ["call_started", "tool_named", "argument", "argument_complete", "tool_complete", "stop"]
    assert (facts[2].path, facts[2].text, facts[3].value) == (("path",), "a", "a")


def test_a_call_without_index_in_one_delta_is_a_call() -> None:
    assert ended(chunk(tool("read", A, id="c1"))) == [READ_A]


def test_arguments_split_over_deltas_without_index_go_to_the_open_call() -> None:
    assert ended(chunk(tool("read", '{"path"', id="c1")), chunk(tool(None, ':"a"}'))) == [READ_A]


def test_different_ids_at_one_index_are_different_calls() -> None:
    assert ended(chunk(tool("read", A, index=0, id="c1")), chunk(tool("read", B, index=0, id="c2"))) == [READ_A, READ_B]


def test_different_ids_at_one_index_are_kept_apart_when_interleaved() -> None:
    assert ended(
        chunk(tool("read", '{"path"', index=0, id="c1")),
        chunk(tool("read", '{"path"', index=0, id="c2")),
        chunk(tool(None, ':"a"}', index=0, id="c1")),
        chunk(tool(None, ':"b"}', index=0, id="c2")),
    ) == [READ_A, READ_B]


def test_the_tail_of_a_call_may_stand_at_another_index_than_its_head() -> None:
    assert ended(
        chunk(tool("read", A, index=0, id="c1")),
        chunk(tool("read", "", index=0, id="c2")),
        chunk(tool(None, '{"path":', index=1)),
        chunk(tool(None, '"b"}', index=1)),
    ) == [READ_A, READ_B]


def test_a_moved_tail_gives_the_index_back_to_the_call_before() -> None:
    assert ended(
        chunk(tool("read", '{"path"', index=0, id="c1")),
        chunk(tool("read", "", index=0, id="c2")),
        chunk(tool(None, '{"path":', index=1)),
        chunk(tool(None, ':"a"}', index=0)),
        chunk(tool(None, '"b"}', index=1)),
    ) == [READ_A, READ_B]


def test_two_entries_of_one_index_in_the_first_chunk_are_one_call() -> None:
    first = tool("read", "", index=0, id="functions.read:0")

    assert ended(chunk(first, tool(None, A, index=0))) == [READ_A]


def test_arguments_at_an_index_nobody_opened_go_to_the_only_open_call() -> None:
    assert ended(chunk(tool("read", "", index=1, id="c1")), chunk(tool(None, A, index=0))) == [READ_A]


@pytest.mark.parametrize("absent", ["", None])
def test_empty_and_null_ids_and_names_are_absent(absent: str | None) -> None:
    tail = {"index": 0, "id": absent, "function": {"name": absent, "arguments": ':"a"}'}}

    assert ended(chunk(tool("read", '{"path"', index=0, id="c1")), chunk(tail)) == [READ_A]


def test_objects_glued_together_in_one_slot_are_calls_of_their_own() -> None:
    stream, facts = run(body(chunk(tool("read", A[:5], index=0, id="c1")), chunk(tool(None, A[5:] + B, index=0)), END))

    assert calls(facts) == [READ_A, READ_B]
    assert stream.notes()["split_call"] == 1


def test_braces_inside_strings_split_nothing() -> None:
    assert ended(chunk(tool("say", '{"text":"}{ \\"}{"}', index=0, id="c1"))) == [("say", {"text": '}{ "}{'}, "closed")]


def test_a_second_call_without_id_at_the_same_index_is_a_call() -> None:
    assert ended(chunk(tool("read", A, index=0)), chunk(tool("read", B, index=0))) == [READ_A, READ_B]


def test_the_same_name_in_every_chunk_is_told_once() -> None:
    _, facts = run(body(chunk(tool("read", '{"path"', index=0, id="c1")), chunk(tool("read", ':"a"}', index=0)), END))

    assert calls(facts) == [READ_A]
    assert kinds(facts).count("tool_named") == 1


def test_a_name_in_pieces_is_put_together() -> None:
    head = chunk(tool("edit_ex", None, index=0, id="c1"))

    assert ended(head, chunk(tool("isting_file", "{}", index=0))) == [("edit_existing_file", {}, "closed")]


def test_a_longer_name_replaces_its_beginning() -> None:
    head = chunk(tool("edit", None, index=0, id="c1"))

    assert ended(head, chunk(tool("edit_file", "{}", index=0))) == [("edit_file", {}, "closed")]


def test_a_name_after_the_arguments_is_no_piece_of_the_name() -> None:
    assert ended(chunk(tool("read", A[:4], index=0, id="c1")), chunk(tool("x", A[4:], index=0))) == [READ_A]


def test_arguments_before_the_name_wait_for_it() -> None:
    head = chunk(tool(None, '{"path"', index=0))

    assert ended(head, chunk(tool("read", ':"a"}', index=0, id="c1"))) == [READ_A]


def test_arguments_as_an_object_are_read_and_counted() -> None:
    stream, facts = run(body(chunk(tool("read", {"path": "a"}, index=0, id="c1")), END))

    assert calls(facts) == [READ_A]
    assert stream.notes()["object_args"] == 1


@pytest.mark.parametrize("arguments", ["", "None", "null", None])
def test_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "now", "arguments": arguments}}

    assert ended(chunk(call)) == [("now", {}, "closed")]


def test_a_missing_end_of_the_arguments_leaves_the_call_truncated() -> None:
    assert ended(chunk(tool("read", '{"path":"a', index=0, id="c1"))) == [("read", '{"path":"a', "truncated")]


def test_cumulative_arguments_are_told_once() -> None:
    assert ended(*(chunk(tool("read", A[:n], index=0, id="c1")) for n in (3, 6, 9, len(A)))) == [READ_A]


def test_two_cumulative_deltas_are_recognised_when_the_second_is_whole() -> None:
    assert ended(chunk(tool("read", A[:4], index=0, id="c1")), chunk(tool(None, A, index=0))) == [READ_A]


def test_cumulative_text_and_thinking_are_told_once() -> None:
    deltas = [chunk(content=t, reasoning_content=t) for t in ("One", "One two", "One two three")]
    _, facts = run(body(*deltas, chunk(finish="stop")))

    assert (told(facts, "text"), told(facts, "thinking")) == ("One two three", "One two three")


def test_text_that_happens_to_repeat_once_loses_nothing() -> None:
    _, facts = run(body(chunk(content="ha"), chunk(content="hahaha"), chunk(content="!"), chunk(finish="stop")))

    assert told(facts, "text") == "hahahaha!"


@pytest.mark.parametrize("place", ["chunk", "choice", "empty choices", "x_groq"])
def test_usage_is_found_wherever_it_stands(place: str) -> None:
    usage = {"prompt_tokens": 3}
    last = chunk(finish="stop")
    match place:
        case "chunk":
            last["usage"] = usage
        case "choice":
            last["choices"][0]["usage"] = usage
        case "x_groq":
            last["x_groq"] = {"usage": usage}
    tail = [{"id": "chatcmpl-1", "choices": [], "usage": usage}] if place == "empty choices" else []
    _, facts = run(body(chunk(content="a"), last, *tail, "[DONE]"))

    assert [fact.value for fact in facts if fact.type == "usage"] == [usage]


def test_a_first_chunk_without_choices_and_id_is_no_token() -> None:
    stream, facts = run(
        body({"id": "", "choices": [], "prompt_filter_results": []}, chunk(content="a"), chunk(finish="stop"))
    )

    assert (kinds(facts), stream.outcome) == (["text", "stop"], "complete")


def test_calls_decide_even_where_the_reason_is_stop() -> None:
    stream, facts = run(body(chunk(tool("read", A, index=0, id="c1")), chunk(finish="stop"), "[DONE]"))

    assert (calls(facts), stream.notes()["stop_with_calls"]) == ([READ_A], 1)


def test_a_repeated_finish_ends_nothing_twice() -> None:
    _, facts = run(body(chunk(tool("read", A, index=0, id="c1")), END, END, "[DONE]"))

    assert (kinds(facts).count("stop"), calls(facts)) == (1, [READ_A])


def test_without_finish_and_done_even_a_whole_call_is_truncated() -> None:
    stream, facts = run(body(chunk(tool("read", A, index=0, id="c1"))))

    assert (calls(facts), stream.outcome) == ([("read", A, "truncated")], "truncated")


def test_done_without_a_finish_is_no_success() -> None:
    assert run(body(chunk(content="a"), "[DONE]"))[0].outcome == "truncated"


def test_a_finish_without_done_ends_the_answer_and_is_noted() -> None:
    stream, _ = run(body(chunk(content="a"), chunk(finish="stop")))

    assert (stream.outcome, stream.notes()) == ("complete", {"no_done": 1})


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_cut_answer_leaves_its_call_truncated_even_where_it_parses(reason: str) -> None:
    _, facts = run(body(chunk(tool("run", '{"cmd":"ls"}', index=0, id="c1")), chunk(finish=reason), "[DONE]"))

    assert calls(facts) == [("run", '{"cmd":"ls"}', "truncated")]


def test_a_comment_sent_on_as_data_is_a_comment() -> None:
    stream, _ = run(body(chunk(content="a"), ": OPENROUTER PROCESSING", chunk(finish="stop")))

    assert (stream.profile_row()["comments"], stream.notes()) == (1, {"no_done": 1})


def test_an_error_inside_the_stream_fails_it_and_keeps_what_came() -> None:
    error = chunk(content="") | {"error": {"code": 400, "message": "limit"}}
    stream, facts = run(body(chunk(tool("read", A[:5], index=0, id="c1"), content="Hi"), error, END, "[DONE]"))

    assert (told(facts, "text"), calls(facts), stream.outcome) == ("Hi", [("read", A[:5], "truncated")], "failed")


def test_a_generation_that_the_server_could_not_read_is_shown_and_is_no_call() -> None:
    error = {"error": {"code": "tool_use_failed", "failed_generation": '{"name":"rm"}'}}
    data = body(chunk(content="a")) + b"event: error\n" + body(error)
    stream, facts = run(data)

    assert (calls(facts), facts[-1].value, stream.outcome) == ([], '{"name":"rm"}', "failed")


def test_an_event_glued_into_an_unfinished_one_is_still_read() -> None:
    whole = body(chunk(content="b")).decode().removeprefix("data: ").strip()
    stream, facts = run(body(chunk(content="a"), '{"id":"chatcmpl-1","choi' + "data: " + whole, chunk(finish="stop")))

    assert (told(facts, "text"), stream.notes()["corrupt_event"]) == ("ab", 1)


def test_events_without_blank_lines_between_them_are_all_read() -> None:
    data = body(chunk(content="a"), chunk(content="b"), chunk(finish="stop"), "[DONE]").replace(b"\n\n", b"\n")

    assert told(run(data)[1], "text") == "ab"


def test_roles_and_padding_are_no_content() -> None:
    padded = chunk(role="") | {"obfuscation": "xyz"}

    assert kinds(run(body(padded, chunk(role="assistant"), chunk(finish="stop")))[1]) == ["stop"]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_calls_leaked_as_markup_raise_an_alarm_once(field: str) -> None:
    deltas = [chunk(**{field: piece}) for piece in ("x <|tool", "_call_begin|>", "<|tool_call_begin|>")]
    _, facts = run(body(*deltas, chunk(finish="stop")))

    assert [fact.value for fact in facts if fact.text == "leaked_markup"] == ["<|tool_call"]


def test_think_tags_are_thinking() -> None:
    _, facts = run(body(*(chunk(content=c) for c in ("<th", "ink>hm", "m</thi", "nk>Yes")), chunk(finish="stop")))

    assert (told(facts, "thinking"), told(facts, "text")) == ("hmm", "Yes")


def test_thinking_told_in_both_places_is_told_once() -> None:
    deltas = [chunk(reasoning_content="hm"), chunk(content="<think>hm</think>Yes")]
    _, facts = run(body(*deltas, chunk(finish="stop")))

    assert (told(facts, "thinking"), told(facts, "text")) == ("hm", "Yes")


def test_a_signature_alone_is_no_call() -> None:
    entry = {"index": 0, "extra_content": {"google": {"thought_signature": "s"}}}

    assert ended(chunk(tool("read", A, index=0, id="c1")), chunk(entry)) == [READ_A]


def test_an_unknown_reason_is_kept_as_it_is() -> None:
    stream, facts = run(body(chunk(content="a"), chunk(finish="network_error")))

    assert (facts[-1].text, stream.notes()["other_finish_reason"]) == ("network_error", 1)


def test_a_legacy_function_call_is_a_call() -> None:
    head = chunk(function_call={"name": "read", "arguments": A[:5]})

    assert ended(head, chunk(function_call={"arguments": A[5:]})) == [READ_A]


def test_content_in_typed_parts_is_text_and_thinking() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Yes"}]
    _, facts = run(body(chunk(content=parts), chunk(finish="stop")))

    assert (told(facts, "thinking"), told(facts, "text")) == ("hm", "Yes")


def test_calls_of_another_choice_are_its_own() -> None:
    other = chunk(tool("read", B, index=0, id="c1"))
    other["choices"][0]["index"] = 1

    assert len(calls(run(body(chunk(tool("read", A, index=0, id="c1")), other))[1])) == 2


def test_a_second_answer_on_the_same_stream_starts_its_indexes_anew() -> None:
    second = chunk(tool("read", B, index=0, id="c1")) | {"id": "chatcmpl-2"}

    assert ended(chunk(tool("read", A, index=0, id="c1")), END, second) == [READ_A, READ_B]


def test_an_answer_that_was_not_streamed_is_read_like_one_delta() -> None:
    message = {"role": "assistant", "tool_calls": [tool("read", A, id="c1")]}
    whole = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}

    assert calls(run(body(whole))[1]) == [READ_A]
