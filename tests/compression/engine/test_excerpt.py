"""Very long outputs: what is read of them, and that their stubs say so and stay true."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from compression.engine.compressors import compress
from compression.engine.content_types import detect
from compression.engine.excerpt import FROM_START, LONGEST_READ, excerpt
from compression.engine.fidelity import fidelity


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) + len(text) // 40 for text in texts]


def test_a_text_of_usual_length_is_read_whole() -> None:
    text = "x " * (LONGEST_READ // 2)

    assert excerpt(text) == (text, "", ())


def test_a_longer_text_is_cut_between_words() -> None:
    text = "".join(f"word_{number:07d} " for number in range(50_000))

    read = excerpt(text)

    assert set(read.text.split()) <= set(text.split())
    assert len(read.text) <= LONGEST_READ
    assert read.note == "[read in part: the first 249,990 and the last 149,994 of 650,000 characters]"


def test_lines_are_read_whole_and_those_between_are_counted() -> None:
    lines = [f"row {number}, {number} of them" for number in range(40_000)]

    read = excerpt("\n".join(lines))

    assert set(read.text.splitlines()) <= {*lines}
    left_out = len(lines) - len(read.text.splitlines())
    assert read.note.endswith(f"; what is counted below leaves out {left_out:,} lines between them]")
    assert f"{left_out:,}" in read.counts


def test_a_line_that_is_longer_than_the_reach_is_cut_between_words() -> None:
    text = "first\n" + "word " * 120_000 + "\nlast"

    read = excerpt(text)

    assert set(read.text.split()) == {"first", "word", "last"}
    assert len(read.text) > FROM_START


def test_a_text_without_a_blank_is_not_read_at_all() -> None:
    read = excerpt("a" * (LONGEST_READ + 1))

    assert (read.text, read.counts) == ("", ("0", "0", "400,001"))


@pytest.mark.parametrize(
    "line",
    [
        "a{0},b{0},{0}\n",
        '{{"number": {0}}}\n',
        "2026-01-02 03:04:05 INFO job {0} done\n",
        "The job {0} is done. \n",
        "|a{0}|b{0}|\n",
    ],
)
def test_the_stub_of_a_long_output_says_what_was_read_and_is_true(line: str) -> None:
    text = "".join(line.format(number) for number in range(100_000))
    kind = detect(text).kind

    stub = compress(text, kind=kind, budget=400, count=words)

    assert stub.text.splitlines()[0].startswith("[read in part: the first ")
    assert fidelity(text, stub.text, stub.counts)[2] == []
    assert words([stub.text])[0] <= 400


def test_the_beginning_and_the_end_are_what_is_read() -> None:
    text = f"first\n{'filler line\n' * 60_000}last\n"

    read = excerpt(text).text

    assert (read[:6], read[-5:]) == ("first\n", "last\n")
    assert len(read) > FROM_START
