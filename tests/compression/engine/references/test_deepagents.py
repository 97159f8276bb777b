"""deepagents' eviction on arrival."""

from __future__ import annotations

import pytest

from compression.engine.snapshots import digest
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.walking import walk

NAME = "deepagents-eviction"


def session(text: str, tool: str = "Bash") -> SessionBuilder:
    built = SessionBuilder()
    built.user()
    built.turn((tool, text))
    built.turn()
    built.turn()
    return built


def test_a_result_over_20_000_tokens_of_four_characters_goes_to_a_file_before_it_is_sent() -> None:
    text = "\n".join(f"line {n:05}" for n in range(8_000))

    done = walk(session(text), NAME)

    assert [*done.steps] == [1]
    edit = done.steps[1].edits[0]
    address = "hermes:" + digest(text)[:12]
    assert edit.address == address
    assert edit.text.split("\n") == [
        f"[too large; the file with the whole result: {address}]",
        *(f"line {n:05}" for n in range(5)),
        "... 7,990 lines omitted ...",
        *(f"line {n:05}" for n in range(7_995, 8_000)),
    ]


def test_80_000_characters_stay() -> None:
    assert walk(session("word " * 16_000), NAME).steps == {}
    assert [*walk(session("word " * 16_000 + "x"), NAME).steps] == [1]


@pytest.mark.parametrize("tool", ["Read", "read_file", "Grep", "glob", "ls", "Edit", "write_file"])
def test_file_tools_are_excluded(tool: str) -> None:
    assert walk(session(words(20_000), tool), NAME).steps == {}
