"""Broken input: exit status 2, the file, the place and the remedy, never a traceback, nothing half-stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.compression.session_files import LOGS, output, refusal, write_session

ROOT = Path(__file__).parents[2]
BROKEN = {
    "truncated.json": b'[{"role": "user", "content": "half of',
    "binary.jsonl": bytes(range(256)) * 40,
    "empty.jsonl": b"",
    "list.json": b"[]",
    "object.json": b'{"a":1}',
    "text.jsonl": b"just some words\nand more\n",
    "deep.json": b"[" * 100_000,
}
COMMANDS = (("inspect",), ("replay",), ("window", "--turn", "0"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_by_its_name(tmp_path: Path, name: str, command: tuple[str, ...]) -> None:
    path = tmp_path / name
    path.write_bytes(BROKEN[name])

    if command[0] == "inspect":
        text = inspected(path)
    else:
        text = refusal(command[0], str(path), *command[1:], "--store", str(tmp_path / "store"))

    assert name in text
    assert not (tmp_path / "store").exists()


def inspected(path: Path) -> str:
    """What inspect says of a file that it refuses."""
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError) as complaint:
        call_command("inspect", str(path), "--json", stdout=out, stderr=err)
    assert complaint.value.returncode == 2
    row = json.loads(out.getvalue())
    assert set(row) == {"path", "error"}
    assert "Traceback" not in row["error"]
    return str(row["error"])


@pytest.mark.parametrize("command", ["replay", "window"])
def test_a_zip_a_folder_and_a_missing_path_are_refused(tmp_path: Path, command: str) -> None:
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("a.jsonl", "{}")
    turn = ("--turn", "0")

    assert "logs.zip" in refusal(command, str(archive), *turn)
    assert tmp_path.name in refusal(command, str(tmp_path), *turn)
    assert "nowhere.jsonl" in refusal(command, str(tmp_path / "nowhere.jsonl"), *turn)


def test_inspect_gives_a_row_for_the_good_file_and_one_for_the_bad(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"[]")
    out = StringIO()

    with pytest.raises(CommandError) as complaint:
        call_command("inspect", str(bad), str(write_session(tmp_path)), "--json", stdout=out, stderr=StringIO())

    assert complaint.value.returncode == 2
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert set(first) == {"path", "error"}
    assert second["turns"] == 5


def test_inspect_tells_people_about_a_bad_file_on_stderr(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"[]")
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError):
        call_command("inspect", str(bad), stdout=out, stderr=err)

    assert out.getvalue() == ""
    assert err.getvalue().startswith(f"{bad}: ")


def test_a_damaged_file_is_read_as_far_as_it_goes() -> None:
    row = json.loads(output("inspect", str(LOGS / "claude-code-damaged.jsonl"), "--json"))

    assert row["skipped"]


def test_half_of_a_surrogate_pair_does_not_stop_the_output(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('[{"role": "user", "content": "a \\ud83d b"}, {"role": "assistant", "content": "c"}]')

    rows = [json.loads(line) for line in output("inspect", str(path), "--messages", "--json").splitlines()]

    assert [row["role"] for row in rows] == ["user", "assistant"]


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "hermes_site.settings", **environment},
        capture_output=True,
        check=False,
    )


def test_files_need_no_database_and_stdout_holds_one_document(tmp_path: Path) -> None:
    done = manage(
        "replay",
        str(write_session(tmp_path)),
        "--json",
        DATABASE_URL="postgresql://nobody:x@127.0.0.1:1/nothing",
        HERMES_DATA_DIR=str(tmp_path / "data"),
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["violations"] == 0
    assert b"replayed in" in done.stderr


def test_a_database_that_does_not_answer_is_said_to_be_just_that(tmp_path: Path) -> None:
    done = manage(
        "replay", "1", DATABASE_URL="postgresql://nobody:x@127.0.0.1:1/nothing", HERMES_DATA_DIR=str(tmp_path)
    )

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the database that DATABASE_URL names cannot be used: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_broken_file_ends_the_process_with_two(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(b"[]")

    done = manage("window", str(path), "--turn", "0", HERMES_DATA_DIR=str(tmp_path / "data"))

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"list.json" in done.stderr
    assert b"Traceback" not in done.stderr
