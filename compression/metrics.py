"""Figures of compression for Prometheus: how often, of how many tokens, down to what share, in how many seconds.

Every process of a host writes its own files in one folder, and whoever is asked adds them up: web processes and
workers answer alike. Labels hold fixed words only, never a name or a text of anybody.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from compression.engine.edits import Event

logger = logging.getLogger(__name__)

Source = Literal["live", "run"]
"""``live``: a request of an agent; ``run``: a replay in a run, those that were stored before left out."""

TOKENS = (4_000, 8_000, 16_000, 32_000, 64_000, 96_000, 128_000, 160_000, 200_000, 400_000, 1_000_000)
RATIO = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_own = CollectorRegistry()
_compressions = Counter(
    "hermes_compression", "Events that changed a window, by their kind.", ["source", "kind"], registry=_own
)
_tokens_before = Histogram(
    "hermes_tokens_before_compression",
    "Tokens of the window before an event, the hidden prefix included.",
    ["source"],
    buckets=TOKENS,
    registry=_own,
)
_ratio = Histogram(
    "hermes_compression_ratio",
    "Tokens of the window after an event / before it.",
    ["source"],
    buckets=RATIO,
    registry=_own,
)
_latency = Histogram(
    "hermes_compression_latency_seconds",
    "live: one request that was compressed; run: one session replayed that has an event.",
    ["source"],
    buckets=SECONDS,
    registry=_own,
)


def count(source: Source, events: Iterable[Event], seconds: float) -> None:
    """The events of one request or of one replay, which took so long; those that changed nothing do not count.

    Never in the way: a folder that cannot be written costs figures, not an answer.
    """
    acted = [event for event in events if event.changes]
    if not acted:
        return
    try:
        for event in acted:
            _compressions.labels(source, event.kind).inc()
            _tokens_before.labels(source).observe(event.before)
            if event.before:
                _ratio.labels(source).observe(event.after / event.before)
        _latency.labels(source).observe(seconds)
    except OSError as error:
        logger.warning("figures for Prometheus could not be written: %s", error)


def _at_zero(source: Source) -> None:
    """Names a source's figures, so that a rate has a beginning and a new server shows what it counts."""
    try:
        _compressions.labels(source, "compress")
        for histogram in (_tokens_before, _ratio, _latency):
            histogram.labels(source)
    except OSError as error:
        logger.warning("figures for Prometheus could not be written: %s", error)


def exposition() -> bytes:
    """The sums over all processes of this host, as Prometheus reads them; zero where nothing has happened yet."""
    for source in get_args(Source):
        _at_zero(source)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # the library leaves its constructor without types
    return generate_latest(together)
