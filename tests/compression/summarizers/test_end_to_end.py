"""From requests to texts, through a client and a server."""

from __future__ import annotations

import pytest

from compression.engine.summaries import extractive
from compression.engine.tokens import default_counter
from compression.summarizers import resolve, summarizer_from
from tests.compression.summarizers.asked import REPORT, request
from tests.compression.summarizers.model_server import ModelServer, Reply, openai_body

pytest.importorskip("openai", reason="needs the extra of requirements/summaries.txt")


def test_answers_of_a_server_stand_and_what_it_fails_is_replaced(server: ModelServer) -> None:
    summarizer = summarizer_from(
        {
            "HERMES_SUMMARIZER": "openai",
            "HERMES_SUMMARIZER_MODEL": "small",
            "HERMES_SUMMARIZER_BASE_URL": f"{server.url}/v1",
            "HERMES_SUMMARIZER_API_KEY": "any",
        }
    )
    asked = [request(f"{REPORT}\nCase {i} of several.") for i in range(6)]
    server.reply = Reply(body=openai_body("The disk of db-7 was full."), delay=0.02)

    good = resolve(asked, summarizer, time_limit_s=10, at_once=2)
    server.reply = Reply(503, b"{}")
    failed = resolve(asked, summarizer, time_limit_s=10, at_once=2)

    assert good.texts == {one.key: "The disk of db-7 was full." for one in asked}
    assert server.busiest <= 2
    assert failed.texts == {one.key: extractive(one, default_counter().count_many) for one in asked}
    assert [outcome.summarizer for outcome in failed.outcomes] == ["openai/small", "extractive"] * 6
    assert len(server.received) == 12
