"""What commands print cannot do anything to a terminal, whatever files are called and hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from sessions.importers.parsed import ParsedSession
from sessions.models import Project, Session
from sessions.terminal import json_bytes, shown, shown_path
from tests.sessions import recorded

CHAT = b'[{"role":"user","content":"Gr\xc3\xbc\xc3\x9fe \xf0\x9f\x98\x80"},{"role":"assistant","content":"ok"}]'
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain Grüße 😀", "plain Grüße 😀"),
        ("\x1b[31mred\x1b]0;t\x07", " [31mred ]0;t "),
        ("a\u202eb\u2066c", "a b c"),
        ("two\nlines\tand\x00", "two lines and "),
        ("half \ud800", "half  "),
    ],
)
def test_nothing_but_printable_characters_is_shown(text: str, harmless: str) -> None:
    assert shown(text) == harmless


def test_a_long_text_is_cut() -> None:
    assert shown("x" * 5000, 10) == "xxxxxxxxx…"


def test_a_path_that_is_not_utf_8_is_shown_with_escapes() -> None:
    assert shown_path(Path(os.fsdecode(b"caf\xe9.jsonl"))) == "caf\\xe9.jsonl"


def test_json_with_half_of_a_pair_is_still_utf_8() -> None:
    assert json.loads(json_bytes({"path": "a\udce9"})) == {"path": "a\ufffd"}


@pytest.mark.django_db
@pytest.mark.usefixtures("words_are_tokens")
@pytest.mark.parametrize("as_json", [True, False])
def test_a_file_name_that_is_not_utf_8_is_imported_and_named(project: Project, tmp_path: Path, as_json: bool) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.json")).write_bytes(CHAT)
    (tmp_path / os.fsdecode(b"bad\xe9.json")).write_bytes(b"")
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("ingest", str(tmp_path), project="apollo", json=as_json, stdout=out)

    assert "bad\\\\xe9.json" in out.getvalue() if as_json else "bad\\xe9.json" in out.getvalue()
    assert Session.objects.get().file_name == "caf\\xe9.json"


@pytest.mark.django_db
def test_an_unknown_exception_in_one_file_is_named_and_costs_no_other(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def read(path: Path, **options: Any) -> list[ParsedSession]:
        if path.name.startswith("a"):
            raise TypeError("bytes")
        return [recorded.session(key="fine")]

    monkeypatch.setattr("sessions.import_file.read_sessions", read)
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("x")
    out = StringIO()

    with pytest.raises(CommandError) as failure:
        call_command("ingest", str(tmp_path), project="apollo", json=True, stdout=out)

    first, second = map(json.loads, out.getvalue().splitlines())
    assert failure.value.returncode == 1
    assert first == {"path": str(tmp_path / "a.json"), "error": "a defect of Hermes: TypeError: bytes"}
    assert second["key"] == "fine"
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_inspect_goes_on_behind_a_file_that_wakes_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, **options: Any) -> list[ParsedSession]:
        if path.name == "a.json":
            raise TypeError("bytes")
        return [recorded.session(key="fine")]

    monkeypatch.setattr("compression.management.commands.inspect.read_sessions", read)
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError) as failure:
        call_command("inspect", tmp_path / "a.json", tmp_path / "b.json", stdout=out, stderr=err)

    assert failure.value.returncode == 1
    assert err.getvalue() == f"{tmp_path / 'a.json'}: a defect of Hermes: TypeError: bytes\n"
    assert out.getvalue().startswith(f"{tmp_path / 'b.json'}: ")


@pytest.mark.parametrize("command", [["inspect"], ["replay"], ["window", "--turn", "0"]], ids=lambda given: given[0])
def test_a_pipe_is_refused_at_once(tmp_path: Path, command: list[str]) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    err = StringIO()

    with pytest.raises(CommandError) as failure:
        call_command(command[0], str(tmp_path / "pipe.jsonl"), *command[1:], stderr=err)

    assert failure.value.returncode == 2
    assert "pipe.jsonl is not a regular file but a pipe" in err.getvalue() + str(failure.value)


@pytest.mark.django_db
def test_a_pipe_in_a_folder_is_reported_and_not_waited_for(project: Project, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    out = StringIO()

    with pytest.raises(CommandError) as failure:
        call_command("ingest", str(tmp_path), project="apollo", stdout=out)

    assert failure.value.returncode == 2
    assert "pipe.jsonl is not a regular file but a pipe, a socket or a device. Save the session" in out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["new", "upload"])
@pytest.mark.parametrize("command", ["ingest", "load_example"])
def test_a_project_cannot_take_the_address_of_a_page(tmp_path: Path, slug: str, command: str) -> None:
    given = [str(tmp_path), "--create-project"] if command == "ingest" else []

    with pytest.raises(CommandError, match="use the word") as failure:
        call_command(command, *given, "--project", slug)

    assert failure.value.returncode == 2
    assert not Project.objects.exists()


def manage(*arguments: str, folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "hermes_site.settings", "HERMES_DATA_DIR": str(folder)} | more
    return subprocess.run([*MANAGE, *arguments], capture_output=True, env=environment)  # our own command


def test_a_terminal_that_speaks_ascii_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_bytes(CHAT)

    done = manage("inspect", str(tmp_path / "chat.json"), folder=tmp_path, PYTHONIOENCODING="ascii")

    assert done.returncode == 0, done.stderr
    assert b"  Gr\\xfc\\xdfe \\U0001f600\n" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_line_and_status_1(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_bytes(CHAT)
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "hermes_site.settings", "HERMES_DATA_DIR": str(tmp_path)}

    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # our own command
            [*MANAGE, "inspect", str(tmp_path / "chat.json")], stdout=full, stderr=subprocess.PIPE, env=environment
        )

    assert done.returncode == 1
    assert done.stderr == b"Nothing more can be written: No space left on device.\n"
