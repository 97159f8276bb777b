"""A worker's word to whoever watches a run, over a channel layer that all processes share: "look again".

It carries no figures; those are in the database. Without a shared layer (no REDIS_URL) nobody is told and watchers
look by themselves, and so they do when a word is lost: a Redis that is away never holds up the work.
"""

from __future__ import annotations

import logging
from time import monotonic

from asgiref.sync import async_to_sync
from channels.layers import InMemoryChannelLayer, get_channel_layer
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

SECONDS_BETWEEN = 0.25


def group(run_id: int) -> str:
    """Whom a layer tells about a run."""
    return f"run-{run_id}"


def is_heard_everywhere() -> bool:
    """Whether a word reaches sockets of other processes."""
    layer = get_channel_layer()
    return layer is not None and not isinstance(layer, InMemoryChannelLayer)


class News:
    """What one worker says about one run: no more often than anybody could look, and nothing after it failed once."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id
        self._is_heard = is_heard_everywhere()
        self._told_at = float("-inf")

    def tell(self, *, at_once: bool = False) -> None:
        """Something moved. ``at_once``: nothing will move for a while, so that this word may not wait."""
        now = monotonic()
        if not self._is_heard or (now - self._told_at < SECONDS_BETWEEN and not at_once):
            return
        self._told_at = now
        try:
            async_to_sync(get_channel_layer().group_send)(group(self._run_id), {"type": "run.moved"})
        except (RedisError, OSError) as error:
            self._is_heard = False
            logger.warning("nobody is told about run %s: Redis does not answer (%s)", self._run_id, error)
