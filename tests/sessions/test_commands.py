"""The commands that import, make tokens and set a new installation up."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from sessions.importers.parsed import ImportFailure, ParsedSession
from sessions.management.commands.ingest import session_files
from sessions.models import ApiToken, Project, Session
from sessions.tokens import find_token
from tests.sessions import recorded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens", "made_up_format")]


@pytest.fixture
def made_up_format(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, *, format: str | None = None, name: str = "") -> list[ParsedSession]:
        if path.read_text() == "bad":
            raise ImportFailure("bad.jsonl is bad.", "Mend it.")
        words = [word.partition(":") for word in path.read_text().split()]
        return [recorded.session(int(exchanges or 1), key=key) for key, _, exchanges in words]

    monkeypatch.setattr("sessions.import_file.read_sessions", read)


def run(*arguments: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("ingest", *arguments, "--json", stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_each_session_of_a_file_gets_a_row(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text("a b")

    rows = run(str(file), "--project", "apollo")

    assert [(row["key"], row["status"], row["path"]) for row in rows] == [
        ("a", "created", str(file)),
        ("b", "created", str(file)),
    ]
    assert [row["session_id"] for row in rows] == list(Session.objects.order_by("key").values_list("pk", flat=True))


def test_the_row_of_an_unchanged_session_says_the_same(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text("a")
    [first] = run(str(file), "--project", "apollo")

    [second] = run(str(file), "--project", "apollo")

    assert second == {**first, "status": "unchanged"}


def test_the_row_of_an_older_shorter_copy_counts_what_is_stored(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text("a:3")
    [long] = run(str(file), "--project", "apollo")
    file.write_text("a:1")

    [short] = run(str(file), "--project", "apollo")

    counted = ("status", "messages", "turns", "counted_tokens")
    assert [short[name] for name in counted] == ["unchanged", *(long[name] for name in counted[1:])]


def test_a_bad_file_does_not_keep_the_good_ones_out(project: Project, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("bad")
    (tmp_path / "good.jsonl").write_text("a")
    out = StringIO()

    with pytest.raises(CommandError) as failure:
        call_command("ingest", str(tmp_path), "--project", "apollo", "--json", stdout=out)

    bad, good = map(json.loads, out.getvalue().splitlines())
    assert failure.value.returncode == 2
    assert bad == {"path": str(tmp_path / "bad.jsonl"), "error": "bad.jsonl is bad. Mend it."}
    assert (good["key"], good["status"]) == ("a", "created")


def test_a_file_that_is_not_there_is_named(project: Project, tmp_path: Path) -> None:
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("ingest", str(tmp_path / "none.jsonl"), "--project", "apollo", "--json", stdout=out)

    assert "none.jsonl cannot be read: No such file or directory." in json.loads(out.getvalue())["error"]


def test_a_file_over_the_limit_is_refused(project: Project, tmp_path: Path, settings: Settings) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 3
    (tmp_path / "long.jsonl").write_text("long")
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("ingest", str(tmp_path), "--project", "apollo", "--json", stdout=out)

    assert "long.jsonl has 4 bytes, more than the limit of 3." in json.loads(out.getvalue())["error"]


def test_a_folder_is_walked_in_order_for_what_may_be_a_session(tmp_path: Path) -> None:
    for name in ("b/two.jsonl", "a/one.JSON", "a/notes.txt", "state.db"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    found = [path.relative_to(tmp_path).as_posix() for path in session_files([tmp_path])]

    assert found == ["state.db", "a/one.JSON", "b/two.jsonl"]


def test_an_unknown_project_is_named_with_the_known_ones(project: Project) -> None:
    with pytest.raises(CommandError, match=r"no project 'zeus' \(known: apollo\)") as failure:
        call_command("ingest", "x", "--project", "zeus")

    assert failure.value.returncode == 2


def test_a_project_can_be_made_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text("a")

    run(str(tmp_path), "--project", "new-one", "--create-project")

    assert Session.objects.get().project.slug == "new-one"


def test_a_project_cannot_have_any_name() -> None:
    with pytest.raises(CommandError, match="cannot be the name of a project"):
        call_command("ingest", "x", "--project", "no good", "--create-project")


def test_without_json_a_line_tells_a_person(project: Project, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text("a")
    out = StringIO()

    call_command("ingest", str(tmp_path), "--project", "apollo", stdout=out)

    url = f"http://127.0.0.1:8000{Session.objects.get().get_absolute_url()}"
    assert out.getvalue() == f"created   {url}  made-up  3 messages, 1 turns, 18 tokens  A title\n"


def test_a_token_is_printed_once_and_stored_as_a_hash(project: Project) -> None:
    out = StringIO()

    call_command("token", "create", "--project", "apollo", "--scope", "ingest", "--json", stdout=out)

    printed = json.loads(out.getvalue())
    stored = ApiToken.objects.get()
    assert (printed["id"], stored.scope) == (stored.pk, "ingest")
    assert stored.token != printed["token"]
    assert find_token(printed["token"]) == stored


def test_a_token_for_no_project_is_refused() -> None:
    with pytest.raises(CommandError, match="There is no project 'none'"):
        call_command("token", "create", "--project", "none", "--scope", "read")


def test_the_first_user_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.management.commands.bootstrap.get_commands", dict)
    call_command("bootstrap", stdout=StringIO())

    out = StringIO()
    call_command("bootstrap", stdout=out)

    assert out.getvalue() == ""
    user = User.objects.get()
    assert user.is_superuser
    assert not user.has_usable_password()
