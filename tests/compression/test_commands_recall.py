"""recall reads back what replay stored; policies and policy say what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.snapshots import digest
from sessions.models import Project
from tests.compression.session_files import document, log_text, output, refusal, write_policy, write_session


@pytest.fixture
def stored(tmp_path: Path) -> dict[int, str]:
    """Message -> address of every stub of a replay whose originals lie in tmp_path / store."""
    path, policy = write_session(tmp_path), write_policy(tmp_path)
    replayed = document("replay", str(path), "--policy", str(policy), "--store", str(tmp_path / "store"))
    return {edit["message"]: edit["address"] for event in replayed["events"] for edit in event["edits"]}


@pytest.fixture
def store(tmp_path: Path) -> tuple[str, str]:
    return ("--store", str(tmp_path / "store"))


def test_an_address_gives_the_original_back(stored: dict[int, str], store: tuple[str, str]) -> None:
    assert stored
    for message, address in stored.items():
        text = log_text((message - 2) // 2)

        assert document("recall", address, *store) == {
            "address": f"hermes:{digest(text)}",
            "bytes": len(text.encode()),
            "text": text,
        }
        assert output("recall", address, *store) == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--lines", "2-3"), "".join(log_text(0).splitlines(keepends=True)[1:3]).rstrip("\n")),
        (("--grep", "ERROR"), "151:" + log_text(0).splitlines()[150]),
        (("--max-tokens", "1"), "202"),
    ],
)
def test_a_slice_is_read_back(
    stored: dict[int, str], store: tuple[str, str], options: tuple[str, str], text: str
) -> None:
    assert document("recall", stored[2], *options, *store)["text"] == text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--lines", "9-1"), "lines '9-1': the original has lines 1-300"),
        (("--json-path", "$.a"), "json_path: the original is not JSON; use lines or grep"),
        (("--max-tokens", "0"), "--max-tokens must be 1 or more"),
    ],
)
def test_a_slice_that_cannot_be_read_is_refused(
    stored: dict[int, str], store: tuple[str, str], options: tuple[str, str], why: str
) -> None:
    assert refusal("recall", stored[2], *options, *store) == why


def test_an_unknown_address_is_refused(tmp_path: Path) -> None:
    text = refusal("recall", "hermes:000000000000", "--store", str(tmp_path))

    assert text == f"nothing is stored under hermes:000000000000 in {tmp_path}; --store names another folder"


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    assert refusal("recall", "../../etc/passwd", "--store", str(tmp_path)) == (
        "'../../etc/passwd' is no address: write hermes: and 12 or more hex digits"
    )


@pytest.mark.django_db
def test_a_stored_session_is_replayed_and_recalled_inside_its_project_only(
    project: Project, other_project: Project, tmp_path: Path
) -> None:
    path, policy = write_session(tmp_path), write_policy(tmp_path)
    row = document("ingest", str(path), "--project", project.slug)

    stored = document("replay", str(row["session_id"]), "--policy", str(policy))
    from_file = document("replay", str(path), "--policy", str(policy), "--store", str(tmp_path / "store"))

    assert stored["events"] == from_file["events"]
    assert stored["turns"] == from_file["turns"]
    address = next(edit["address"] for event in stored["events"] for edit in event["edits"])
    text = document("recall", address, "--project", project.slug)["text"]
    assert text.startswith("2026-03-01 10:00:00 INFO job 0 of batch ")
    assert refusal("recall", address, "--project", other_project.slug) == (
        f"nothing is stored under {address} in project 'zeus'"
    )


@pytest.mark.django_db
def test_a_session_that_is_not_stored_is_refused() -> None:
    assert refusal("replay", "987654") == "there is no stored session 987654; `manage.py ingest` prints the numbers"


@pytest.mark.django_db
def test_a_number_that_no_session_can_have_is_refused_in_few_words() -> None:
    assert refusal("replay", "9" * 30) == f"{'9' * 18}… is no number of a stored session and no file"


def test_policies_lists_the_presets() -> None:
    rows = document("policies")

    assert [row["name"] for row in rows] == list(PRESETS)
    assert [line.split()[0] for line in output("policies").splitlines()] == list(PRESETS)


def test_policy_show_gives_every_field() -> None:
    assert Policy.model_validate(document("policy", "show", "chapter")) == PRESETS["chapter"]
    assert [line.split()[0] for line in output("policy", "show", "chapter").splitlines()] == list(Policy.model_fields)


def test_policy_validate_says_that_a_file_is_good(tmp_path: Path) -> None:
    path = str(write_policy(tmp_path))

    assert document("policy", "validate", path)["valid"] is True
    assert output("policy", "validate", path) == f"{path}: a valid policy, 'tight'\n"


def test_policy_validate_names_every_fault(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("recent = 1\ntrigger_ratio = 2\n")

    assert refusal("policy", "validate", str(path)) == (
        f"{path}: trigger_ratio: Input should be less than or equal to 1; unknown field recent"
    )


def test_policy_schema_is_a_json_schema(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    call_command("policy", "schema")

    schema = json.loads(capsysbinary.readouterr().out)
    assert list(schema["properties"]) == list(Policy.model_fields)


@pytest.mark.parametrize("name", ["nobody", "missing.toml"])
def test_an_unknown_policy_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    text = refusal("replay", str(write_session(tmp_path)), "--policy", name)

    assert text.startswith(f"no policy {name!r}: use one of {', '.join(sorted(PRESETS))}, or")
