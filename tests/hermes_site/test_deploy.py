"""The settings that the deployment guide shows: Django's own checks have nothing to say, and requests go to HTTPS."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings

GUIDE = settings.BASE_DIR / "docs" / "deploy.md"
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


def environment(folder: Path) -> dict[str, str]:
    """The guide's own block, over a folder that may be written here."""
    block = re.search(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    shown = dict(line.split("=", 1) for line in block[1].splitlines())
    own = {"DJANGO_SETTINGS_MODULE": "hermes_site.settings", "HERMES_DATA_DIR": str(folder)}
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    return inherited | shown | own


def test_nothing_is_left_to_say_about_the_settings_that_the_guide_shows(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MANAGE, "check", "--deploy", "--fail-level", "WARNING"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
    )

    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout == "System check identified no issues (2 silenced).\n"


ASK = """
from django.test import Client
client = Client()
plain = client.get("/signin/", headers={"host": "hermes.example.com"})
print(plain.status_code, plain["Location"])
secure = client.get("/signin/", headers={"host": "hermes.example.com", "x-forwarded-proto": "https"})
print(secure.status_code, secure["Strict-Transport-Security"])
"""


def test_plain_http_is_sent_on_and_https_stays_for_a_year(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MANAGE, "shell", "-v0", "-c", ASK],
        env=environment(tmp_path) | {"DATABASE_URL": ""},
        capture_output=True,
        text=True,
    )

    assert done.stdout.splitlines() == ["301 https://hermes.example.com/signin/", "200 max-age=31536000"], done.stderr
