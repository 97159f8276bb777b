"""What may be varied, and what is named when it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compression.engine.presets import PRESETS
from compression.sweep_space import MOST_COMBINATIONS, InvalidSpace, combine, read_space, space_of, usual_space

HERMES = PRESETS["hermes"].model_dump(mode="json")


def faults(given: Any, *, is_grid: bool = True) -> list[str]:
    with pytest.raises(InvalidSpace) as caught:
        space_of(given, is_grid=is_grid)
    return caught.value.faults


def test_a_grid_has_every_combination_with_the_last_field_fastest() -> None:
    space = space_of({"trigger_ratio": [0.7, 0.8], "recent_tokens": [1_000, 2_000]}, is_grid=True)

    assert list(space.grid()) == [
        {"trigger_ratio": 0.7, "recent_tokens": 1_000},
        {"trigger_ratio": 0.7, "recent_tokens": 2_000},
        {"trigger_ratio": 0.8, "recent_tokens": 1_000},
        {"trigger_ratio": 0.8, "recent_tokens": 2_000},
    ]


def test_a_range_of_a_grid_is_exact_in_decimals() -> None:
    space = space_of({"trigger_ratio": {"low": 0.5, "high": 0.8, "step": 0.1}}, is_grid=True)

    assert [values["trigger_ratio"] for values in space.grid()] == [0.5, 0.6, 0.7, 0.8]


def test_a_value_alone_is_fixed_and_one_given_twice_counts_once() -> None:
    space = space_of({"context_window": 60_000, "ladder": [True, False, True]}, is_grid=True)

    assert list(space.grid()) == [
        {"context_window": 60_000, "ladder": True},
        {"context_window": 60_000, "ladder": False},
    ]


def test_what_a_space_says_survives_being_stored() -> None:
    given = {"selection": ["all"], "recent_tokens": {"low": 10, "high": 90, "log": True}}

    assert space_of(given, is_grid=False).as_json() == given


def test_a_combination_that_no_policy_can_mean_says_why_and_is_not_bent_into_one() -> None:
    made = combine(HERMES, {"trigger_ratio": 0.5, "target_ratio": 0.5})

    assert made.policy is None
    assert made.why.startswith("target_ratio 0.5 must lie below trigger_ratio 0.5")


def test_a_value_beyond_the_bounds_of_its_field_is_named_by_the_combination() -> None:
    made = combine(HERMES, {"trigger_ratio": 1.5})

    assert (made.policy, made.why) == (None, "trigger_ratio: Input should be less than or equal to 1")


def test_a_combination_changes_what_it_names_and_the_name() -> None:
    made = combine(HERMES, {"trigger_ratio": 0.8})

    assert made.policy is not None
    assert made.policy == PRESETS["hermes"].model_copy(
        update={"trigger_ratio": 0.8, "name": "hermes tuned", "about": ""}
    )


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({}, "a space names the fields to vary, each with a list of values or {low, high, step}"),
        ([], "a space names the fields to vary, each with a list of values or {low, high, step}"),
        ({"trigger_ratio": []}, "trigger_ratio: the list of values is empty"),
        ({"trigger_ratio": {"low": 0.5, "high": 0.9}}, "trigger_ratio: a range of a grid needs a step"),
        ({"trigger_ratio": {"low": 0.9, "high": 0.5, "step": 0.1}}, "trigger_ratio: low 0.9 must lie below high 0.5"),
        ({"trigger_ratio": {"low": "a", "high": 1}}, "trigger_ratio: low, high and step of a range are numbers"),
        ({"trigger_ratio": {"low": True, "high": 1}}, "trigger_ratio: low, high and step of a range are numbers"),
        ({"selection": {"low": 1, "high": 2}}, "selection: has no range, list its values"),
        ({"extends": "chapter"}, "no field is varied"),
    ],
)
def test_a_space_that_says_nothing_is_refused_by_name(given: Any, fault: str) -> None:
    assert faults(given) == [fault]


def test_an_unknown_field_is_named_beside_the_known_ones() -> None:
    (fault,) = faults({"triger_ratio": [0.5]})

    assert fault.startswith("unknown field 'triger_ratio'; a policy has allocation, ")


def test_a_part_of_a_range_that_does_not_exist_is_named() -> None:
    (fault,) = faults({"trigger_ratio": {"from": 0.1, "to": 0.2}})

    assert fault == "trigger_ratio: 'from' is no part of a range, which is {low, high, step, log}"


def test_more_combinations_than_can_be_tried_are_refused_before_any_is_made() -> None:
    (fault,) = faults({"recent_tokens": list(range(1_000)), "min_reclaim_tokens": list(range(1_000))})

    assert fault.startswith(f"1,000,000 combinations, at most {MOST_COMBINATIONS:,} are tried")


def test_a_search_refuses_bounds_that_the_field_does_not_have() -> None:
    (fault,) = faults({"trigger_ratio": {"low": 0.5, "high": 1.5}}, is_grid=False)

    assert fault == "trigger_ratio: 1.5: Input should be less than or equal to 1"


def test_a_search_refuses_a_value_that_the_field_does_not_have() -> None:
    (fault,) = faults({"selection": ["all", "newest"]}, is_grid=False)

    assert fault.startswith("selection: 'newest': Input should be")


@pytest.mark.parametrize("name", ["hermes", "chapter", "cache-first"])
def test_the_usual_space_can_be_searched(name: str) -> None:
    space = usual_space(PRESETS[name])

    assert space_of(space.as_json(), is_grid=False) == space


def test_a_file_that_is_broken_is_named_with_its_fault(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text("trigger_ratio = [0.5")

    with pytest.raises(InvalidSpace, match=r"grid\.toml: not TOML"):
        read_space(path, is_grid=True)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpace, match=r"none\.json: is no file"):
        read_space(tmp_path / "none.json", is_grid=True)
