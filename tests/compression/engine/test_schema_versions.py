"""What older policies say: they are read as they were meant, and do what they did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compression.engine.edits import Event
from compression.engine.policy import FIRST_VERSION, InvalidPolicy, Policy, parse
from compression.engine.presets import PRESETS
from tests.compression.engine.builders import SessionBuilder, run, words

# Everything that a stored policy of version 1 held, here of the preset hermes of its time, for a small window.
STORED: dict[str, Any] = {
    "schema_version": 1,
    "name": "hermes",
    "about": "Our own.",
    "strategy": "threshold",
    "context_window": 4_000,
    "trigger_ratio": 0.75,
    "target_ratio": 0.5,
    "min_reclaim_tokens": 100,
    "reserve_output": 0,
    "recent_tokens": 300,
    "recent_mode": "fixed",
    "recent_min": 4_000,
    "recent_max": 40_000,
    "pin_latest_user": True,
    "recall_hold_turns": 10,
    "pins": [{"tool": "*todo*", "role": None, "pattern": None, "is_error": None, "keep_last": 1, "reason": "tasks"}],
    "arrival_limit_tokens": None,
    "thrash_guard": True,
    "min_result_tokens": 100,
    "selection": "largest_first",
    "allocation": "per_result",
    "context_aware": True,
    "novelty_ceiling": 0.3,
    "result_ratio": 0.05,
    "result_floor": 20,
    "result_ceiling": 40,
    "code_output": "errors_first",
}


def session() -> SessionBuilder:
    """A result that stands twice, and after that more than the window holds."""
    built = SessionBuilder()
    built.user()
    for n in range(3):
        built.turn(("Bash", words(600, f"w{n % 2}x")))
    for n in range(5):
        built.turn(("Bash", words(80, f"s{n}x")), text=words(700, f"t{n}x"))
    built.turn()
    return built


def events(fields: dict[str, Any]) -> tuple[Event, ...]:
    return run(session(), Policy.model_validate(fields)).events


def test_a_stored_policy_of_the_first_version_is_read() -> None:
    policy = Policy.model_validate(STORED)

    assert policy.schema_version == 2
    assert {name: getattr(policy, name) for name in FIRST_VERSION} == {**FIRST_VERSION, "min_result_tokens": 100}
    assert json.loads(policy.model_dump_json(include=set(STORED) - {"schema_version"})) == {
        name: value for name, value in STORED.items() if name != "schema_version"
    }


def test_a_stored_policy_of_the_first_version_does_what_it_did() -> None:
    done = events(STORED)

    # The largest results go, each with a stub of its own; nothing is superseded, no ladder climbed.
    assert [(e.turn, e.kind, [(x.message, x.kind) for x in e.edits]) for e in done] == [
        (5, "compress", [(2, "stub"), (4, "stub"), (6, "stub")]),
        (7, "skip", []),
    ]
    assert done[-1].repeats == 1


def test_the_same_fields_as_of_today_use_the_ladder_and_what_is_superseded() -> None:
    today = {**STORED, "schema_version": 2}

    kinds = {event.kind for event in events(today)}
    edits = {edit.kind for event in events(today) for edit in event.edits}

    assert "aggressive" in kinds
    assert "superseded" in edits


def test_a_stored_policy_is_written_back_as_of_today_and_still_means_the_same() -> None:
    policy = Policy.model_validate(STORED)

    assert Policy.model_validate(policy.model_dump()) == policy
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


def test_a_file_of_the_first_version_inherits_what_that_version_said() -> None:
    policy = parse("schema_version = 1\ntrigger_ratio = 0.8\n", "mine.toml")

    assert policy.trigger_ratio == 0.8
    assert {name: getattr(policy, name) for name in FIRST_VERSION} == FIRST_VERSION


def test_a_file_without_a_version_inherits_what_the_preset_says_today() -> None:
    policy = parse("trigger_ratio = 0.8\n", "mine.toml")

    assert {name: getattr(policy, name) for name in FIRST_VERSION} == {
        name: getattr(PRESETS["hermes"], name) for name in FIRST_VERSION
    }


def test_a_file_of_the_first_version_may_say_what_came_later() -> None:
    policy = parse("schema_version = 1\nladder = true\n", "mine.toml")

    assert policy.ladder
    assert policy.allocation == "per_result"


@pytest.mark.parametrize("version", ["3", "0", "'2'"])
def test_a_version_that_nobody_knows_is_refused_with_the_one_that_is(version: str) -> None:
    with pytest.raises(InvalidPolicy) as refusal:
        parse(f"schema_version = {version}\n", "mine.toml")

    assert str(refusal.value) == "mine.toml: schema_version: Input should be 2"
