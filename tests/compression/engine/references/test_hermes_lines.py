"""The lines that Hermes Agent leaves of results, and how it cuts arguments."""

from __future__ import annotations

import pytest

from compression.engine.references.hermes_lines import describe, known_name
from compression.engine.references.hermes_prune import shortened


@pytest.mark.parametrize(
    ("foreign", "name"),
    [("Bash", "terminal"), ("Read", "read_file"), ("Grep", "search_files"), ("Write", "write_file"), ("Edit", "patch")],
)
def test_foreign_tools_get_the_names_it_knows(foreign: str, name: str) -> None:
    assert known_name(foreign) == name


@pytest.mark.parametrize(
    ("tool", "arguments", "content", "line"),
    [
        ("Bash", '{"command": "make"}', '{"exit_code": 2}', "[terminal] ran `make` -> exit 2, 1 lines output"),
        ("terminal", "{}", "a\nb\nc", "[terminal] ran `` -> exit ?, 3 lines output"),
        ("Read", '{"file_path": "/a", "offset": 40}', "x" * 1_234, "[read_file] read /a from line 40 (1,234 chars)"),
        ("write_file", '{"path": "/a", "content": "1\\n2"}', "ok", "[write_file] wrote to /a (2 lines)"),
        ("grep", '{"pattern": "x"}', '{"total_count": 7}', "[search_files] content search for 'x' in . -> 7 matches"),
        ("Edit", '{"file_path": "/a"}', "done", "[patch] replace in /a (4 chars result)"),
        ("TodoWrite", "{}", "done", "[todo] updated task list"),
        ("frobnicate", '{"a": 1, "b": "two", "c": 3}', "done", "[frobnicate] a=1 b=two (4 chars result)"),
        ("frobnicate", "no json", "done", "[frobnicate] (4 chars result)"),
        ("", "[1]", "", "[unknown] (0 chars result)"),
    ],
)  # fmt: skip
def test_a_result_becomes_one_line_by_the_name_of_its_tool(tool: str, arguments: str, content: str, line: str) -> None:
    assert describe(tool, arguments, content) == line


def test_a_long_terminal_output_inside_json_counts_as_one_line() -> None:
    content = '{"output": "' + "line\\n" * 400 + '", "exit_code": 0}'

    assert describe("terminal", '{"command": "seq"}', content) == "[terminal] ran `seq` -> exit 0, 1 lines output"


def test_a_long_command_is_cut_to_80_characters() -> None:
    line = describe("terminal", '{"command": "' + "x" * 81 + '"}', "out")

    assert line == f"[terminal] ran `{'x' * 77}...` -> exit ?, 1 lines output"


@pytest.mark.parametrize("arguments", ["not json", '{"a": NaN}', "[" * 5_000 + "]" * 5_000, ""])
def test_arguments_that_are_no_json_stay_as_they_are(arguments: str) -> None:
    assert shortened(arguments) == arguments


def test_only_long_string_leaves_are_cut() -> None:
    arguments = '{"a": "' + "é" * 201 + '", "b": ["' + "y" * 200 + '", 3, null], "c": {"d": true}}'

    assert shortened(arguments) == (
        '{"a": "' + "é" * 200 + '...[truncated]", "b": ["' + "y" * 200 + '", 3, null], "c": {"d": true}}'
    )
