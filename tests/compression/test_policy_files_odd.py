"""Policy files that are no files, too large, or full of what a terminal should not be shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from compression.engine.policy import InvalidPolicy, load, parse


def fault(path: Path) -> str:
    with pytest.raises(CommandError) as complaint:
        call_command("policy", "validate", str(path))
    assert complaint.value.returncode == 2
    return str(complaint.value)


def test_a_pipe_is_no_policy(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.toml")

    assert fault(tmp_path / "p.toml") == f"{tmp_path / 'p.toml'}: is not a regular file"


def test_a_file_over_256_kb_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("#" * (256 * 1024 + 1))

    assert fault(tmp_path / "p.toml") == f"{tmp_path / 'p.toml'}: is larger than 256 KB: no policy file is"


def test_an_integer_of_thousands_of_digits_is_a_fault() -> None:
    with pytest.raises(InvalidPolicy, match=r"p\.toml: not TOML: Exceeds the limit"):
        parse("recent_tokens = " + "9" * 5000, "p.toml")


def test_an_unknown_field_is_named_without_its_escapes_and_at_no_length(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"\\u001b[31mevil\\nline": 1, "' + "k" * 3000 + '": 2}')

    text = fault(tmp_path / "p.json")

    assert text.endswith(f"unknown field  [31mevil line; unknown field {'k' * 120}")


@pytest.mark.parametrize("target", ["9" * 200, "9" * 5000], ids=len)
def test_a_number_that_no_session_has_is_refused_in_short(target: str) -> None:
    with pytest.raises(CommandError) as complaint:
        call_command("replay", target)

    assert complaint.value.returncode == 2
    assert str(complaint.value) == f"{'9' * 18}… is no number of a stored session and no file"


def test_a_name_without_end_is_not_said_back_whole() -> None:
    with pytest.raises(Exception, match="no policy") as complaint:
        load("x" * 5000)

    assert "x" * 200 not in str(complaint.value)
