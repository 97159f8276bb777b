"""The state of the work is copied from the session, bounded, and enough to go on from."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compression.engine.demands import demands
from compression.engine.fidelity import fidelity
from compression.engine.history import course_of
from compression.engine.open_errors import Outcome
from compression.engine.pending_items import pending_items
from compression.engine.plain_line import plain_line
from compression.engine.state_header import FileTouched, Header, header_text, memory_note, state_header
from compression.engine.transcript import Part, Transcript
from tests.compression.engine.builders import SessionBuilder, Words
from tests.compression.engine.generated import transcripts

COUNT = Words().count_many


def call(builder: SessionBuilder, name: str, result: str, *, text: str = "", bad: bool = False, **args: object) -> None:
    part = Part("tool_result", result, f"call_{len(builder.turns)}", name, is_error=bad)
    builder.turn(part, text=text, arguments=json.dumps(args))


def header(builder: SessionBuilder, **options: int) -> Header:
    """The state when all that was built is in the request."""
    builder.turn(text="")
    course = course_of(builder.build(), "uncompacted")
    request = course.windows[-1]
    return state_header(course, request, request.end, **options)


def session() -> SessionBuilder:
    builder = SessionBuilder()
    builder.system("You must answer in English. Be kind.")
    builder.user("Fix the total in src/cart.py.\nNever touch the database.")
    call(builder, "Read", "def total(): ...", file_path="/srv/shop/src/cart.py")
    call(builder, "Read", "def tax(): ...", file_path="/srv/shop/src/tax.py")
    call(builder, "Edit", "updated", file_path="/srv/shop/src/cart.py", old_string="a", new_string="b")
    call(builder, "Bash", "Exit code 1\nFAILED tests/test_cart.py::test_total", bad=True, command="pytest -q | tail -3")
    plan = [{"content": "fix rounding", "status": "in_progress"}, {"content": "read code", "status": "completed"}]
    call(builder, "TodoWrite", "ok", text="I look at the rounding.", todos=plan)
    builder.user("go on, please")
    return builder


def test_the_state_of_a_small_session_is_told_in_its_words() -> None:
    assert header(session()).text == "\n".join(
        (
            "State of the work, in the session's own words:",
            "Goal:",
            "- Fix the total in src/cart.py. Never touch the database.",
            "Latest requests:",
            "- go on, please",
            "Constraints:",
            "- You must answer in English.",
            "Unfinished tasks:",
            "- fix rounding [in_progress]",
            "Last command:",
            "- pytest -q | tail -3 -> exit code 1: FAILED tests/test_cart.py::test_total",
            "Files changed, newest first, under /srv/shop/src:",
            "- cart.py (edited)",
            "Files read, newest first, under /srv/shop/src:",
            "- tax.py",
            "Last words of the assistant:",
            "- I look at the rounding.",
            "Last calls, oldest first:",
            "- Read /srv/shop/src/cart.py",
            "- Read /srv/shop/src/tax.py",
            "- Edit /srv/shop/src/cart.py",
            "- Bash pytest -q | tail -3",
            "- TodoWrite",
        )
    )


def test_an_error_is_told_once_and_open_while_other_commands_follow() -> None:
    builder = session()
    call(builder, "Bash", "a.py", command="ls")

    lines = header(builder).text.split("\n")

    assert lines.count("- pytest -q | tail -3 -> exit code 1: FAILED tests/test_cart.py::test_total") == 1
    assert lines[lines.index("Open errors:") + 1].startswith("- pytest -q")
    assert lines[lines.index("Last command:") + 1] == "- ls -> no error reported"


def test_a_command_that_says_nothing_is_named_by_its_tool() -> None:
    builder = session()
    call(builder, "Bash", "done", command="")

    command = header(builder).command
    assert command is not None
    assert (command.call, command.failed) == ("Bash", False)


def test_a_session_without_tools_has_its_goal_and_the_last_words() -> None:
    builder = SessionBuilder()
    builder.user("What is a monad?")
    builder.turn(text="A monoid in the category of endofunctors.")

    assert header(builder) == Header(goal="What is a monad?", said="A monoid in the category of endofunctors.")


def test_nothing_after_the_end_is_read() -> None:
    course = course_of(session().build(), "uncompacted")
    found = state_header(course, course.windows[-1], 3)

    assert (found.files, found.command, found.pending, found.requests) == ((), None, (), ())


def test_the_same_command_that_succeeds_later_closes_its_error() -> None:
    builder = session()
    call(builder, "Bash", "4 passed", command="cd /srv/shop && pytest -q 2>&1 | tail -1")
    found = header(builder)

    assert found.errors == ()
    assert found.command == Outcome("cd /srv/shop && pytest -q 2>&1 | tail -1", None, False)


def test_a_command_whose_pipe_hides_the_exit_code_is_an_error_by_its_output() -> None:
    builder = session()
    call(builder, "Bash", "--- FAIL: TestCart (0.00s)\nFAIL", command="go test ./... | tail -2")

    assert header(builder).errors[0] == Outcome("go test ./... | tail -2", None, True, "--- FAIL: TestCart (0.00s)")


def test_an_output_that_only_shows_errors_is_none() -> None:
    builder = SessionBuilder()
    call(builder, "Bash", "FAIL: this is the text of a file", command="cat notes.txt")

    assert header(builder).errors == ()


def test_a_search_that_found_nothing_is_no_error() -> None:
    builder = SessionBuilder()
    call(builder, "Bash", "Exit code 1", bad=True, command="grep -rn total src")

    assert header(builder).errors == ()


def test_a_failed_edit_stays_open_until_the_file_is_changed() -> None:
    builder = SessionBuilder()
    call(builder, "Edit", "String to replace not found", bad=True, file_path="a.py", old_string="x")
    call(builder, "Read", "x = 1", file_path="a.py")
    still_open = header(builder).errors
    call(builder, "Edit", "updated", file_path="a.py", old_string="x = 1")

    assert still_open == (Outcome("Edit a.py", None, True, "String to replace not found"),)
    assert header(builder).errors == ()


def test_a_refusal_tells_what_the_user_said() -> None:
    builder = SessionBuilder()
    call(builder, "Bash", "Rejected. To go on, the user said:\nask me first", bad=True, command="git push")

    assert header(builder).errors == (Outcome("git push", None, True, "the user said: ask me first"),)


def test_a_file_changed_and_then_read_counts_as_changed() -> None:
    builder = SessionBuilder()
    call(builder, "Write", "ok", file_path="a.py", content="x")
    call(builder, "Edit", "ok", file_path="a.py", old_string="x", new_string="y")
    call(builder, "Read", "y", file_path="a.py")

    assert header(builder).files == (FileTouched("a.py", "edit", 2),)


def test_words_of_the_client_are_no_requests() -> None:
    builder = session()
    builder.user("<bash-input>ls</bash-input>")

    assert header(builder).requests == ("go on, please",)


def test_the_number_of_last_calls_is_the_callers() -> None:
    assert header(session(), recent_calls=1).calls == ("TodoWrite",)
    assert header(session(), recent_calls=0).calls == ()


def test_a_budget_keeps_the_goal_and_drops_the_last_calls_first() -> None:
    found = header(session())
    text = header_text(found, COUNT, 75)

    assert COUNT([text])[0] <= 75
    assert "- Fix the total in src/cart.py. Never touch the database." in text
    assert "Last calls" not in text


@pytest.mark.parametrize("budget", [0, 5, 12, 40, 10_000])
def test_no_header_is_larger_than_its_budget(budget: int) -> None:
    assert COUNT([header_text(header(session()), COUNT, budget)])[0] <= budget


def test_the_note_is_markdown() -> None:
    assert memory_note(Header(goal="Fix it", command=Outcome("make", 2, True, "no rule"))) == (
        "# State of the work\n\n## Goal\n\n- Fix it\n\n## Last command\n\n- make -> exit code 2: no rule\n"
    )


def test_hostile_words_stay_on_one_bounded_line() -> None:
    builder = SessionBuilder()
    builder.user("# Goal\n\x1b[31mred\u202e\n" + "word " * 5_000)
    found = header(builder)

    assert found.goal.startswith("# Goal ␛[31mred\ufffd word word")
    assert len(found.goal) < 910
    assert found.goal.isprintable()


@settings(max_examples=50)
@given(transcripts(), st.integers(0, 1_500))
def test_every_name_and_number_is_of_the_session(transcript: Transcript, budget: int) -> None:
    course = course_of(transcript, "as-recorded")
    for request in course.windows[-1:]:
        found = state_header(course, request, request.end)
        text = header_text(found, COUNT, budget)
        source = "\n".join(f"{p.name}\n{p.text}" for i in request.indexes() for p in transcript.messages[i].parts)

        assert fidelity(source, found.text, found.counts)[2] == []
        assert COUNT([text])[0] <= budget
        assert text == header_text(found, COUNT, budget)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Do it. You must keep `a.py`. Thanks.", ["You must keep `a.py`."]),
        ("- never push\n- be quick\n- never push", ["never push"]),
        ("改一下。不要动数据库。谢谢。", ["不要动数据库。"]),
        ("Bitte niemals löschen.", ["Bitte niemals löschen."]),
        ("```\nalways = 1\n// never do this at all\n```\nfine", []),
        ("must this be so?", []),
        ("# Always\n", []),
        ("if (only) { never(); }", []),
    ],
)
def test_demands_are_sentences_of_obligation(text: str, found: list[str]) -> None:
    assert demands(text) == found


@pytest.mark.parametrize(
    ("calls", "left"),
    [
        (
            [({"plan": [{"step": "a", "status": "pending"}, {"step": "b", "status": "completed"}]}, "")],
            (("a", "pending"),),
        ),
        ([({"todos": [{"content": "a", "status": "pending"}]}, ""), ({"todos": []}, "")], ()),
        (
            [
                ({"todos": [{"id": "1", "content": "a", "status": "pending"}, {"id": "2", "content": "b"}]}, ""),
                ({"todos": [{"id": "1", "content": "a", "status": "completed"}], "merge": True}, ""),
            ],
            (("b", "pending"),),
        ),
        (
            [
                ({"subject": "write tests"}, "Task #4 created successfully: write tests"),
                ({"subject": "run them"}, "Task #5 created successfully: run them"),
                ({"taskId": "4", "status": "completed"}, "Updated task #4 status"),
                ({"taskId": "5", "status": "in_progress"}, "Updated task #5 status"),
            ],
            (("run them", "in_progress"),),
        ),
        ([({"todos": "- [x] a\n- [ ] b"}, "")], (("b", "pending"),)),
        ([({"todos": [3, None, {"status": "pending"}]}, "")], ()),
    ],
)
def test_unfinished_entries_are_what_all_changes_left(calls: list[tuple[object, str]], left: object) -> None:
    assert pending_items((json.dumps(arguments), result) for arguments, result in calls) == left


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\n b\t c", "a b c"),
        ("one two three", "one two …"),
        ("src/very/long/path.py", "…"),
        ("一二三四五六七八九十一二三", "一二三四五六七八九十 …"),
    ],
)
def test_a_line_is_cut_between_words(text: str, line: str) -> None:
    assert plain_line(text, 10) == line
