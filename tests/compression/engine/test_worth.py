"""What names are worth, and which of them the rest of the window says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from compression.engine.focus import Focus
from compression.engine.identifiers import occurs
from compression.engine.proposals import WEIGHTS, Prepared, Proposals
from compression.engine.reading import Reading
from compression.engine.snapshots import digest
from compression.engine.tokens import CachedCounter
from compression.engine.transcript import Part
from compression.engine.worth import AGAIN, RELEVANT, said_by, worths
from tests.compression.engine.builders import Words


def prepared(text: str) -> Prepared:
    return Proposals(CachedCounter(Words())).of(Part("tool_result", text, "c", "Bash"), "", digest(text))


def names(result: Prepared) -> set[str]:
    return {name.text for name in result.listing}


def test_a_path_is_said_only_where_it_stands_whole() -> None:
    result = prepared("shop/cart/load.py shop/cart/save.py")

    assert said_by([Reading("see shop/cart/load.py, not shop/cart or save.py")], [result]) == {"shop/cart/load.py"}


def test_a_path_inside_a_longer_one_is_said() -> None:
    assert said_by([Reading("open repo/shop/cart/load.py")], [prepared("shop/cart/load.py")]) == {"shop/cart/load.py"}


def test_pairs_of_words_from_two_texts_say_nothing() -> None:
    texts = [Reading("shop/cart is here"), Reading("cart/load.py is there")]

    assert said_by(texts, [prepared("shop/cart/load.py")]) == set()


PIECES = st.lists(st.sampled_from(["shop", "cart_a", "load", ".py", "/", ".", " ", "\n", "-", "12", "345", "~/"]))


@settings(max_examples=300, deadline=None)
@given(PIECES.map("".join), st.lists(PIECES.map("".join), max_size=3))
def test_said_is_what_stands_in_a_text(result: str, texts: list[str]) -> None:
    own = prepared(result)

    assert said_by([Reading(text) for text in texts], [own]) == {
        name for name in names(own) if any(occurs(name, text) for text in texts)
    }


def test_the_newest_result_has_a_name_and_the_others_make_it_worth_more() -> None:
    one, two = prepared("only_here said_twice"), prepared("said_twice")
    (older, _), (newer, _) = worths([(one, 0), (two, 0)], set(), Focus())

    assert older == {"only_here": WEIGHTS["snake"]}
    assert newer == {"said_twice": WEIGHTS["snake"] * (1 + AGAIN)}


def test_age_takes_from_all_names_alike() -> None:
    one = prepared("some_name src/other/name.py")
    ((fresh, _),) = worths([(one, 0)], set(), Focus())
    ((old, factor),) = worths([(one, 80_000)], set(), Focus())

    assert old == {name: worth * factor for name, worth in fresh.items()}
    assert factor == 0.5


def test_the_share_of_a_name_that_the_work_speaks_of_counts() -> None:
    ((found, _),) = worths([(prepared("parse_invoice"), 0)], set(), Focus(frozenset({"invoice"})))

    assert found == {"parse_invoice": WEIGHTS["snake"] * (1 + (RELEVANT - 1) / 2)}
