"""Summaries by a model in a live call: asked once, judged, stored like any stub; the engine's words stand in."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import orjson
import pytest

from compression.live import compress, wanted
from sessions.models import Project

pytestmark = pytest.mark.django_db

SENTENCE = "The harbour crane number {n} was inspected in the morning and its brake was found to hold the rated load. "
PROSE = "".join(SENTENCE.format(n=n) for n in range(400))


class _Model(BaseHTTPRequestHandler):
    answer = "Up to crane number 399 every brake holds."
    asked: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        body = json.dumps(
            {
                "id": "x", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": self.answer}}
                ],
            }
        ).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def model(settings: Any) -> Any:
    pytest.importorskip("openai")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    Thread(target=server.serve_forever, daemon=True).start()
    settings.HERMES_SUMMARIZER = "openai"
    settings.HERMES_SUMMARIZER_MODEL = "m"
    settings.HERMES_SUMMARIZER_BASE_URL = f"http://127.0.0.1:{server.server_port}/v1"
    settings.HERMES_SUMMARIZER_API_KEY = "word"
    _Model.asked.clear()
    yield _Model
    server.shutdown()
    server.server_close()


def body_of(project: Project, summaries: str) -> bytes:
    messages = [
        {"role": "user", "content": "read the harbour report"},
        {"role": "assistant", "tool_calls": [_call("a", "fetch")]},
        {"role": "tool", "tool_call_id": "a", "content": "short"},
        {"role": "assistant", "tool_calls": [_call("b", "fetch")]},
        {"role": "tool", "tool_call_id": "b", "content": PROSE},
        {"role": "assistant", "content": "It is long."},
        {"role": "user", "content": "and now?"},
    ]
    policy = {"extends": "hermes", "summaries": summaries, "recent_tokens": 50, "min_reclaim_tokens": 0}
    return orjson.dumps({"project": project.slug, "policy": policy, "force": True, "messages": messages})


def _call(name: str, tool: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": "{}"}}


def test_a_policy_that_asks_for_it_gets_the_models_summary(project: Project, model: Any) -> None:
    answer = orjson.loads(compress(project=project, call=wanted(body_of(project, "model"))))

    stub = answer["messages"][4]["content"]
    assert stub.partition("\n")[2] == model.answer
    assert [(one["accepted"], one["fidelity"]) for one in answer["summaries"]] == [(True, 1.0)]
    assert len(model.asked) == 1


def test_nobody_is_asked_unless_the_policy_says_so(project: Project, model: Any) -> None:
    answer = orjson.loads(compress(project=project, call=wanted(body_of(project, "extractive"))))

    assert (answer["summaries"], model.asked) == ([], [])


def test_a_model_that_is_not_set_up_is_said_and_harms_nothing(project: Project, settings: Any) -> None:
    settings.HERMES_SUMMARIZER = "openai"
    settings.HERMES_SUMMARIZER_MODEL = ""
    extractive = orjson.loads(compress(project=project, call=wanted(body_of(project, "extractive"))))

    answer = orjson.loads(compress(project=project, call=wanted(body_of(project, "model"))))

    assert answer["messages"] == extractive["messages"]
    assert "HERMES_SUMMARIZER_MODEL" in answer["summaries"][0]["reason"]
