"""Whatever the conversation and the policy: what leaves is a valid request, and a second call leaves it alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compression.dialects.bodies import read_request
from compression.dialects.request import Dialect
from compression.dialects.validation import violations
from compression.dialects.writing import Written
from compression.engine.planner import Known
from compression.engine.policy import Policy, build
from compression.live_window import Outcome, compress_request
from tests.compression.session_files import log_text

WORDS = st.sampled_from(["Go on.", "Why?", "Now the other one.\n" * 30, 'é \\ " \u0000 end'])
RESULTS = st.sampled_from(
    ["", "ok", log_text(1, 20), log_text(2, 60), log_text(3, 150), json.dumps([{"id": n} for n in range(200)])]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("user"), WORDS),
        st.tuples(st.just("say"), WORDS),
        st.tuples(st.just("call"), st.lists(RESULTS, min_size=1, max_size=3)),
    ),
    min_size=2,
    max_size=14,
)
POLICIES: list[Policy] = [
    build({"extends": "hermes", "context_window": window, "recent_tokens": recent, "min_reclaim_tokens": 1,
           "clear_thinking": True, "max_argument_tokens": 60}, "policy")
    for window, recent in ((2_000, 300), (5_000, 1_000), (20_000, 4_000))
]  # fmt: skip


def openai(steps: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Start."}]
    for n, (kind, value) in enumerate(steps):
        if kind == "call":
            ids = [f"c{n}_{k}" for k in range(len(value))]
            arguments = json.dumps({"command": f"cat {n}", "why": "because " * (n * 7)})
            calls = [{"id": i, "type": "function", "function": {"name": "sh", "arguments": arguments}} for i in ids]
            rows.append({"role": "assistant", "content": None, "reasoning_content": "Hm. " * 40, "tool_calls": calls})
            rows += [{"role": "tool", "tool_call_id": i, "content": text} for i, text in zip(ids, value, strict=True)]
        elif rows[-1]["role"] != ("user" if kind == "user" else "assistant"):
            rows.append({"role": "user" if kind == "user" else "assistant", "content": value})
    return rows


def anthropic(steps: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"role": "user", "content": "Start."}]
    for n, (kind, value) in enumerate(steps):
        if kind == "call" and rows[-1]["role"] == "user":
            ids = [f"c{n}_{k}" for k in range(len(value))]
            signed = {"type": "thinking", "thinking": "Hm. " * 40, "signature": "c2ln"}
            uses = [{"type": "tool_use", "id": i, "name": "sh", "input": {"why": "because " * (n * 7)}} for i in ids]
            results = [
                {"type": "tool_result", "tool_use_id": i, "content": [{"type": "text", "text": text}] if text else []}
                for i, text in zip(ids, value, strict=True)
            ]
            rows += [{"role": "assistant", "content": [signed, *uses]}, {"role": "user", "content": results}]
        elif kind != "call" and rows[-1]["role"] != ("user" if kind == "user" else "assistant"):
            rows.append({"role": "user" if kind == "user" else "assistant", "content": value})
    return rows


def compressed(raw: bytes, dialect: Dialect, policy: Policy, known: Known, *, force: bool = False) -> Outcome:
    return compress_request(read_request(raw, dialect), policy, known=known, force=force)


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@given(steps=STEPS, policy=st.sampled_from(POLICIES), force=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_leaves_is_a_valid_request_and_is_left_alone_afterwards(
    dialect: Dialect, steps: list[tuple[str, Any]], policy: Policy, force: bool
) -> None:
    rows = openai(steps) if dialect == "openai" else anthropic(steps)
    raw = json.dumps(rows).encode()

    done = compressed(raw, dialect, policy, Known(), force=force)

    assert not [alarm for alarm in done.alarms if "rolled back" in alarm]
    assert done.after <= done.before
    after = read_request(done.body, dialect)
    # What was counted is what is there now.
    assert abs(after.calibration().tokens(counted(done.body, dialect)) - done.after) <= 8
    assert set(done.stubs.values()) <= set(done.snapshots)
    if done.fits and {edit.kind for edit in done.edits} <= {"stub", "superseded"} and not done.change.left:
        known = Known(dict(done.stubs), dict(done.snapshots).get)
        again = compressed(done.body, dialect, policy, known, force=force)
        assert {edit.kind for edit in again.edits} & {"stub", "superseded"} == set()


def counted(raw: bytes, dialect: Dialect) -> int:
    """Uncalibrated tokens of a messages array."""
    return sum(4 + sum(row) for row in read_request(raw, dialect).transcript().counts)


def test_the_validator_is_asked_about_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Written] = []

    def spy(*arguments: Any) -> list[str]:
        asked.append(arguments[2])
        return violations(*arguments)

    monkeypatch.setattr("compression.live_window.violations", spy)

    compressed(json.dumps(openai([("user", "x")])).encode(), "openai", POLICIES[0], Known())

    assert len(asked) == 1
