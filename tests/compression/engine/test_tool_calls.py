"""Calls of many agents mean the same few things."""

from __future__ import annotations

import json

import pytest

from compression.engine.call_outcomes import exit_code, failed, first_trouble, first_words
from compression.engine.history import course_of
from compression.engine.tool_calls import FileUse, calls_of, understood
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder

PATCH = "*** Begin Patch\n*** Add File: new.py\n+x = 1\n*** Update File: old.py\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize(
    ("name", "arguments", "action", "use"),
    [
        ("Read", {"file_path": "/srv/a.py"}, "read", FileUse("/srv/a.py", "read")),
        ("read_file", {"path": "./a.py"}, "read", FileUse("a.py", "read")),
        ("mcp__files__read_file", {"path": "a.py"}, "read", FileUse("a.py", "read")),
        ("Write", {"file_path": "a.py", "content": ""}, "write", FileUse("a.py", "write", whole=True)),
        ("create", {"filename": "a.py"}, "write", FileUse("a.py", "write")),
        ("Edit", {"file_path": "a.py", "old_string": "a"}, "edit", FileUse("a.py", "edit")),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "read", FileUse("a.py", "read")),
        (
            "str_replace_based_edit_tool",
            {"command": "create", "path": "a.py", "file_text": "x"},
            "write",
            FileUse("a.py", "write", whole=True),
        ),
        ("str_replace_based_edit_tool", {"command": "insert", "path": "a.py"}, "edit", FileUse("a.py", "edit")),
        ("terminal", {"command": "cat src/a.py"}, "run", FileUse("src/a.py", "read")),
        ("shell", {"command": ["bash", "-lc", "sed -n 1,20p a.py"]}, "run", FileUse("a.py", "read")),
        ("Bash", {"command": "cat > a.py <<'EOF'\nx = 1\nEOF"}, "run", FileUse("a.py", "write")),
    ],
)
def test_a_call_says_what_it_does_to_which_file(name: str, arguments: object, action: str, use: FileUse) -> None:
    call = understood(name, json.dumps(arguments))

    assert (call.action, call.files) == (action, (use,))


@pytest.mark.parametrize(
    "command", ["cat a.py b.py | head", "cat a.py && make", "sed -i s/a/b/ a.py", "cat 'a.py", "ls"]
)
def test_a_command_that_does_more_than_read_one_file_names_none(command: str) -> None:
    assert understood("Bash", json.dumps({"command": command})).files == ()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("apply_patch", PATCH), ("apply_patch", json.dumps({"input": PATCH}))],
)
def test_a_patch_names_its_files_added_ones_as_a_whole(name: str, arguments: str) -> None:
    assert understood(name, arguments).files == (FileUse("new.py", "write", whole=True), FileUse("old.py", "edit"))


def test_an_unknown_tool_is_told_by_its_short_values() -> None:
    call = understood("get_reservation", '{"reservation_id": "JG7FMM", "note": "' + "long " * 40 + '"}')

    assert (call.action, call.files, call.target) == ("other", (), "JG7FMM")


@pytest.mark.parametrize("arguments", ["", "[]", "7", '"text"', "not json", '{"path": 3, "command": {"a": []}}'])
@pytest.mark.parametrize("name", ["Read", "Bash", "apply_patch", "str_replace_editor", "TodoWrite", ""])
def test_arguments_of_any_shape_are_understood_or_left(name: str, arguments: str) -> None:
    assert understood(name, arguments).files == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 2\nmake: *** [all] Error 2", 2),
        ('{"output": "ok\\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}', 0),
        ('{"output": "", "exit_code": 124, "error": "timed out"}', 124),
        ("Chunk ID: 1\nProcess exited with code 1\nOutput:\nno", 1),
        ("<returncode>1</returncode>\n<output>\nno\n</output>", 1),
        ("done\n[The command completed with exit code 0.]", 0),
        ("the exit code 7 is described below", None),
        ("line\n" * 40 + "exit code: 3\n" + "line\n" * 40, None),
        ("", None),
    ],
)
def test_an_exit_code_is_read_where_agents_write_it(text: str, code: int | None) -> None:
    assert exit_code(text) == code


@pytest.mark.parametrize(
    ("part", "bad"),
    [
        (Part("tool_result", "fine"), False),
        (Part("tool_result", "fine", is_error=True), True),
        (Part("tool_result", "Exit code 1\nno"), True),
        (Part("tool_result", "<tool_use_error>File has not been read yet.</tool_use_error>"), True),
        (Part("tool_result", '{"error": "Permission denied"}'), True),
        (Part("tool_result", '{"error": null, "bytes_written": 12}'), False),
    ],
)
def test_a_failure_is_told_by_flag_status_or_refusal(part: Part, bad: bool) -> None:
    assert failed(part) is bad


def test_the_line_of_trouble_of_a_traceback_is_its_last() -> None:
    text = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nKeyError: 'name'\n"

    assert first_trouble(text) == "KeyError: 'name'"


def test_the_first_words_pass_over_the_exit_code() -> None:
    assert first_words("Exit code 1\n\n  something else  \nmore") == "something else"


def test_each_result_finds_its_call_even_when_ids_repeat() -> None:
    builder = SessionBuilder()
    for text in ("first", "second"):
        builder.turn(Part("tool_result", text, "call_1", "Read"), arguments=json.dumps({"path": f"{text}.py"}))
    calls = calls_of(course_of(builder.build(), "uncompacted"))

    assert [(made.call.target, made.result) for made in calls.all] == [("first.py", (1, 0)), ("second.py", (3, 0))]
