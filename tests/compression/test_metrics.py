"""/metrics: what is counted, who may read it, and that it adds up over processes and names nobody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from compression import metrics, runs
from compression.engine.edits import Event
from compression.engine.presets import PRESETS
from sessions.models import Project
from sessions.tokens import create_token
from tests.compression.sessions import with_event

NAMES = {
    "hermes_compression",
    "hermes_tokens_before_compression",
    "hermes_compression_ratio",
    "hermes_compression_latency_seconds",
}


def samples() -> dict[tuple[str, frozenset[str]], float]:
    """Every sample by its name and the values of its labels."""
    text = metrics.exposition().decode()
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def grown() -> Callable[..., float]:
    """By how much a sample grew in this test."""
    before = samples()

    def by(name: str, *labels: str) -> float:
        key = (name, frozenset(labels))
        return samples().get(key, 0) - before.get(key, 0)

    return by


def test_an_event_counts_in_every_figure(grown: Callable[..., float]) -> None:
    metrics.count("live", [Event(3, "archive", 100_000, 40_000, left=(1, 2))], 0.2)

    assert grown("hermes_compression_total", "live", "archive") == 1
    assert grown("hermes_tokens_before_compression_sum", "live") == 100_000
    assert grown("hermes_compression_ratio_sum", "live") == pytest.approx(0.4)
    assert grown("hermes_compression_latency_seconds_sum", "live") == pytest.approx(0.2)


def test_a_new_server_names_its_four_figures_at_zero(tmp_path: Path) -> None:
    script = "from compression.metrics import exposition; print(exposition().decode())"
    env = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}

    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)

    families = list(text_string_to_metric_families(done.stdout))
    assert {family.name for family in families} == NAMES
    assert {sample.value for family in families for sample in family.samples} == {0.0}


def test_an_event_that_changed_nothing_does_not_count(grown: Callable[..., float]) -> None:
    metrics.count("live", [Event(3, "skip", 100_000, 100_000)], 0.2)

    assert grown("hermes_compression_total", "live", "skip") == 0
    assert grown("hermes_compression_latency_seconds_count", "live") == 0


def test_a_live_request_that_is_compressed_counts(grown: Callable[..., float], project: Project) -> None:
    long = "\n".join(f"line {n} of a listing that nobody reads again" for n in range(4_000))
    messages = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "a", "content": long},
        {"role": "user", "content": "Go on"},
    ]  # fmt: skip
    body = {"messages": messages, "force": True, "policy": {"recent_tokens": 0, "context_window": 60_000}}
    token = create_token(project=project, scope="write")[1]

    answer = Client().post(
        "/api/v1/compress", json.dumps(body), "application/json", headers={"authorization": f"Bearer {token}"}
    )

    said = answer.json()["event"]
    assert grown("hermes_compression_total", "live", said["kind"]) == 1
    assert grown("hermes_tokens_before_compression_sum", "live") == said["before"]
    assert grown("hermes_compression_latency_seconds_count", "live") == 1


@pytest.mark.django_db(transaction=True)
def test_a_run_counts_what_it_replays_and_not_what_was_stored(grown: Callable[..., float], project: Project) -> None:
    with_event(project)

    for _ in range(2):
        runs.start(project=project, policy=PRESETS["hermes"], label="hermes")

    assert grown("hermes_compression_latency_seconds_count", "run") == 1


def test_figures_of_other_processes_are_in_the_sums(grown: Callable[..., float]) -> None:
    script = (
        "import django; django.setup();"
        "from compression import metrics;"
        "metrics._compressions.labels('run', 'compress').inc(5)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "hermes_site.settings"}
    root = Path(__file__).parents[2]

    subprocess.run([sys.executable, "-c", script], check=True, env=environment, cwd=root)

    assert grown("hermes_compression_total", "run", "compress") == 5


def test_the_names_are_those_that_dashboards_know(client: Client) -> None:
    metrics.count("live", [], 0)

    text = client.get("/metrics").content.decode()

    families = list(text_string_to_metric_families(text))
    assert {family.name for family in families} <= NAMES
    assert {label for family in families for sample in family.samples for label in sample.labels} <= {
        "source", "kind", "le",
    }  # fmt: skip


# who may


def status(*, remote: str = "127.0.0.1", **headers: str) -> int:
    return Client(REMOTE_ADDR=remote).get("/metrics", headers=headers).status_code


@pytest.mark.parametrize("remote", ["127.0.0.1", "127.8.0.1", "::1"])
def test_without_a_token_this_host_reads_them(remote: str) -> None:
    assert status(remote=remote) == 200


@pytest.mark.parametrize("remote", ["10.0.0.7", "93.184.216.34", "2606:4700::1111", ""])
def test_without_a_token_other_hosts_do_not(remote: str) -> None:
    assert status(remote=remote) == 403


@pytest.mark.parametrize("name", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
def test_without_a_token_what_a_proxy_brings_is_of_another_host(name: str) -> None:
    assert status(**{name: "127.0.0.1"}) == 403


def test_with_a_token_whoever_brings_it_reads_them(settings: Settings) -> None:
    settings.HERMES_METRICS_TOKEN = "scrape-me"

    assert status(remote="10.0.0.7", authorization="Bearer scrape-me") == 200


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic scrape-me", "Bearer scräpe"])
def test_with_a_token_nobody_reads_them_without(settings: Settings, given: str) -> None:
    settings.HERMES_METRICS_TOKEN = "scrape-me"

    assert status(authorization=given) == 401
