"""Two web processes and a worker, each with a data folder of its own: whichever is asked, the answer is the same."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
import pytest
from channels_redis.core import RedisChannelLayer  # type: ignore[import-untyped]  # it ships no types

from tests.compression.live.requests import openai_messages
from tests.compression.session_files import log_text
from tests.integration.machines import Machines, machines, wait_until
from tests.integration.servers import Servers
from tests.integration.websocket import frames

START = """
from django.contrib.auth.models import User
from django.test import Client
from compression import runs
from compression.engine.presets import PRESETS
from sessions.models import Membership, Project
from sessions.tokens import create_token
from tests.compression.sessions import parsed, store
user = User.objects.create_user("ada")
project = Project.objects.create(name="Apollo", slug="apollo")
Membership.objects.create(project=project, user=user, role="owner")
for number in range(40):
    store(parsed(14, key=f"k-{number}", lines=60), project)
client = Client()
client.force_login(user)
print(client.cookies["hermes_session"].value)
print(create_token(project=project, scope="write")[1])
"""
POLICY = {"extends": "chapter", "context_window": 12_000, "recent_tokens": 2_000}


@dataclass(frozen=True, slots=True)
class Site:
    """The ports of two web processes, and what a browser and an agent know."""

    machines: Machines
    ports: tuple[int, int]
    cookie: str
    token: str

    def call(self, port: int, path: str, body: Any = None) -> Any:
        """An answer of the API, as JSON; a body that is no bytes is sent as JSON."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with urlopen(Request(f"http://127.0.0.1:{port}/api/v1/{path}", sent, headers), timeout=30) as answer:
            return json.load(answer)

    def page(self, port: int, path: str) -> int:
        """The status that a signed-in browser gets; being sent to the sign-in page counts as 401."""
        try:
            with urlopen(Request(f"http://127.0.0.1:{port}{path}", headers={"Cookie": self.cookie}), timeout=30) as got:
                return 401 if "/signin/" in got.url else int(got.status)
        except HTTPError as refusal:
            return refusal.code

    def start_run(self) -> int:
        """Of all sessions; it waits for a worker."""
        return int(self.call(self.ports[0], "projects/apollo/runs", {"policy": POLICY})["id"])

    def cancel(self, run: int) -> None:
        """Past the web processes, so that neither knows unless it looks."""
        with psycopg.connect(self.machines.database_url) as database:
            database.execute("UPDATE compression_run SET state = 'cancelled' WHERE id = %s", [run])


@pytest.fixture(scope="module")
def site(servers: Servers, tables: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with machines(servers, folder, like=tables) as made, made.web() as first, made.web() as second:
        session, token = made.shell(START).splitlines()
        yield Site(made, (first, second), f"hermes_session={session}", token)


def test_who_signed_in_at_one_is_signed_in_at_the_other(site: Site) -> None:
    assert [site.page(port, "/projects/apollo/") for port in site.ports] == [200, 200]


def test_an_original_that_one_stored_is_given_back_by_the_other(site: Site) -> None:
    first, second = site.ports
    small = {"extends": "hermes", "context_window": 40_000, "recent_tokens": 8_000}

    answer = site.call(first, "compress", {"policy": small, "messages": openai_messages(8)})

    assert answer["addresses"]
    assert site.call(second, f"snapshots/{answer['addresses'][0]}")["text"] == log_text(0)


def test_the_same_file_sent_to_both_at_once_is_stored_once(site: Site) -> None:
    body = json.dumps({"messages": openai_messages(5, 20)}).encode()

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda port: site.call(port, "projects/apollo/sessions", body), site.ports))

    [one], [other] = (answer["sessions"] for answer in answers)
    assert one["session_id"] == other["session_id"]
    assert sorted([one["status"], other["status"]]) == ["created", "unchanged"]


def test_sockets_of_both_follow_a_run_that_a_worker_does_and_close_at_its_end(site: Site) -> None:
    run = site.start_run()

    def watched(port: int) -> list[dict[str, Any]]:
        return list(frames(port, f"/ws/runs/{run}/", cookie=site.cookie))

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(watched, port) for port in site.ports]
        with site.machines.worker():
            seen = [one.result(timeout=90) for one in both]

    for told in seen:
        assert (told[-1]["state"], told[-1]["done"], told[-1]["failed"]) == ("done", told[-1]["total"], 0)
        assert all(earlier["done"] <= later["done"] for earlier, later in pairwise(told))
        assert any(0 < frame["done"] < frame["total"] for frame in told)


def test_a_word_over_redis_reaches_the_sockets_of_both_before_they_look_by_themselves(site: Site) -> None:
    run = site.start_run()

    async def say() -> None:
        layer = RedisChannelLayer(hosts=[site.machines.redis_url], prefix="hermes")
        await layer.group_send(f"run-{run}", {"type": "run.moved"})
        await layer.close_pools()

    watching = [frames(port, f"/ws/runs/{run}/", cookie=site.cookie) for port in site.ports]
    assert [next(one)["done"] for one in watching] == [0, 0]
    time.sleep(0.6)
    one_done = "UPDATE compression_runresult SET state = 'done' WHERE run_id = %s AND session_id = 1"
    with psycopg.connect(site.machines.database_url) as database:
        database.execute(one_done, [run])
    told_at = time.monotonic()
    asyncio.run(say())

    assert [next(one)["done"] for one in watching] == [1, 1]
    assert time.monotonic() - told_at < 3
    site.cancel(run)
    for one in watching:
        one.close()


def test_a_socket_without_news_stays_open(site: Site) -> None:
    run = site.start_run()
    watching = frames(site.ports[0], f"/ws/runs/{run}/", cookie=site.cookie)
    assert next(watching)["state"] == "queued"

    time.sleep(7)  # longer than one wait of the layer and one look of the socket's own
    site.cancel(run)

    assert [frame["state"] for frame in watching] == ["cancelled"]


def test_answered_requests_leave_no_connection_to_the_database_behind(site: Site) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda n: site.page(site.ports[n % 2], "/projects/apollo/"), range(40))) == {200}

    open_now = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    wait_until(lambda: site.machines.ask(open_now) == 0, seconds=10)
