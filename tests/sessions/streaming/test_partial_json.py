"""The scanner of JSON in pieces, against a parser of whole documents."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.streaming.partial_json import DEEPEST, LONGEST_SCALAR, Ending, PartialJson, Piece

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def read(*texts: str) -> tuple[list[Piece], Ending, PartialJson]:
    scanner = PartialJson()
    pieces = [piece for text in texts for piece in scanner.feed(text)]
    ending = scanner.finish()
    return [*pieces, *ending.pieces], ending, scanner


def strings(pieces: list[Piece]) -> dict[tuple[str | int, ...], str]:
    """What the pieces of each string add up to; a path that opens again starts over."""
    found: dict[tuple[str | int, ...], str] = {}
    closed: set[tuple[str | int, ...]] = set()
    for piece in pieces:
        if piece.kind != "string":
            continue
        found[piece.path] = piece.text if piece.path in closed else found.get(piece.path, "") + piece.text
        closed.discard(piece.path)
        if piece.closed:
            assert found[piece.path] == piece.value
            closed.add(piece.path)
    return found


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], str]:
    if isinstance(value, str):
        return {path: value}
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {found: text for key, one in inner for found, text in leaves(one, (*path, key)).items()}


def splits(text: str) -> list[tuple[str, ...]]:
    """The text whole and in every two and three pieces, empty ones too, and in single characters."""
    cuts = range(len(text) + 1)
    return [
        (text,),
        tuple(text),
        *((text[:a], text[a:]) for a in cuts),
        *((text[:a], text[a:b], text[b:]) for a, b in combinations(cuts, 2)),
    ]


@settings(deadline=None)
@given(VALUES, st.booleans())
def test_a_document_reads_the_same_at_every_split(value: Any, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    for parts in splits(text) if len(text) < 60 else [(text,), tuple(text)]:
        pieces, ending, scanner = read(*parts)
        assert ending.whole
        assert scanner.value == value
        assert strings(pieces) == leaves(value)


@settings(deadline=None)
@given(VALUES, st.data())
def test_a_document_cut_short_is_never_whole(value: Any, data: st.DataObject) -> None:
    text = json.dumps([value])
    cut = data.draw(st.integers(1, len(text) - 1))
    assert not read(text[:cut])[1].whole


@settings(deadline=None)
@given(st.text(alphabet="{}[]\",:\\ux0159eE.-+ntfNI \n'", max_size=30))
def test_what_a_whole_document_parser_accepts_is_what_is_whole(text: str) -> None:
    pieces, ending, scanner = read(*text)
    again = read(text)
    assert (ending.whole, scanner.value, strings(pieces)) == (again[1].whole, again[2].value, strings(again[0]))
    if ending.empty or scanner.flags:
        return
    try:
        expected = json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        assert not ending.whole
    else:
        assert ending.whole
        assert scanner.value == expected


def test_a_string_is_handed_out_while_it_is_open() -> None:
    scanner = PartialJson()
    assert scanner.feed('{"path": "a.t') == [Piece(("path",), "a.t")]
    assert scanner.feed("xt") == [Piece(("path",), "xt")]
    assert scanner.feed('", "n') == [Piece(("path",), "", True, "a.txt")]
    assert not scanner.complete


def test_paths_count_the_items_of_arrays() -> None:
    pieces, _, _ = read('{"edits": [{"new": "x"}, {"new": "y"}]}')
    assert strings(pieces) == {("edits", 0, "new"): "x", ("edits", 1, "new"): "y"}


def test_a_number_stays_open_until_something_follows_it() -> None:
    scanner = PartialJson()
    assert scanner.feed('{"n": 1') == []
    assert scanner.feed("5") == []
    assert scanner.feed("}") == [
        Piece(("n",), "", True, 15, "scalar"),
        Piece((), "", True, {"n": 15}, "object"),
    ]


def test_the_end_closes_a_number_at_the_top() -> None:
    assert read("1", "5")[1] == Ending(True, False, "", (Piece((), "", True, 15, "scalar"),))


@pytest.mark.parametrize("parts", [(), ("",), ("", " \n")])
def test_no_arguments_at_all_are_an_empty_object(parts: tuple[str, ...]) -> None:
    _, ending, scanner = read(*parts)
    assert ending == Ending(True, True, "")
    assert scanner.value == {}


@pytest.mark.parametrize("text", ["null", '"text"', "[1]", "true", "-0.5e3"])
def test_the_top_need_not_be_an_object(text: str) -> None:
    _, ending, scanner = read(*text)
    assert (ending.whole, scanner.value) == (True, json.loads(text))


@pytest.mark.parametrize(
    ("text", "value", "flag"),
    [
        (r'"\ud83d\ude00"', "😀", None),
        (r'"\ud83dx"', "\ufffdx", "lone_surrogate"),
        (r'"\ud83d\n"', "\ufffd\n", "lone_surrogate"),
        (r'"\ud83d"', "\ufffd", "lone_surrogate"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀", "lone_surrogate"),
        (r'"\ude00"', "\ufffd", "lone_surrogate"),
        ('"\ud83d\ude00"', "😀", None),
        ('"a\nb"', "a\nb", "raw_control"),
        (r'"\d\q"', r"\d\q", "invalid_escape"),
        (r'"\u12zz"', r"\u12zz", "invalid_escape"),
    ],
)
def test_escapes_are_decoded_alike_at_every_split(text: str, value: str, flag: str | None) -> None:
    for parts in splits(text):
        pieces, ending, scanner = read(*parts)
        assert (ending.whole, scanner.value, strings(pieces)) == (True, value, {(): value})
        assert scanner.flags == ({flag} if flag else set())


def test_the_later_of_two_equal_keys_stands_and_is_flagged() -> None:
    pieces, _, scanner = read(*'{"a": "x", "a": "yz"}')
    assert (scanner.value, scanner.flags, strings(pieces)) == ({"a": "yz"}, {"duplicate_key"}, {("a",): "yz"})


@pytest.mark.parametrize(
    ("text", "at", "why"),
    [
        ('{"a": 1} {"b": 2}', 9, "something follows the document"),
        ("{'a': 1}", 1, "a key without double quotes"),
        ('{"a": NaN}', 6, "no JSON value"),
        ("-Infinity ", 9, "no JSON number, true, false or null"),
        ('{"a" 1}', 5, "a key without a colon"),
        ("[1 2]", 3, "values without a comma between them"),
        ("[1,]", 3, "no JSON value"),
        ('{"a": 1,}', 8, "a key without double quotes"),
        ("[01]", 3, "no JSON number, true, false or null"),
        ("[" * (DEEPEST + 1), DEEPEST, "nested deeper than 64"),
    ],
)
def test_what_is_not_json_breaks_where_it_stands(text: str, at: int, why: str) -> None:
    for parts in ((text,), tuple(text)):
        _, ending, scanner = read(*parts)
        assert (scanner.broken, ending) == ((at, why), Ending(False, False, why))


def test_a_number_of_endless_digits_is_refused() -> None:
    assert not read(*["9" * 100] * (LONGEST_SCALAR // 100 + 1))[1].whole


def test_nothing_comes_after_a_break() -> None:
    scanner = PartialJson()
    scanner.feed("{'")
    assert scanner.feed('{"a": "x"}') == []
