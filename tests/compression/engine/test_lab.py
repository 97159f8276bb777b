"""The bench for one output: a stub to order, its lines, and what other policies leave of it."""

from __future__ import annotations

import pytest

from compression.engine import lab
from compression.engine.compressors import UnknownKind
from compression.engine.lab import EXCHANGE_TOKENS, EXCHANGES, WINDOW, Elsewhere, elsewhere, tried
from compression.engine.policy import PinRule, Policy
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.engine.stubs import Stubber

TABLE = "name,age\n" + "\n".join(f"person_{n},{n}" for n in range(900))
COMMAND = "\n".join(f"step {n} of the build went by without a word about step {n + 1}" for n in range(300))
ACTING = [policy for policy in PRESETS.values() if policy.strategy not in ("none", "recorded")]


@pytest.fixture(scope="module")
def stubber() -> Stubber:
    return Stubber()


@pytest.fixture(scope="module")
def others(stubber: Stubber) -> dict[str, Elsewhere]:
    return {one.policy: one for one in elsewhere(TABLE, ACTING, tool="Bash", stubber=stubber)}


def one(text: str, policy: Policy, stubber: Stubber, *, tool: str = "Bash") -> Elsewhere:
    [found] = elsewhere(text, [policy], tool=tool, stubber=stubber)
    return found


# -- the stub


def test_the_kind_is_found_and_a_stub_of_its_own_keeps_to_its_budget(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], budget=120, allocation="per_result", stubber=stubber)

    assert (found.content.kind, found.budget, found.allocation) == ("table", 120, "per_result")
    assert found.stub is not None
    assert found.stub.body_tokens <= 120


def test_novelty_spends_its_budget_on_the_body_too(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], budget=120, stubber=stubber)

    assert found.stub is not None
    assert (found.allocation, found.stub.compressor) == ("novelty", "novelty")
    assert found.stub.body_tokens <= 120


def test_novelty_does_not_repeat_what_the_call_says(stubber: Stubber) -> None:
    text = "\n".join(f"wrote src/part_{n}/module_{n}.py after a look at all of it" for n in range(200))
    arguments = '{"command": "build src/part_7/module_7.py"}'

    alone = tried(text, policy=PRESETS["hermes"], budget=2_000, stubber=stubber)
    beside = tried(text, policy=PRESETS["hermes"], arguments=arguments, budget=2_000, stubber=stubber)

    assert alone.stub is not None
    assert beside.stub is not None
    assert ("module_7.py" in alone.stub.text, "module_7.py" in beside.stub.text) == (True, False)


def test_the_budget_is_the_policys_clamp_when_none_is_given(stubber: Stubber) -> None:
    policy = PRESETS["chapter"]

    found = tried(TABLE, policy=policy, stubber=stubber)

    assert found.budget == policy.stub_budget(found.tokens)


def test_a_chosen_kind_goes_before_what_is_found_and_is_filled_per_result(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], kind="log", stubber=stubber)

    assert (found.content.kind, found.content.why, found.allocation) == ("log", "chosen here", "per_result")


def test_a_chosen_kind_that_is_also_found_keeps_its_reason(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], kind="table", stubber=stubber)

    assert (found.content.why, found.allocation) == ("csv table: 100% of the lines are its rows", "novelty")


def test_a_word_that_is_no_kind_is_refused(stubber: Stubber) -> None:
    with pytest.raises(UnknownKind, match="poem"):
        tried(TABLE, policy=PRESETS["hermes"], kind="poem", stubber=stubber)


def test_a_policy_that_keeps_head_and_tail_does_so_here(stubber: Stubber) -> None:
    found = tried(COMMAND, policy=PRESETS["chapter"], kind="code_output", budget=2_000, stubber=stubber)

    assert found.stub is not None
    assert found.stub.compressor == "head_tail"
    assert [n for n, (_, is_kept) in enumerate(found.lines) if is_kept] == [*range(20), *range(290, 300)]


def test_what_fits_its_budget_is_kept_whole(stubber: Stubber) -> None:
    found = tried("one line", policy=PRESETS["hermes"], stubber=stubber)

    assert (found.stub, found.lines, found.claims) == (None, (("one line", True),), (0, 0, []))


def test_names_and_numbers_of_a_stub_are_counted_as_claims(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], budget=120, allocation="per_result", stubber=stubber)

    good, claimed, bad = found.claims
    assert (good, bad) == (claimed, [])
    assert claimed > 10


# -- its lines


def test_every_line_is_told_kept_or_dropped(stubber: Stubber) -> None:
    found = tried(TABLE, policy=PRESETS["hermes"], budget=120, allocation="per_result", stubber=stubber)

    assert [line for line, _ in found.lines] == TABLE.split("\n")
    assert found.lines[0] == ("name,age", True)
    assert found.lines[451] == ("person_450,450", False)
    assert (found.kept, found.filled) == (sum(is_kept for _, is_kept in found.lines), 901)


def test_blank_lines_count_neither_as_kept_nor_as_dropped(stubber: Stubber) -> None:
    found = tried("first\n\n\nlast", policy=PRESETS["hermes"], stubber=stubber)

    assert (found.kept, found.filled, len(found.lines)) == (2, 2, 4)


def test_a_signature_is_kept_though_its_brace_is_not(stubber: Stubber) -> None:
    body = "\n".join(f"\tcount += {n}\n\tlog.Print(count)" for n in range(120))
    text = f"package shop\n\nfunc Refund(order string) error {{\n{body}\n}}\n"

    found = tried(
        text, policy=PRESETS["hermes"], arguments='{"file_path": "shop.go"}', kind="source_code", budget=60,
        stubber=stubber,
    )  # fmt: skip

    assert found.lines[2] == ("func Refund(order string) error {", True)


def test_a_line_that_was_clipped_is_kept() -> None:
    told = [*lab._told(["a long line that goes on and on", "another one"], "a long line that …")]

    assert told == [("a long line that goes on and on", True), ("another one", False)]


def test_wrapped_output_is_shown_as_its_compressor_reads_it(stubber: Stubber) -> None:
    found = tried('{"output": "one\\ntwo", "exit_code": 1}', policy=PRESETS["hermes"], stubber=stubber)

    assert (found.lines, found.is_unwrapped) == ((("one", True), ("two", True)), True)


def test_numbers_that_lines_came_with_stay(stubber: Stubber) -> None:
    found = tried("     1→import os\n     2→\n     3→import sys", policy=PRESETS["hermes"], stubber=stubber)

    assert [line for line, _ in found.lines] == ["1→import os", "", "3→import sys"]
    assert (found.is_numbered, found.is_unwrapped) == (True, False)


# -- elsewhere


def test_exchanges_have_about_the_tokens_that_are_told(stubber: Stubber) -> None:
    transcript, _place = lab._session("x", "", "", stubber)

    tokens = sum(map(sum, transcript.counts)) / len(transcript.turns)
    assert abs(tokens - EXCHANGE_TOKENS) < 0.05 * EXCHANGE_TOKENS
    assert tokens * EXCHANGES > WINDOW


def test_every_reference_is_asked(others: dict[str, Elsewhere]) -> None:
    assert set(REFERENCES) <= set(others)


def test_every_policy_acts_on_a_large_output_that_has_grown_old(stubber: Stubber) -> None:
    large = "\n".join(f"record_{n} holds value {n * 7919}" for n in range(6_000))

    found = elsewhere(large, ACTING, tool="Bash", stubber=stubber)

    assert [one.policy for one in found if one.fate == "whole"] == []


def test_a_reference_leaves_its_placeholder(others: dict[str, Elsewhere]) -> None:
    found = others["opencode-prune"]

    assert (found.fate, found.text, found.address) == ("placeholder", "[Old tool result content cleared]", "")


def test_what_leaves_with_the_history_says_with_how_many(others: dict[str, Elsewhere]) -> None:
    found = others["openhands"]

    assert (found.fate, found.reason) == ("left", "241 events condensed")
    assert f"of {found.messages} messages" in found.text


def test_what_a_reference_simulates_is_said(others: dict[str, Elsewhere]) -> None:
    assert others["full-summary"].simulated == REFERENCES["full-summary"].simulated
    assert others["opencode-prune"].simulated == ""


def test_a_limit_that_the_output_does_not_reach_leaves_it_whole(others: dict[str, Elsewhere]) -> None:
    found = others["deepagents-eviction"]

    assert (found.fate, found.text, found.turn) == ("whole", TABLE, None)
    assert found.reason == "it never acted: nothing here met its rules"


def test_ours_can_be_recalled(others: dict[str, Elsewhere]) -> None:
    assert others["hermes"].fate == "stub"
    assert others["hermes"].address in others["hermes"].text


def test_a_result_too_small_for_our_policy_says_how_small(stubber: Stubber) -> None:
    found = one("ok\n" * 20, PRESETS["chapter"], stubber)

    assert (found.fate, found.reason) == ("whole", "it leaves results of up to 500 tokens alone")


def test_a_pinned_result_says_by_what(stubber: Stubber) -> None:
    policy = PRESETS["chapter"].model_copy(update={"pins": (PinRule(tool="Roster", reason="names of people"),)})

    found = one(TABLE, policy, stubber, tool="Roster")

    assert (found.fate, found.reason) == ("whole", "pinned: names of people")


def test_a_reference_that_acts_on_others_only_says_so(stubber: Stubber) -> None:
    found = one("ok", PRESETS["gemini-masking"], stubber)

    assert found.fate == "whole"
    assert found.reason.endswith("by its rules never on this result")


def test_a_window_that_is_never_full_is_never_acted_on(stubber: Stubber) -> None:
    found = one(TABLE, PRESETS["hermes"].model_copy(update={"context_window": 2_000_000}), stubber)

    assert (found.fate, found.reason) == ("whole", "it never acted: nothing here met its rules")
