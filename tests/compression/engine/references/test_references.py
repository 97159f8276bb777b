"""What holds for every reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from compression.engine.calibration import Calibration
from compression.engine.edits import Edit
from compression.engine.history import History
from compression.engine.invariants import prove
from compression.engine.policy import Policy
from compression.engine.references import REFERENCES
from compression.engine.replay import replay
from compression.engine.transcript import Transcript
from tests.compression.engine.builders import Quarters, SessionBuilder, stubber, words
from tests.compression.engine.generated import transcripts
from tests.compression.engine.references.walking import walk

SMALL: dict[str, list[dict[str, Any]]] = {
    "anthropic-clear-tool-uses": [
        {"trigger_value": 200},
        {"trigger_value": 200, "trigger_on": "view", "clear_at_least": 50, "clear_tool_inputs": True, "keep": 1},
    ],
    "hermes-agent": [
        {"protect_last_n": 2, "protect_first_n": 1},
        {"protect_last_n": 0, "summary": "simulated", "fallback_guard": True},
    ],
    "opencode-prune": [{"protect_tokens": 100, "minimum_tokens": 20, "protect_turns": 0}],
    "gemini-masking": [{"protect_tokens": 300, "minimum_tokens": 100, "preview_characters": 20}],
    "swe-agent-last-5": [{"n": 1}, {"n": 2, "polling": 3}],
    "claude-code": [
        {"reserve_output": 100, "margin": 100, "summary_tokens": 20, "keep_result_tokens": 20},
        {"reserve_output": 0, "margin": 0, "summary_tokens": 5, "clear_first": False},
    ],
    "codex": [{"auto_compact_limit": 300, "user_tokens": 8, "summary_tokens": 10}],
    "openhands": [
        {"max_events": 8, "summary_tokens": 5},
        {"max_events": 4, "keep_first": 0, "minimum_progress": 0, "summary_tokens": 1, "max_tokens": 200},
    ],
    "cline": [{"keep_tokens": 50, "result_characters": 30, "window_ratio": 0.3}],
    "full-summary": [{"trigger_tokens": 300, "summary_tokens": 20}],
    "langchain-clear-tool-uses": [{"trigger_value": 200}],
    "deepagents-eviction": [{"limit_tokens": 50, "preview_lines": 1}],
}
"""Parameters small enough that generated sessions come to something."""

CASES = [(name, fields) for name, several in SMALL.items() for fields in several]


def test_there_are_small_parameters_for_every_reference() -> None:
    assert [*SMALL] == [*REFERENCES]


@pytest.mark.parametrize("name", REFERENCES)
def test_each_names_its_source_and_version(name: str) -> None:
    reference = REFERENCES[name]

    assert reference.name == name
    assert "https://" in reference.source
    assert reference.version
    assert reference.about.endswith(".")


@pytest.mark.parametrize("name", REFERENCES)
def test_each_parameter_has_a_meaning_a_unit_and_bounds(name: str) -> None:
    for field, schema in REFERENCES[name].parameters.model_json_schema()["properties"].items():
        assert schema["description"], field
        assert "unit" in schema, field
        kinds = schema.get("anyOf", [schema])
        for kind in kinds:
            if kind.get("type") in ("integer", "number"):
                assert {"minimum", "exclusiveMinimum"} & {*kind}, field


@pytest.mark.parametrize("name", REFERENCES)
def test_unknown_parameters_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        REFERENCES[name].parameters(frobnicate=1)


@pytest.mark.parametrize("name", [name for name in REFERENCES if name != "swe-agent-last-5"])
def test_a_short_session_stays_as_it_is(name: str) -> None:
    built = SessionBuilder()
    built.user()
    for number in range(20):
        built.turn(("Bash", words(50, f"r{number}x")))

    assert walk(built, name).steps == {}


@pytest.mark.parametrize("name", REFERENCES)
def test_an_ordinary_call_costs_what_is_new(name: str) -> None:
    built = SessionBuilder()
    built.user()
    for number in range(200):
        built.turn(("Bash", f"result {number}"))

    # 401 messages; a reference that read its window in every call would read 40,000.
    parameters: dict[str, Any] = {"max_events": 10_000} if name == "openhands" else {}
    assert walk(built, name, **parameters).read <= 401


def _replay(transcript: Transcript, name: str, fields: dict[str, Any], history: History, k: float) -> Callable[[], Any]:
    policy = Policy(name=name, strategy="reference", reference=name, parameters=fields, context_window=1_000)
    return lambda: replay(transcript, policy, Calibration(k=k, hidden=50), history=history, stubber=stubber(Quarters()))


@settings(max_examples=120, deadline=None)
@given(
    transcripts(), st.sampled_from(CASES), st.sampled_from(("uncompacted", "as-recorded")), st.sampled_from((1.0, 1.3))
)
def test_no_promise_is_broken_but_those_that_a_reference_names(
    transcript: Transcript, case: tuple[str, dict[str, Any]], history: History, k: float
) -> None:
    run = _replay(transcript, *case, history, k)

    done = run()

    proof = prove(done)
    assert proof.violations == ()
    assert proof.resolved == proof.addresses
    assert run().events == done.events


@settings(max_examples=60, deadline=None)
@given(transcripts(), st.sampled_from(CASES))
def test_what_is_changed_is_what_references_change(transcript: Transcript, case: tuple[str, dict[str, Any]]) -> None:
    done = _replay(transcript, *case, "uncompacted", 1.0)()

    edits: list[Edit] = [edit for event in done.events for edit in event.edits]
    parts = {(edit.kind, transcript.messages[edit.message].parts[edit.part].kind) for edit in edits}
    allowed = {("placeholder", "tool_result")}
    if case[0] in ("anthropic-clear-tool-uses", "hermes-agent"):
        allowed.add(("arguments", "tool_call"))
    if case[0] in ("codex", "hermes-agent"):
        allowed.add(("text", "text"))
    assert parts <= allowed
    assert all(bool(edit.address) is (case[0] in ("gemini-masking", "deepagents-eviction")) for edit in edits)
