from __future__ import annotations

import json
from pathlib import Path

import pytest

from compression.engine.policy import InvalidPolicy, PinRule, Policy, UnknownPolicy, load, parse
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES


def faults(text: str, source: str = "mine.toml") -> list[str]:
    with pytest.raises(InvalidPolicy) as refusal:
        parse(text, source)
    assert str(refusal.value).startswith(f"{source}: ")
    return refusal.value.faults


OWN = {"hermes", "chapter", "cache-first", "recall-first", "none", "recorded", "sliding-window"}
NAMES = ", ".join(sorted(PRESETS))


def test_the_presets_are_our_own_and_a_policy_for_each_reference() -> None:
    assert set(PRESETS) == OWN | set(REFERENCES)
    assert all(policy.about for policy in PRESETS.values())
    assert all(PRESETS[name].reference == name for name in REFERENCES)


def test_the_chapters_figures() -> None:
    chapter = PRESETS["chapter"]

    assert (chapter.context_window, chapter.trigger_ratio, chapter.target_ratio) == (100_000, 0.75, 0.5)
    assert (chapter.recent_tokens, chapter.min_result_tokens, chapter.result_floor) == (20_000, 500, 150)
    assert chapter.code_output == "head_tail"


def test_a_preset_is_loaded_by_its_name() -> None:
    assert load("chapter") is PRESETS["chapter"]


def test_a_partial_file_inherits_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "chapter"\ntrigger_ratio = 0.8\n')

    policy = load(str(path))

    assert policy.name == "mine"
    assert policy == PRESETS["chapter"].model_copy(update={"name": "mine", "about": "", "trigger_ratio": 0.8})


def test_without_extends_hermes_gives_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"name": "x", "pins": [{"tool": "*Bash*", "keep_last": 3, "reason": "shell"}]}))

    policy = load(str(path))

    assert policy.pins == (PinRule(tool="*Bash*", keep_last=3, reason="shell"),)
    assert policy.result_ceiling == PRESETS["hermes"].result_ceiling


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbftrigger_ratio = 0.8\n")

    assert load(str(path)).trigger_ratio == 0.8


def test_unknown_fields_are_refused_by_name() -> None:
    assert faults("triger_ratio = 0.8\ntarget = 1\n") == ["unknown field triger_ratio", "unknown field target"]


def test_unknown_fields_of_a_pin_are_refused_by_name() -> None:
    assert faults('{"pins": [{"tool": "a", "glob": "b"}]}', "p.json") == ["unknown field pins.0.glob"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("trigger_ratio = 1.5", "trigger_ratio: Input should be less than or equal to 1"),
        ("trigger_ratio = nan", "trigger_ratio: Input should be less than or equal to 1"),
        ("min_reclaim_tokens = -1", "min_reclaim_tokens: Input should be greater than or equal to 0"),
        ("min_reclaim_tokens = true", "min_reclaim_tokens: true and false are no value of this field"),
        ("schema_version = 3", "schema_version: Input should be 2"),
        ('strategy = "magic"', "strategy: Input should be 'threshold', 'sliding', 'none', 'recorded' or 'reference'"),
        ('extends = "nobody"', f"extends: no preset 'nobody', known: {NAMES}"),
        ('extends = ["hermes"]', f"extends: no preset ['hermes'], known: {NAMES}"),
        ('reference = "codex"', "reference and parameters belong to the strategy reference"),
        ('strategy = "reference"', f"reference: no None, known: {', '.join(sorted(REFERENCES))}"),
        ("pins = [{}]", "pins.0: a pin rule needs at least one of tool, role, pattern, is_error"),
        ("recent_min = 50_000", "recent_min 50000 lies above recent_max 40000"),
        ("result_floor = 2_000", "result_floor 2000 lies above result_ceiling 1000"),
        ("context_window = 2_000\nreserve_output = 2_000", "reserve_output 2000 leaves nothing of context_window"),
    ],
)
def test_a_fault_is_named_and_not_clamped(text: str, fault: str) -> None:
    assert faults(text) == [fault]


def test_a_target_at_the_trigger_is_refused() -> None:
    (fault,) = faults("target_ratio = 0.75")

    assert fault.startswith("target_ratio 0.75 must lie below trigger_ratio 0.75")


def test_a_pattern_that_is_no_re2_expression_is_refused() -> None:
    (fault,) = faults('{"pins": [{"pattern": "(a"}]}', "p.json")

    assert fault == "pins.0: '(a' is no RE2 expression: missing ): (a"


def test_each_branch_of_a_window_says_what_it_takes() -> None:
    assert faults("context_window = 10") == [
        "context_window: Input should be greater than or equal to 1000",
        "context_window: Input should be 'auto'",
    ]


@pytest.mark.parametrize(
    ("text", "source", "fault"),
    [
        ("a = [", "p.toml", "not TOML: "),
        ("a = " + "[" * 5_000, "p.toml", "not TOML: "),
        ('{"a": ', "p.json", "not JSON: "),
        ('{"a": ' + "[" * 5_000, "p.json", "not JSON: "),
        ("[]", "p.json", "a policy file is one object of fields"),
    ],
)
def test_a_text_that_is_no_policy_file_is_refused(text: str, source: str, fault: str) -> None:
    (found,) = faults(text, source)

    assert found.startswith(fault)


@pytest.mark.parametrize("name", ["nobody", "missing.toml", "folder/"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownPolicy) as refusal:
        load(name)

    assert str(refusal.value) == (f"no policy {name!r}: use one of {NAMES}, or the path of a .toml or .json file")


def test_a_file_that_is_no_text_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidPolicy, match="cannot be read"):
        load(str(path))


def test_name_and_description_change_no_digest() -> None:
    policy = Policy()

    assert policy.model_copy(update={"name": "x", "about": "y"}).digest == policy.digest
    assert policy.model_copy(update={"recent_tokens": 1}).digest != policy.digest


@pytest.mark.parametrize(
    ("tokens", "budget"), [(500, 150), (3_000, 150), (4_000, 200), (20_000, 1_000), (90_000, 1_000)]
)
def test_a_stubs_budget_is_a_share_between_floor_and_ceiling(tokens: int, budget: int) -> None:
    assert Policy().stub_budget(tokens) == budget


def test_every_field_says_what_it_means_and_where_it_belongs() -> None:
    schema = Policy.model_json_schema()

    assert all(field["description"] for field in schema["properties"].values())
    assert schema["additionalProperties"] is False


def test_every_impossible_combination_is_named_not_only_the_first() -> None:
    found = faults('{"trigger_ratio": 0.4, "result_floor": 900, "result_ceiling": 100}', "p.json")

    assert [fault.split()[0] for fault in found] == ["target_ratio", "result_floor"]


def test_a_pin_rule_for_a_tool_without_a_name_is_refused() -> None:
    (fault,) = faults('{"pins": [{"tool": ""}]}', "p.json")

    assert fault == "pins.0.tool: String should have at least 1 character"
