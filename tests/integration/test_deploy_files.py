"""The files under deploy/: systemd and YAML can read them, and they start what there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings as site
from django.core.management import get_commands

from hermes_site import env

FOLDER = site.BASE_DIR / "deploy"
UNITS = ["hermes-web@.service", "hermes-worker@.service"]


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_starts_what_there_is(name: str) -> None:
    unit = RawConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names keep their capitals
    unit.read(FOLDER / name)

    assert unit.sections() == ["Unit", "Service", "Install"]
    program, *words = unit["Service"]["ExecStart"].split()
    assert program == f"{unit['Service']['WorkingDirectory']}/.venv/bin/python"
    assert_starts(words)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("name", UNITS)
def test_systemd_has_nothing_to_say_about_a_unit(name: str, tmp_path: Path) -> None:
    text = (FOLDER / name).read_text()
    here = text.replace("/opt/hermes/.venv/bin/python", sys.executable).replace("/opt/hermes", str(site.BASE_DIR))
    unit = tmp_path / name
    unit.write_text(here.replace("User=hermes", "User=root"))

    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)

    assert [line for line in done.stderr.splitlines() if name in line] == []


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    return read


def test_the_services_of_the_compose_file_start_what_there_is() -> None:
    services = compose()["services"]

    assert set(services) == {"database", "redis", "migrate", "web", "worker", "proxy"}
    for name in ("migrate", "worker"):
        assert services[name]["command"][0] == "python"
        assert_starts(services[name]["command"][1:])
    wanted = {needed for service in services.values() for needed in service.get("depends_on", ())}
    assert wanted < set(services)


def test_web_and_workers_get_the_same_environment() -> None:
    services = compose()["services"]

    assert services["web"]["environment"] == services["worker"]["environment"] == services["migrate"]["environment"]
    for name in ("DATABASE_URL", "REDIS_URL"):
        env.url(name, schemes=("postgres", "redis"), environ=services["web"]["environment"])


def test_the_image_starts_the_web_server() -> None:
    [command] = re.findall(r'^CMD \["sh", "-c", "exec (.*)"\]$', (FOLDER / "Dockerfile").read_text(), re.MULTILINE)

    assert_starts(command.split()[1:])


def assert_starts(words: list[str]) -> None:
    """``words`` stand behind the interpreter: our server as a module, or a command that manage.py knows."""
    if words[0] == "-m":
        assert words[1] == "hermes_site.server"
        assert words[-1] == "hermes_site.asgi:application"
    else:
        assert words[0] == "manage.py"
        assert words[1] in get_commands()
