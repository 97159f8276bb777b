"""inspect, replay and window on files: no server, no database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compression.management.commands.window import block_line
from tests.compression.session_files import LOGS, document, log_text, output, refusal, write_policy, write_session


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(write_session(tmp_path))


@pytest.fixture
def policy(tmp_path: Path) -> str:
    return str(write_policy(tmp_path))


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_inspect_says_what_a_file_holds(session: str) -> None:
    row = document("inspect", session)

    assert (row["path"], row["format"], row["turns"], row["tool_calls"], row["tool_results"]) == (
        session,
        "anthropic-messages",
        5,
        4,
        4,
    )
    assert row["calibration"]["k"] == 1.0
    assert row["counted_tokens"] > 20_000


def test_inspect_gives_a_row_for_each_session_of_each_file(session: str) -> None:
    rows = [
        json.loads(line) for line in output("inspect", session, str(LOGS / "openai-runs.json"), "--json").splitlines()
    ]

    assert len(rows) > 2
    assert len({row["key"] for row in rows}) == len(rows)


def test_inspect_lists_messages_with_the_tokens_of_their_parts(session: str) -> None:
    rows = [json.loads(line) for line in output("inspect", session, "--messages", "--json").splitlines()]

    assert [row["index"] for row in rows] == list(range(10))
    assert [row["role"] for row in rows[:3]] == ["user", "assistant", "tool"]
    assert [row["turn"] for row in rows[:4]] == [0, 0, 0, 1]
    assert rows[2]["parts"][0]["text"] == log_text(0)
    assert rows[2]["parts"][0]["source"] == "tool_result"
    assert all(row["tokens"] == sum(part["tokens"] for part in row["parts"]) + 4 for row in rows)
    assert sum(row["tokens"] for row in rows) == document("inspect", session)["counted_tokens"]


def test_inspect_for_people_passes_no_control_characters_on(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    call = {"type": "tool_use", "id": "t", "name": "evil\x1b[2Jtool", "input": {}}
    path.write_text(json.dumps([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}]))

    text = output("inspect", str(path), "--messages")

    assert "evil [2Jtool" in text
    assert "\x1b" not in text


def test_replay_prints_one_document(session: str, policy: str, store: str) -> None:
    replayed = document("replay", session, "--policy", policy, "--store", store)

    assert set(replayed) == {"session", "policy", "counter", "cost", "stability", "turns", "events", "summary"}
    assert replayed["policy"]["name"] == "tight"
    assert [turn["index"] for turn in replayed["turns"]] == [0, 1, 2, 3, 4]
    changed = [event for event in replayed["events"] if event["edits"]]
    assert changed[0]["kind"] == "compress"
    summary = replayed["summary"]
    assert (summary["violations"], summary["recall_integrity"], summary["fidelity"]) == (0, 1.0, 1.0)
    assert summary["stubs"] == sum(len(event["edits"]) for event in changed)


def test_replay_is_the_same_twice(session: str, policy: str, store: str) -> None:
    arguments = ("replay", session, "--policy", policy, "--store", store, "--json")

    assert output(*arguments) == output(*arguments)


def test_replay_gives_one_turns_row_when_asked(session: str, policy: str, store: str) -> None:
    replayed = document("replay", session, "--policy", policy, "--store", store, "--turn", "2")

    assert [turn["index"] for turn in replayed["turns"]] == [2]


def test_replay_in_words_names_peaks_events_and_violations(session: str, policy: str, store: str) -> None:
    text = output("replay", session, "--policy", policy, "--store", store)

    assert text.startswith("policy tight: 5 turns, window 20,000\n")
    assert "  turn 3: compress " in text
    assert "0 violations; " in text


def test_timings_are_no_part_of_a_result(session: str, store: str) -> None:
    assert "ms" not in output("replay", session, "--store", store).split()


@pytest.mark.parametrize("turn", range(5))
def test_window_agrees_with_replay(session: str, policy: str, store: str, turn: int) -> None:
    common = (session, "--policy", policy, "--store", store, "--turn", str(turn))
    (row,) = document("replay", *common)["turns"]

    window = document("window", *common, "--side", "both")

    tokens = row["tokens"]
    assert window["turn"] == turn
    assert window["tokens"] == {"before": tokens["before"], "after": tokens["after"]}
    assert sum(block["tokens"] for block in window["before"] if block["message"] is not None) == tokens["counted"]
    assert sum(block["tokens"] for block in window["after"] if block["message"] is not None) == tokens["counted_after"]
    sacred = ("head", "pinned", "recent")
    before, after = ([b for b in window[side] if b["zone"] in sacred] for side in ("before", "after"))
    assert before == after


def test_window_shows_one_side_when_asked(session: str, store: str) -> None:
    window = document("window", session, "--turn", "1", "--side", "after", "--store", store)

    assert "before" not in window
    assert set(window["after"][0]) >= {
        "message", "role", "part", "zone", "reason", "content_type", "tokens", "text", "edit",
    }  # fmt: skip


def test_window_in_words_is_a_line_a_block(session: str, policy: str, store: str) -> None:
    text = output("window", session, "--turn", "4", "--policy", policy, "--store", store)

    assert text.count("\n") == 2 + 2 * 9
    assert " compressible " in text


def test_a_blocks_line_passes_no_control_characters_on() -> None:
    block = {
        "message": 1, "role": "tool", "tool": "Bash", "kind": "tool_result", "zone": "recent", "tokens": 9,
        "edit": None, "text": "a\x1b]0;x\x07b\nc\u202ed",
    }  # fmt: skip

    assert block_line(block).endswith("  a ]0;x b c d")


@pytest.mark.parametrize("command", ["replay", "window"])
def test_a_turn_that_does_not_exist_is_refused_with_the_range(session: str, store: str, command: str) -> None:
    text = refusal(command, session, "--turn", "99", "--store", store)

    assert text == "there is no turn 99; this session has 0-4"


def test_a_file_of_several_sessions_wants_a_key(store: str) -> None:
    path = str(LOGS / "openai-runs.json")
    keys = [json.loads(line)["key"] for line in output("inspect", path, "--json").splitlines()]

    text = refusal("replay", path, "--store", store)

    assert text == (f"openai-runs.json holds {len(keys)} sessions; choose one with --session KEY: {', '.join(keys)}")
    assert document("replay", path, "--session", keys[1], "--store", store)["session"] == keys[1]


def test_a_key_that_is_not_there_is_refused_with_those_that_are(session: str, store: str) -> None:
    text = refusal("window", session, "--turn", "0", "--session", "nobody", "--store", store)

    assert text.startswith("session.json has no session 'nobody'; its keys: ")


def test_a_store_that_cannot_be_written_is_named(session: str, policy: str, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")

    text = refusal("replay", session, "--policy", policy, "--store", str(blocked))

    assert text.startswith(f"{blocked}: originals cannot be kept there (")
    assert text.endswith("); --store DIR names another folder")
