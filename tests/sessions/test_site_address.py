"""Links that commands print: they work although the command was not told where the server listens."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from sessions.site_address import known_address, site_url


@pytest.fixture(autouse=True)
def nothing_said(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings.HERMES_DATA_DIR = tmp_path
    settings.HERMES_PUBLIC_URL = ""
    monkeypatch.delenv("HOST", raising=False)
    monkeypatch.delenv("PORT", raising=False)


def test_a_command_in_another_shell_knows_the_port_of_the_running_server(settings: Settings) -> None:
    settings.HERMES_PORT = 9123
    with known_address():
        settings.HERMES_PORT = 8000

        assert site_url() == "http://127.0.0.1:9123"


def test_a_server_that_stopped_is_no_longer_known(settings: Settings) -> None:
    settings.HERMES_PORT = 9123
    with known_address():
        pass
    settings.HERMES_PORT = 8000

    assert site_url() == "http://127.0.0.1:8000"


def test_a_port_that_was_said_wins_over_the_running_server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with known_address():
        monkeypatch.setenv("PORT", "7000")
        settings.HERMES_PORT = 7000

        assert site_url() == "http://127.0.0.1:7000"


def test_the_public_address_wins_over_everything(settings: Settings) -> None:
    with known_address():
        settings.HERMES_PUBLIC_URL = "https://hermes.example.org"

        assert site_url() == "https://hermes.example.org"
