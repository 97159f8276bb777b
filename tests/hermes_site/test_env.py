"""Settings from the environment: a value of the right kind, or words about what is wrong."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from hermes_site import env
from hermes_site.env import BadSetting
from hermes_site.secret_key import kept_secret_key


def test_what_is_absent_or_empty_is_the_default() -> None:
    assert env.text("NAME", "default", environ={}) == "default"
    assert env.integer("NAME", 7, at_least=1, at_most=9, environ={"NAME": " "}) == 7


@pytest.mark.parametrize(("value", "meant"), [("1", True), ("YES", True), ("off", False), ("0", False)])
def test_a_flag_is_read_in_the_usual_words(value: str, meant: bool) -> None:
    assert env.flag("NAME", not meant, environ={"NAME": value}) is meant


@pytest.mark.parametrize(
    ("value", "size"), [("209715200", 209715200), ("200M", 209715200), ("1 g", None), ("2GB", 2 * 1024**3)]
)
def test_a_size_has_an_optional_unit(value: str, size: int | None) -> None:
    if size is None:
        with pytest.raises(BadSetting):
            env.size("NAME", 1, environ={"NAME": value})
    else:
        assert env.size("NAME", 1, environ={"NAME": value}) == size


def test_nonsense_is_named_with_its_value_and_what_is_allowed() -> None:
    with pytest.raises(BadSetting) as refusal:
        env.integer("PORT", 8000, at_least=1, at_most=65535, environ={"PORT": "eighty"})

    assert str(refusal.value) == "PORT='eighty' is not usable: write a whole number from 1 to 65535"


@pytest.mark.parametrize("value", ["0", "65536", "-1", "1e3", "٣"])
def test_a_number_out_of_bounds_is_refused(value: str) -> None:
    with pytest.raises(BadSetting):
        env.integer("PORT", 8000, at_least=1, at_most=65535, environ={"PORT": value})


def test_a_flag_that_says_neither_is_refused() -> None:
    with pytest.raises(BadSetting, match="write 1 or 0"):
        env.flag("HERMES_DEBUG", False, environ={"HERMES_DEBUG": "maybe"})


def test_a_choice_names_the_choices() -> None:
    with pytest.raises(BadSetting, match="write one of DEBUG, INFO"):
        env.choice("LEVEL", "INFO", among=("DEBUG", "INFO"), environ={"LEVEL": "LOUD"})


def test_hosts_are_a_list() -> None:
    hosts = env.host_names("HOSTS", [], environ={"HOSTS": "example.org, .example.com,[::1]"})

    assert hosts == ["example.org", ".example.com", "[::1]"]


@pytest.mark.parametrize("value", ["https://example.org", "example.org:80", "a b", "example.org/x"])
def test_a_host_is_no_address(value: str) -> None:
    with pytest.raises(BadSetting, match="without scheme, port or path"):
        env.host_names("HOSTS", [], environ={"HOSTS": value})


def test_a_refused_url_does_not_show_its_password() -> None:
    with pytest.raises(BadSetting) as refusal:
        env.url("DATABASE_URL", schemes=("sqlite",), environ={"DATABASE_URL": "mysql://me:secret@host/db"})

    assert "secret" not in str(refusal.value)
    assert "mysql://me:***@host/db" in str(refusal.value)


def test_a_folder_is_made_for_its_owner_only(tmp_path: Path) -> None:
    made = env.directory("DIR", tmp_path / "new", environ={})

    assert made == tmp_path / "new"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadSetting, match=re.escape("it must be a folder that can be made and written (File exists)")):
        env.directory("DIR", tmp_path, environ={"DIR": str(tmp_path / "file")})


def test_the_secret_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"

    key = kept_secret_key(path)

    assert len(key) >= 50
    assert kept_secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
