"""Shelves keep what was asked for last."""

from __future__ import annotations

from compression.engine.shelf import Shelf


def test_what_was_put_is_found() -> None:
    shelf: Shelf[str, int] = Shelf(10)

    assert shelf.put("a", 1, 4) == 1
    assert (shelf.get("a"), shelf.get("b")) == (1, None)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    shelf: Shelf[str, int] = Shelf(10)
    for at, key in enumerate("ab"):
        shelf.put(key, at, 5)
    shelf.get("a")
    shelf.put("c", 2, 5)

    assert [shelf.get(key) for key in "abc"] == [0, None, 2]


def test_a_value_put_again_weighs_once() -> None:
    shelf: Shelf[str, int] = Shelf(10)
    for _ in range(5):
        shelf.put("a", 1, 5)
    shelf.put("b", 2, 5)

    assert (shelf.get("a"), shelf.get("b")) == (1, 2)


def test_the_newest_stays_whatever_it_weighs() -> None:
    shelf: Shelf[str, int] = Shelf(10)
    shelf.put("a", 1, 5)
    shelf.put("b", 2, 500)

    assert (shelf.get("a"), shelf.get("b")) == (None, 2)
