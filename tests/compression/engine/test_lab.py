"""The bench for one output: a stub to order, its lines, and what other policies leave of it."""

from __future__ import annotations

import pytest

from compression.engine.compressors import UnknownKind
from compression.engine.lab import EXCHANGES, Elsewhere, elsewhere, tried
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.engine.stubs import Stubber

TABLE = "name,age\n" + "\n".join(f"person_{n},{n}" for n in range(900))


@pytest.fixture(scope="module")
def stubber() -> Stubber:
    return Stubber()


@pytest.fixture(scope="module")
def others(stubber: Stubber) -> dict[str, Elsewhere]:
    policies = [policy for policy in PRESETS.values() if policy.strategy not in ("none", "recorded")]
    return {one.policy: one for one in elsewhere(TABLE, policies, tool="Bash", stubber=stubber)}


def test_the_kind_is_found_and_the_stub_keeps_to_its_budget(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], budget=120, stubber=stubber)

    assert (found.content.kind, found.budget) == ("table", 120)
    assert found.stub is not None
    assert found.stub.body_tokens <= 120


def test_a_chosen_kind_goes_before_what_is_found(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], kind="log", stubber=stubber)

    assert (found.content.kind, found.content.why) == ("log", "chosen here")


def test_a_word_that_is_no_kind_is_refused(stubber: Stubber) -> None:
    with pytest.raises(UnknownKind, match="poem"):
        tried(TABLE, policy=PRESETS["hermes"], kind="poem", stubber=stubber)


def test_every_line_is_told_kept_or_dropped(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], budget=120, stubber=stubber)

    assert [line for line, _ in found.lines] == TABLE.split("\n")
    assert found.lines[0] == ("name,age", True)
    assert ("person_450,450", False) in found.lines
    assert 0 < found.kept < 100


def test_what_needs_no_stub_is_kept_whole(stubber: Stubber) -> None:
    found = tried("one line", policy=PRESETS["hermes"], stubber=stubber)

    assert (found.stub, found.lines) == (None, (("one line", True),))


def test_every_reference_is_asked(others: dict[str, Elsewhere]) -> None:
    assert set(REFERENCES) <= set(others)


def test_a_reference_leaves_its_placeholder(others: dict[str, Elsewhere]) -> None:
    found = others["opencode-prune"]

    assert (found.fate, found.address) == ("placeholder", "")
    assert found.turn is not None
    assert found.turn <= EXCHANGES
    assert found.tokens < 20


def test_what_leaves_with_the_history_is_said_to_have_left(others: dict[str, Elsewhere]) -> None:
    assert (others["full-summary"].fate, others["full-summary"].simulated) == ("left", True)


def test_a_limit_that_the_output_does_not_reach_leaves_it_whole(others: dict[str, Elsewhere]) -> None:
    found = others["deepagents-eviction"]

    assert (found.fate, found.text, found.turn) == ("whole", TABLE, None)


def test_ours_can_be_recalled(others: dict[str, Elsewhere]) -> None:
    assert others["hermes"].fate == "stub"
    assert others["hermes"].address in others["hermes"].text
