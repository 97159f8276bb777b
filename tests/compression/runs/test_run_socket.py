"""The socket of a run, through the whole stack: origin, session cookie, routing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings as site
from django.contrib.auth.models import User
from django.test import Client

from compression import consumers, execution, runs
from compression.models import Run
from hermes_site.asgi import application
from sessions.models import Membership, Project
from tests.compression.runs.starting import finished, queued, three_sessions

# Channels closes connections as it likes, which a test's transaction would not survive.
pytestmark = pytest.mark.django_db(transaction=True)

Talk = Callable[[WebsocketCommunicator], Awaitable[Any]]


@pytest.fixture
def tasks_wait(settings: Any) -> None:
    settings.TASKS = {"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}}


@pytest.fixture
def run(project: Project, tasks_wait: None) -> Run:
    three_sessions(project)
    return queued(project)


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN", 0.01)


def talk(user: User | None, run_id: int, what: Talk, *, origin: bytes = b"http://localhost") -> Any:
    """Open the socket as a browser of ``user`` would, do something with it, close it."""
    headers = [(b"origin", origin), (b"host", b"localhost")]
    if user is not None:
        client = Client()
        client.force_login(user)
        cookie = client.cookies[site.SESSION_COOKIE_NAME].value
        headers.append((b"cookie", f"{site.SESSION_COOKIE_NAME}={cookie}".encode()))

    async def go() -> Any:
        socket = WebsocketCommunicator(application, f"/ws/runs/{run_id}/", headers=headers)
        try:
            return await what(socket)
        finally:
            await socket.disconnect()

    return async_to_sync(go)()


async def handshake(socket: WebsocketCommunicator) -> Any:
    return await socket.connect(timeout=20)


async def first_frame(socket: WebsocketCommunicator) -> Any:
    await socket.connect(timeout=20)
    return await socket.receive_json_from(timeout=20)


def test_a_member_is_told_where_the_run_stands(user: User, run: Run) -> None:
    frame = talk(user, run.pk, first_frame)

    assert frame == {
        "type": "progress",
        "seq": 1,
        "state": "queued",
        "is_over": False,
        "total": 3,
        "done": 0,
        "failed": 0,
        "running": 0,
        "reused": 0,
        "rate": None,
        "seconds_left": None,
    }


def test_nobody_who_is_not_signed_in_watches(run: Run) -> None:
    assert talk(None, run.pk, handshake) == (False, 4401)


def test_a_run_of_another_project_does_not_exist(stranger: User, other_project: Project, run: Run) -> None:
    assert talk(stranger, run.pk, handshake) == (False, 4404)


@pytest.mark.parametrize("run_id", [999_999, 2**70])
def test_a_run_that_is_not_there_does_not_exist(user: User, project: Project, run_id: int) -> None:
    assert talk(user, run_id, handshake) == (False, 4404)


def test_a_page_of_another_site_gets_no_socket(user: User, run: Run) -> None:
    is_open, _ = talk(user, run.pk, handshake, origin=b"http://evil.example")

    assert is_open is False


def test_frames_follow_the_work_until_the_run_is_over_and_the_socket_closes(user: User, run: Run) -> None:
    async def watch(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        frames = [await socket.receive_json_from(timeout=20)]
        await sync_to_async(execution.work)(run.pk)
        while not frames[-1]["is_over"]:
            frames.append(await socket.receive_json_from(timeout=20))
        return frames, await socket.receive_output(timeout=20)

    frames, closing = talk(user, run.pk, watch)

    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert (frames[-1]["state"], frames[-1]["done"], frames[-1]["total"]) == ("done", 3, 3)
    assert closing == {"type": "websocket.close", "code": 1000}


def test_a_run_that_is_over_says_so_once(user: User, project: Project, tasks_wait: None) -> None:
    three_sessions(project)
    done = finished(project)

    async def watch(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        return await socket.receive_json_from(timeout=20), await socket.receive_output(timeout=20)

    frame, closing = talk(user, done.pk, watch)

    assert (frame["state"], frame["done"], closing["code"]) == ("done", 3, 1000)


def test_who_reconnects_gets_the_whole_state_and_higher_numbers(user: User, run: Run) -> None:
    async def resume(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        first = await socket.receive_json_from(timeout=20)
        await socket.send_json_to({"resume_from": 41})
        return first, await socket.receive_json_from(timeout=20)

    first, again = talk(user, run.pk, resume)

    assert again == {**first, "seq": 42}


@pytest.mark.parametrize("text", ["{", "[1]", '{"resume_from": "x"}', '{"resume_from": -1}', '{"resume_from": true}'])
def test_what_makes_no_sense_is_not_answered(user: User, run: Run, text: str) -> None:
    async def babble(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        await socket.receive_json_from(timeout=20)
        await socket.send_to(text_data=text)
        return await socket.receive_nothing(timeout=0.1)

    assert talk(user, run.pk, babble) is True


def test_whoever_is_taken_out_of_the_project_is_cut_off(user: User, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "LOOKS_BETWEEN_CHECKS", 1)

    async def watch(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        await socket.receive_json_from(timeout=20)
        await sync_to_async(Membership.objects.all().delete)()
        return await socket.receive_output(timeout=20)

    assert talk(user, run.pk, watch) == {"type": "websocket.close", "code": 4404}


def test_a_socket_that_cannot_read_any_more_is_closed(
    user: User, run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(run: Run) -> Any:
        raise ValueError("no more rows")

    monkeypatch.setattr(consumers, "row_of", breaks)

    async def watch(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        return await socket.receive_output(timeout=20)

    assert talk(user, run.pk, watch) == {"type": "websocket.close", "code": 1011}
    assert caplog.messages == [f"run {run.pk} can no longer be watched"]


def test_a_page_that_watches_takes_up_what_dead_workers_left(
    user: User, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "LOOKS_BETWEEN_CHECKS", 1)
    taken = asyncio.Event()
    monkeypatch.setattr(runs, "take_up", taken.set)

    async def watch(socket: WebsocketCommunicator) -> Any:
        await socket.connect(timeout=20)
        async with asyncio.timeout(20):
            await taken.wait()
        return taken.is_set()

    assert talk(user, run.pk, watch) is True
