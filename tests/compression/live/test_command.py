"""``manage.py compress``: one event on the messages in a file, and nothing more the second time."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from sessions.importers import read_sessions
from tests.compression.live.requests import OPENAI, anthropic_messages, openai_messages
from tests.compression.session_files import log_text


def compress(source: Path, out: Path, *options: str) -> dict[str, Any]:
    """What the command prints with --json."""
    printed = StringIO()
    call_command(
        "compress", str(source), "--out", str(out), "--store", str(out.parent / "store"), "--json", *options,
        stdout=printed,
    )  # fmt: skip
    document: dict[str, Any] = json.loads(printed.getvalue())
    return document


def written(path: Path, document: object, **form: Any) -> Path:
    path.write_text(json.dumps(document, **form) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("policy", ["hermes", "chapter"])
@pytest.mark.parametrize("rows", [openai_messages(8), anthropic_messages(8)], ids=["openai", "anthropic"])
def test_a_second_run_changes_no_byte(tmp_path: Path, rows: list[dict[str, Any]], policy: str) -> None:
    source = written(tmp_path / "messages.json", rows, indent=1)

    first = compress(source, tmp_path / "once.json", "--policy", policy)
    second = compress(tmp_path / "once.json", tmp_path / "twice.json", "--policy", policy)

    assert first["after"] < first["before"] / 2
    assert len(first["addresses"]) == len(first["edits"]) > 0
    assert (second["edits"], second["addresses"]) == ([], [])
    assert (tmp_path / "twice.json").read_bytes() == (tmp_path / "once.json").read_bytes()


def test_what_is_not_edited_keeps_its_bytes(tmp_path: Path) -> None:
    source = written(tmp_path / "messages.json", openai_messages(8), indent=1)

    edits = compress(source, tmp_path / "once.json")["edits"]

    before, after = source.read_text().split("\n"), (tmp_path / "once.json").read_text().split("\n")
    changed = [n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert len(changed) == len(edits)
    assert all('"content": "[compressed log' in after[n] for n in changed)


def test_the_originals_can_be_recalled_from_the_store(tmp_path: Path) -> None:
    source = written(tmp_path / "messages.json", openai_messages(8))
    address = compress(source, tmp_path / "once.json")["addresses"][0]
    printed = StringIO()

    call_command("recall", address, "--store", str(tmp_path / "store"), "--json", stdout=printed)

    assert json.loads(printed.getvalue())["text"] == log_text(0)


def test_the_array_of_a_whole_request_is_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_bytes(OPENAI)

    document = compress(tmp_path / "body.json", tmp_path / "out.json")

    assert document["dialect"] == "openai"
    assert json.loads((tmp_path / "out.json").read_bytes()) == json.loads(OPENAI)["messages"]


def test_the_ladder_is_climbed_only_when_it_is_asked_for(tmp_path: Path) -> None:
    source = written(tmp_path / "messages.json", openai_messages(40, 60))
    policy = written(tmp_path / "tight.json", {"extends": "hermes", "context_window": 6_000, "recent_tokens": 1_000})

    without = compress(source, tmp_path / "a.json", "--policy", str(policy))
    with_it = compress(source, tmp_path / "b.json", "--policy", str(policy), "--ladder")

    assert (without["left"], without["fits"]) == (0, False)
    assert with_it["left"] > 0
    assert with_it["fits"]


def test_one_of_several_requests_is_chosen_by_its_key(tmp_path: Path) -> None:
    runs = [{"id": "first", "messages": openai_messages(1)}, {"id": "second", "messages": openai_messages(2)}]
    source = written(tmp_path / "runs.json", runs)

    with pytest.raises(CommandError, match="holds 2 sessions; choose one with --session KEY: first, second"):
        compress(source, tmp_path / "out.json")
    compress(source, tmp_path / "out.json", "--session", "second")

    assert len(json.loads((tmp_path / "out.json").read_bytes())) == len(openai_messages(2))


def test_requests_without_a_name_have_the_keys_that_inspect_prints(tmp_path: Path) -> None:
    source = written(tmp_path / "runs.json", [{"traj": openai_messages(n)} for n in (1, 2)])
    keys = [session.key for session in read_sessions(source)]

    with pytest.raises(CommandError, match=f"holds 2 sessions; choose one with --session KEY: {', '.join(keys)}"):
        compress(source, tmp_path / "out.json")
    compress(source, tmp_path / "out.json", "--session", keys[1])

    assert len(json.loads((tmp_path / "out.json").read_bytes())) == len(openai_messages(2))


@pytest.mark.parametrize(
    ("content", "options", "complaint"),
    [
        ("{", (), "in.json: body: not JSON"),
        ('{"a": 1}', (), "in.json: messages: is missing"),
        ('[{"role": "robot", "content": ""}]', (), r"in.json: messages\[0\].role: 'robot' is no role"),
        ('[{"role": "user", "content": "x"}]', ("--policy", "none such"), "none such"),
        ('[{"role": "user", "content": "x"}]', ("--session", "a"), "holds one list of messages"),
    ],
)
def test_bad_input_ends_with_2_and_leaves_no_file(
    tmp_path: Path, content: str, options: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "in.json").write_text(content, encoding="utf-8")

    with pytest.raises(CommandError, match=complaint) as refusal:
        compress(tmp_path / "in.json", tmp_path / "out.json", *options)

    assert refusal.value.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.json"]


def test_a_file_that_is_not_there_and_one_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    source = written(tmp_path / "messages.json", openai_messages(2))

    for bad, out in ((tmp_path / "none.json", tmp_path / "out.json"), (source, tmp_path / "no" / "out.json")):
        with pytest.raises(CommandError) as refusal:
            call_command("compress", str(bad), "--out", str(out), "--store", str(tmp_path / "store"))
        assert refusal.value.returncode == 2
