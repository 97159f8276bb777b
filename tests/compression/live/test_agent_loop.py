"""The example agent: with the engine in its loop it finishes, without it the window overflows."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from django.conf import settings

from examples import agent_loop
from examples.fake_model import next_step
from sessions.models import Project
from sessions.tokens import create_token
from tests.compression.live.test_mcp import address_of_the_database, keep_original, over_the_wire

ROOT = Path(__file__).parents[3]
PATIENCE = 40


def test_two_hundred_calls_fit_a_small_window_and_an_early_line_is_recalled(capsys: pytest.CaptureFixture[str]) -> None:
    status = agent_loop.main([])

    said = capsys.readouterr().out
    assert status == 0
    assert agent_loop.wanted_line() in said
    *_, figures, _answer, end = said.strip().split("\n")
    calls, recalls = (int(word.split()[0]) for word in figures.split(", ")[:2])
    assert calls == agent_loop.LOGS + recalls
    assert recalls >= 1
    assert end == "The task is finished."


def test_without_compression_the_window_overflows(capsys: pytest.CaptureFixture[str]) -> None:
    status = agent_loop.main(["--no-compression"])

    assert status == 1
    assert capsys.readouterr().out.startswith(
        "The agent stopped: This model's maximum context length is 32768 tokens; your messages have "
    )


def test_a_model_that_cannot_see_the_line_and_finds_no_address_says_so() -> None:
    step = next_step([
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "read_log", "arguments": '{"number": 200}'}}
        ]},
        {"role": "tool", "tool_call_id": "c", "content": "log 200 of 200\nthat was the last log"},
    ])  # fmt: skip

    assert step["content"] == "That line is lost."


@pytest.fixture
def server(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """A real server on the test's database; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "hermes_site.server",
        "-b",
        "127.0.0.1",
        "-p",
        str(port),
        "hermes_site.asgi:application",
    ]
    environment = {
        **os.environ,
        "DATABASE_URL": address_of_the_database(),
        "HERMES_DATA_DIR": str(settings.HERMES_DATA_DIR),
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        where = f"http://127.0.0.1:{port}"
        for _ in range(PATIENCE * 10):
            try:
                urlopen(f"{where}/signin/needed/", timeout=5).close()
                break
            except URLError as error:
                if getattr(error, "code", 0):
                    break
                time.sleep(0.1)
        yield where
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def test_a_running_server_compresses_and_gives_originals_back_by_http_and_by_mcp(
    server: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    _, token = create_token(project=project, scope="write")
    keep_original(project, "first\nsecond")

    status = agent_loop.main(["--url", server, "--token", token, "--logs", "50"])

    said = capsys.readouterr().out
    assert (status, said.strip().split("\n")[-1]) == (0, "The task is finished.")
    assert "not compressed" not in said
    assert over_the_wire(f"{server}/mcp", token, "first\nsecond") == "second"
