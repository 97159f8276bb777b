"""Long texts in a call's arguments lose their middle; everything else stays byte for byte."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from compression.engine.call_arguments import shortened
from tests.compression.engine.builders import Quarters

COUNT = Quarters().count_many
ADDRESS = "hermes:2d711642b726"
LONG = "\n".join(f"line {n} of the file" for n in range(200))


def test_the_longest_text_keeps_its_beginning_and_its_end() -> None:
    arguments = json.dumps({"file_path": "src/a.py", "content": LONG})
    made = shortened(arguments, 200, COUNT, ADDRESS)

    assert made is not None
    content = json.loads(made)["content"]
    head, note, tail = content.partition("… [")[0], content.partition("… [")[2].partition("] …")[0], content[-40:]
    left_out = len(LONG) - len(content) + len(f"… [{note}] …")
    assert note == f"{left_out:,} characters left out · original {ADDRESS}"
    assert LONG.startswith(head)
    assert head.endswith("\n")
    assert LONG.endswith(tail)
    assert COUNT([made])[0] <= 200


def test_everything_but_the_cut_text_stays_byte_for_byte() -> None:
    arguments = '{ "file_path":"src/ä.py" ,\t"n": 1.50, "content": "' + "word " * 400 + '", "replace_all":false}'
    made = shortened(arguments, 100, COUNT, ADDRESS)

    assert made is not None
    assert made.startswith('{ "file_path":"src/ä.py" ,\t"n": 1.50, "content": "word word ')
    assert made.endswith('word ", "replace_all":false}')


def test_the_largest_text_is_cut_first() -> None:
    arguments = json.dumps({"old": "old words " * 60, "new": "new words " * 600})
    made = shortened(arguments, 1_000, COUNT, ADDRESS)

    assert made is not None
    assert json.loads(made)["old"] == "old words " * 60


def test_escaped_letters_ask_for_an_escaped_note() -> None:
    made = shortened(json.dumps({"content": "größer " * 400}), 200, COUNT, ADDRESS)

    assert made is not None
    assert made.isascii()
    assert "… [" in json.loads(made)["content"]


def test_a_long_key_is_never_cut() -> None:
    assert shortened(json.dumps({"k" * 2_000: 1}), 100, COUNT, ADDRESS) is None


def test_arguments_within_the_limit_are_left_alone() -> None:
    assert shortened(json.dumps({"content": LONG}), 10_000, COUNT, ADDRESS) is None


def test_arguments_that_are_no_json_are_left_alone() -> None:
    assert shortened("*** Begin Patch\n" + "+line\n" * 900, 100, COUNT, ADDRESS) is None


def test_many_short_texts_are_left_alone() -> None:
    assert shortened(json.dumps({"names": ["src/short.py"] * 900}), 100, COUNT, ADDRESS) is None


def test_what_was_cut_as_far_as_it_goes_is_not_cut_again() -> None:
    once = shortened(json.dumps({"content": LONG}), 10, COUNT, ADDRESS)

    assert once is not None
    assert shortened(once, 10, COUNT, ADDRESS) is None


TEXTS = st.one_of(st.text(max_size=30), st.text(min_size=300, max_size=900), st.just(LONG), st.just('\\"\n' * 300))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False))
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from((1, 50, 400)))
def test_structure_keys_and_other_values_are_the_same(value: object, ascii_only: bool, limit: int) -> None:
    arguments = json.dumps(value, ensure_ascii=ascii_only)
    made = shortened(arguments, limit, COUNT, ADDRESS)

    if made is not None:
        assert COUNT([made])[0] < COUNT([arguments])[0]
        assert len(made.encode()) < len(arguments.encode())
        assert made == shortened(arguments, limit, COUNT, ADDRESS)
        _same(value, json.loads(made))


def _same(old: object, new: object) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        assert list(old) == list(new)
        for key in old:
            _same(old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list):
        assert len(old) == len(new)
        for left, right in zip(old, new, strict=True):
            _same(left, right)
    elif isinstance(old, str) and old != new:
        assert isinstance(new, str)
        head, _, rest = new.partition("… [")
        assert ADDRESS in rest
        assert old.startswith(head)
        assert len(old) > 320
    else:
        assert old == new
