"""A policy becomes form fields and form fields a policy; what cannot be meant is named where it stands."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compression.engine.policy import PinRule, Policy
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.policy_fields import LABELS, SECTIONS, SETTINGS
from compression.policy_form import RULES, PolicyForm, form_data

HERMES = PRESETS["hermes"]
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)
SHARES = st.floats(0, 1, allow_subnormal=False)


@st.composite
def pin_rules(draw: st.DrawFn) -> PinRule:
    given_fields: dict[str, Any] = {
        "tool": draw(st.none() | WORDS),
        "role": draw(st.none() | st.sampled_from(("system", "user", "assistant", "tool"))),
        "pattern": draw(st.none() | st.sampled_from(("TODO", r"\d{3,}", "a|b", "<script>"))),
        "is_error": draw(st.none() | st.booleans()),
    }
    if not any(value is not None for value in given_fields.values()):
        given_fields["tool"] = "*todo*"
    keep_last = draw(st.none() | st.integers(1, 1_000))
    return PinRule(**given_fields, keep_last=keep_last, reason=draw(WORDS))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any policy that the model allows, but for control characters, which no form field can hold."""
    low, high = sorted((draw(st.integers(1, 99)), draw(st.integers(1, 99))))
    floor, ceiling = sorted((draw(st.integers(20, 100_000)), draw(st.integers(20, 100_000))))
    least, most = sorted((draw(st.integers(0, 5_000_000)), draw(st.integers(0, 5_000_000))))
    window = draw(st.none() | st.integers(1_000, 20_000_000))
    reserve = draw(st.integers(0, 1_000_000 if window is None else min(window - 1, 1_000_000)))
    strategy = draw(st.sampled_from(get_args(Policy.model_fields["strategy"].annotation)))
    return Policy(
        name=draw(WORDS),
        about=draw(st.just("") | WORDS),
        strategy=strategy,
        reference=draw(st.sampled_from(sorted(REFERENCES))) if strategy == "reference" else None,
        context_window="auto" if window is None else window,
        trigger_ratio=(high + 1) / 100,
        target_ratio=low / 100,
        min_reclaim_tokens=draw(st.integers(0, 1_000_000)),
        reserve_output=reserve,
        recent_tokens=draw(st.integers(0, 5_000_000)),
        recent_mode=draw(st.sampled_from(("fixed", "adaptive"))),
        recent_min=least,
        recent_max=most,
        pin_latest_user=draw(st.booleans()),
        recall_hold_turns=draw(st.integers(0, 10_000)),
        pins=tuple(draw(st.lists(pin_rules(), max_size=6))),
        arrival_limit_tokens=draw(st.none() | st.integers(500, 1_000_000)),
        thrash_guard=draw(st.booleans()),
        min_result_tokens=draw(st.integers(20, 1_000_000)),
        selection=draw(st.sampled_from(("largest_first", "oldest_first", "all"))),
        result_ratio=draw(SHARES),
        result_floor=floor,
        result_ceiling=ceiling,
        code_output=draw(st.sampled_from(("errors_first", "head_tail"))),
    )


def faults(base: Policy = HERMES, /, **typed: str) -> dict[str, list[str]]:
    form = PolicyForm({**form_data(base), **typed}, base)
    assert form.policy is None
    return form.faults


@given(policies())
def test_any_policy_comes_back_from_its_form(policy: Policy) -> None:
    form = PolicyForm(form_data(policy), HERMES)

    assert form.faults == {}
    assert form.policy == policy


@given(st.dictionaries(st.sampled_from(sorted(SETTINGS)), st.text(max_size=20), max_size=6))
def test_whatever_is_typed_gives_a_policy_or_a_fault(typed: dict[str, str]) -> None:
    form = PolicyForm({**form_data(HERMES), **typed}, HERMES)

    assert (form.policy is None) == bool(form.faults)


def test_every_field_of_the_model_is_in_the_form_under_a_name_for_people() -> None:
    assert {*SETTINGS, *RULES, "pins", "name", "about", "schema_version"} == set(Policy.model_fields)
    assert set(LABELS) == set(Policy.model_fields) - {"schema_version"}
    assert {setting.section for setting in SETTINGS.values()} == set(SECTIONS)


def test_bounds_are_said_in_words() -> None:
    assert SETTINGS["trigger_ratio"].bounds == "above 0, at most 1"
    assert SETTINGS["target_ratio"].bounds == "above 0, below 1"
    assert SETTINGS["min_result_tokens"].bounds == "20 to 1,000,000"
    assert SETTINGS["context_window"].bounds == "auto or 1,000 to 20,000,000"


@pytest.mark.parametrize("typed", ["12000", "12,000", "12 000", "12\u202f000", " 12_000 "])
def test_whole_numbers_may_be_grouped(typed: str) -> None:
    form = PolicyForm({**form_data(HERMES), "recent_tokens": typed}, HERMES)

    assert form.policy == HERMES.model_copy(update={"recent_tokens": 12_000})


def test_a_share_may_be_a_percentage() -> None:
    form = PolicyForm({**form_data(HERMES), "trigger_ratio": "80 %"}, HERMES)

    assert form.policy == HERMES.model_copy(update={"trigger_ratio": 0.8})


@pytest.mark.parametrize(
    ("name", "typed", "fault"),
    [
        ("recent_tokens", "many", "'many' is no whole number; write one such as 4,096"),
        ("recent_tokens", "1,5", "'1,5' is no whole number; write one such as 4,096"),
        ("recent_tokens", "9" * 30, f"'{'9' * 30}' is no whole number; write one such as 4,096"),
        ("context_window", "big", "'big' is no whole number; write one such as 4,096, or auto"),
        ("context_window", "999", "must be at least 1,000"),
        ("trigger_ratio", "1.2", "must be at most 1"),
        ("trigger_ratio", "nan", "'nan' is no number; write one such as 0.75 or 75 %"),
        ("trigger_ratio", "0,75", "'0,75' is no number; write one such as 0.75 or 75 %"),
        ("target_ratio", "0", "must be above 0"),
        ("min_result_tokens", "", "is empty; the default is 500"),
        ("selection", "newest", "'newest' is none of largest_first, oldest_first, all"),
        ("thrash_guard", "1", "must be on or off"),
        ("name", "", "is empty"),
        ("name", "a\nb", "holds a line break or another control character; a pattern writes \\n for one"),
    ],
)
def test_what_cannot_be_meant_is_named_at_its_field(name: str, typed: str, fault: str) -> None:
    assert faults(**{name: typed}) == {name: [fault]}


def test_an_impossible_combination_is_named_at_both_fields_and_once_at_the_top() -> None:
    form = PolicyForm({**form_data(HERMES), "trigger_ratio": "0.4"}, HERMES)

    fault = "Target 0.5 must lie below Trigger 0.4: without a margin every call would be an event"
    assert form.faults == {"target_ratio": [fault], "trigger_ratio": [fault]}
    assert form.summary == [("target_ratio", fault)]


def test_several_faults_are_all_named() -> None:
    assert set(faults(recent_tokens="x", result_floor="5", trigger_ratio="2")) == {
        "recent_tokens", "result_floor", "trigger_ratio",
    }  # fmt: skip


def test_what_was_typed_stays_as_it_was_typed() -> None:
    form = PolicyForm({**form_data(HERMES), "recent_tokens": "<b>many"}, HERMES)

    assert form.raw("recent_tokens") == "<b>many"


def test_a_field_that_was_not_sent_keeps_what_is_in_force() -> None:
    chapter = PRESETS["chapter"]

    form = PolicyForm({"trigger_ratio": "0.8"}, chapter)

    assert form.policy == chapter.model_copy(update={"trigger_ratio": 0.8})


def test_a_rule_with_remove_ticked_and_an_empty_row_are_left_out() -> None:
    typed = {**form_data(HERMES), "pins-1-remove": "on", "pins-9-tool": "", "pins-9-reason": ""}

    form = PolicyForm(typed, HERMES)

    assert form.policy is not None
    assert form.policy.pins == (HERMES.pins[0], *HERMES.pins[2:])


def test_a_new_row_is_a_rule_with_a_reason_of_its_own() -> None:
    form = PolicyForm({**form_data(HERMES), "pins-4-pattern": "TODO", "pins-4-is_error": "yes"}, HERMES)

    assert form.policy is not None
    assert form.policy.pins[-1] == PinRule(pattern="TODO", is_error=True, reason="pinned")


def test_no_rule_at_all_can_be_said() -> None:
    form = PolicyForm({**form_data(HERMES), **{f"pins-{n}-remove": "on" for n in range(4)}}, HERMES)

    assert form.policy is not None
    assert form.policy.pins == ()


def test_a_bad_rule_is_named_at_its_row_also_after_a_removed_one() -> None:
    found = faults(**{"pins-0-remove": "on", "pins-2-keep_last": "0"})

    assert found == {"pins-2": ["keep last: must be at least 1"]}


def test_a_rule_that_says_nothing_is_named() -> None:
    assert faults(**{"pins-7-reason": "why"}) == {
        "pins-7": ["a pin rule needs at least one of tool, role, pattern, is_error"]
    }


def test_too_many_rules_are_named() -> None:
    typed = {f"pins-{n}-tool": "x" for n in range(51)}

    assert faults(**typed) == {"pins": ["at most 50 rules"]}
