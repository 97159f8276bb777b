"""Peers that are missing, that do not start, that answer; and the command that installs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.engines_rows import answers, failed, peer_row
from benchmarks.peers import __main__ as command
from benchmarks.peers import calls
from benchmarks.peers.calls import SCRIPT, PeerFailed, ask, available, environment
from benchmarks.peers.environments import PEERS


@pytest.fixture
def peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_PEERS", str(tmp_path))
    return tmp_path


def put(peers: Path, name: str) -> None:
    """An environment with a Python and nothing in it."""
    (peers / name / "bin").mkdir(parents=True)
    (peers / name / "bin" / "python").symlink_to(sys.executable)
    (peers / name / "installed.txt").write_text("x")


def test_a_missing_peer_gives_a_row_that_says_how_to_install_it(peers: Path) -> None:
    _, found = answers("headroom", [{"call": "route", "text": "x"}])
    row = peer_row("outputs: headroom", "headroom", found)

    assert row is not None
    assert (row.name, row.detail, row.holds) == (
        "outputs: headroom",
        "not installed: python -m benchmarks.peers install headroom",
        True,
    )


def test_half_an_installation_is_none(peers: Path) -> None:
    put(peers, "headroom")
    (peers / "headroom" / "installed.txt").unlink()

    assert not available("headroom")


def test_a_peer_that_does_not_start_says_why(peers: Path) -> None:
    put(peers, "langchain")

    with pytest.raises(PeerFailed, match=r"^langchain: exit status 1: .*PackageNotFoundError.*langchain"):
        ask("langchain", [])


def test_a_peer_that_fails_leaves_a_row_and_the_benchmark_goes_on(peers: Path) -> None:
    put(peers, "langchain")

    _, found = answers("langchain", [{"call": "clear"}, {"call": "clear"}])
    row = peer_row("sessions: LangChain", "langchain", found)

    assert row is not None
    assert row.detail.startswith("2 of 2 failed: langchain: exit status 1")


def test_answers_without_faults_need_no_row(peers: Path) -> None:
    put(peers, "langchain")

    assert peer_row("sessions: LangChain", "langchain", [{"ms": 1.0}]) is None
    assert failed("x", "why").holds


def test_a_peer_sees_no_key_and_no_home_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")

    given = environment(tmp_path)

    assert "secret" not in given.values()
    assert (given["HOME"], given["HERMES_HOME"]) == (str(tmp_path), str(tmp_path / "hermes-home"))


DRIVER = """
import socket

def double(job, timed):
    result, ms = timed(lambda: job["n"], lambda n: 2 * n, 3)
    return {"doubled": result, "timed": ms >= 0}

def call_home(job, timed):
    socket.create_connection(("127.0.0.1", 9))
    return {}

DISTRIBUTION = "pytest"
HANDLERS = {"double": double, "call home": call_home}
WARM_UP = [{"call": "double", "n": 0}]
"""


def test_jobs_are_answered_in_order_without_the_warm_up_and_without_a_network(tmp_path: Path) -> None:
    (tmp_path / "serving.py").write_text(SCRIPT.read_text())
    (tmp_path / "doubling.py").write_text(DRIVER)
    jobs = [{"call": "double", "n": 3}, {"call": "call home"}, {"call": "double", "n": 4}]

    subprocess.run(
        [sys.executable, str(tmp_path / "serving.py"), "doubling", str(tmp_path / "answers.json")],
        input=json.dumps({"jobs": jobs}).encode(),
        check=True,
    )

    found = json.loads((tmp_path / "answers.json").read_text())
    assert found["version"] == pytest.__version__
    assert found["answers"] == [
        {"doubled": 6, "timed": True},
        {"error": "ConnectionRefusedError: no network in a benchmark"},
        {"doubled": 8, "timed": True},
    ]


def test_every_driver_is_there() -> None:
    assert [peer.driver for peer in PEERS.values() if not (SCRIPT.parent / f"{peer.driver}.py").exists()] == []


def test_install_makes_an_environment_and_installs_what_is_pinned(
    peers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps: list[list[str]] = []

    def run(step: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        steps.append(step)
        if step[1:3] == ["-m", "venv"]:
            (Path(step[-1]) / "bin").mkdir(parents=True)
            (Path(step[-1]) / "bin" / "python").symlink_to(sys.executable)
        return subprocess.CompletedProcess(step, 0)

    monkeypatch.setattr(subprocess, "run", run)

    assert command.main(["install", "hermes-agent"]) == 0

    home = peers / "hermes-agent"
    assert steps == [
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "hermes-agent==0.19.0"],
    ]
    assert "hermes-agent: installed\nheadroom: not installed" in capsys.readouterr().out


def test_an_installation_that_fails_leaves_the_peer_not_installed(peers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda step, **_: subprocess.CompletedProcess(step, int("pip" in step)))

    assert command.main(["install", "headroom"]) == 1
    assert not available("headroom")


@pytest.mark.parametrize("arguments", [[], ["remove"], ["list", "headroom"], ["install", "nobody"]])
def test_what_the_command_does_not_understand_is_said(
    arguments: list[str], peers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    assert capsys.readouterr().err.startswith(("usage: ", "no peer nobody; there are hermes-agent, headroom"))


def test_a_peer_that_hangs_is_given_up(peers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(peers, "headroom")
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.0)

    with pytest.raises(PeerFailed, match=r"^headroom: no answer within 0.0 s$"):
        ask("headroom", [])
