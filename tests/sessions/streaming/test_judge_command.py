"""The command that judges one call."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command


def test_it_prints_the_level_and_the_rules() -> None:
    out = StringIO()
    call_command("judge", tool="Bash", arguments='{"command": "truncate -s 0 x"}', stdout=out)
    assert json.loads(out.getvalue()) == {
        "level": "ask",
        "rules": [
            {
                "id": "truncate",
                "why": "empties or cuts a file",
                "at": {"path": ["command"], "start": 0, "text": "truncate -s 0 x"},
            }
        ],
    }


def test_arguments_cut_short_are_refused() -> None:
    with pytest.raises(CommandError) as caught:
        call_command("judge", tool="Bash", arguments='{"command": "ls')
    assert str(caught.value) == "--arguments is no whole JSON document: the text ends inside a string."
