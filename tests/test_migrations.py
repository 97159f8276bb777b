"""The migrations say what the models say."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    out = StringIO()

    call_command("makemigrations", "--check", "--dry-run", stdout=out)

    assert out.getvalue() == "No changes detected\n"
