"""Servers for a whole test process, and installations over them.

Where the servers' programs are not installed, the tests that need them are skipped, but not under CI=true: there a
missing server is a failure, because a skipped test tells nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import servers as programs
from tests.integration.machines import Machines, machines
from tests.integration.servers import Missing, Servers


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    try:
        with programs.servers() as started:
            yield started
    except Missing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def tables(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database with all tables and nothing in them, to copy."""
    with machines(servers, tmp_path_factory.mktemp("tables")) as made:
        made.manage("migrate", "--verbosity", "0", "--skip-checks")
        yield made.name


@pytest.fixture
def installation(servers: Servers, tables: str, tmp_path: Path) -> Iterator[Machines]:
    """A new one: tables, and nothing in them."""
    with machines(servers, tmp_path, like=tables) as made:
        yield made
