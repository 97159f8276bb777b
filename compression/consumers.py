"""The socket of a run's page: says where the run stands until it is over.

Reads the run's rows: about twice a second where processes share nothing but the database, and where they share
a channel layer (REDIS_URL) as soon as a worker says that something moved. What a worker says is a hint, never a
figure: a lost one is made up for by the next look. Each frame holds the whole state; whoever reconnects has missed
nothing.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from compression import run_news, runs
from compression.models import Run
from compression.run_progress import progress_row
from sessions.models import Project

logger = logging.getLogger(__name__)

SECONDS_BETWEEN = 0.5
SECONDS_WITHOUT_NEWS = 5.0
"""How long a socket that workers talk to waits for their word before it looks by itself."""

LOOKS_BETWEEN_CHECKS = 10
"""Every so many looks: is the watcher still a member, and did a worker die. Each look without news is one."""

NOT_SIGNED_IN, NO_SUCH_RUN = 4401, 4404
BROKEN = 1011
LARGEST_SEQ = 2**53 - 1


class RunProgress(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """``{"type": "progress", "seq", ...}`` until ``is_over``, then the socket closes with 1000.

    ``{"resume_from": seq}`` asks for the present state at once; numbering goes on behind ``seq``.
    """

    async def connect(self) -> None:
        user: AbstractBaseUser | AnonymousUser = self.scope["user"]
        self.seq = 0
        self.last: dict[str, Any] = {}
        self.watching: asyncio.Task[None] | None = None
        self.news = asyncio.Event()
        self.group = ""
        if not user.is_authenticated:
            await self.close(NOT_SIGNED_IN)
            return
        self.run_id: int = self.scope["url_route"]["kwargs"]["run_id"]
        run: Run | None = await database_sync_to_async(visible_run)(user.pk, self.run_id)
        if run is None:
            await self.close(NO_SUCH_RUN)
            return
        self.user_id = user.pk
        self.group = run_news.group(run.pk) if run_news.is_heard_everywhere() else ""
        if self.group:
            await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        self.watching = asyncio.create_task(self.watch_or_close(run))

    async def watch_or_close(self, run: Run) -> None:
        """A socket that can no longer tell anything is closed, so that its page polls or asks again."""
        try:
            await self.watch(run)
        except Exception:  # whatever it was: the log has it
            logger.exception("run %s can no longer be watched", run.pk)
            await self.close(BROKEN)

    async def watch(self, run: Run) -> None:
        looks = 0
        while True:
            row: dict[str, Any] = await database_sync_to_async(row_of)(run)
            if row != self.last:
                self.last = row
                await self.send_state()
            if row["is_over"]:
                await self.close(1000)
                return
            looks += await self.next_look()
            if looks >= LOOKS_BETWEEN_CHECKS:
                looks = 0
                if await database_sync_to_async(visible_run)(self.user_id, self.run_id) is None:
                    await self.close(NO_SUCH_RUN)
                    return
                await database_sync_to_async(runs.take_up)()

    async def next_look(self) -> int:
        """Wait for it; gives how many of the looks without news the time was worth."""
        await asyncio.sleep(SECONDS_BETWEEN)
        if not self.group:
            return 1
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_WITHOUT_NEWS - SECONDS_BETWEEN):
                await self.news.wait()
                self.news.clear()
                return 1
        return LOOKS_BETWEEN_CHECKS

    async def run_moved(self, message: dict[str, Any]) -> None:
        """A worker's word (``run_news``)."""
        self.news.set()

    async def send_state(self) -> None:
        self.seq += 1
        await self.send_json({"type": "progress", "seq": self.seq, **self.last})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """What is no JSON object is not answered."""
        with suppress(ValueError):
            await super().receive(text_data=text_data or "null", **kwargs)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        seq = content.get("resume_from") if isinstance(content, dict) else None
        if type(seq) is int and 0 <= seq <= LARGEST_SEQ:
            self.seq = max(self.seq, seq)
            if self.last:
                await self.send_state()

    async def disconnect(self, code: int) -> None:
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)
        if self.watching is not None and self.watching is not asyncio.current_task():
            self.watching.cancel()


def visible_run(user_id: int, run_id: int) -> Run | None:
    """The run, if the user may see it now."""
    user = get_user_model().objects.filter(pk=user_id).first()
    if user is None:
        return None
    return Run.objects.filter(pk=run_id, project__in=Project.objects.visible_to(user)).first()


def row_of(run: Run) -> dict[str, Any]:
    return progress_row(runs.progress(run))
