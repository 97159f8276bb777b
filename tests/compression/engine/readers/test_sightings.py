import re

from compression.engine.readers.sightings import Sightings

LINES = ["first error", "", "error and error", "none", "the last: panic"]


def test_each_line_that_holds_a_word_is_found_once() -> None:
    assert Sightings(LINES).of(("error", "panic")) == {0, 2, 4}


def test_a_word_does_not_reach_over_a_line_break() -> None:
    assert Sightings(["half a wo", "rd"]).of(("word",)) == set()


def test_lines_are_found_by_a_pattern_too() -> None:
    assert Sightings(LINES).matching(re.compile(r"e\w+r")) == {0, 2}


def test_no_lines_hold_nothing() -> None:
    assert Sightings([]).of(("error",)) == set()
