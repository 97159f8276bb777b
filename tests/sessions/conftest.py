from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings


@pytest.fixture
def words_are_tokens(settings: Settings) -> None:
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.recorded.words"
