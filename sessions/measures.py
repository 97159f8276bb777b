"""Asks for the token counts and the calibration of a session.

Who counts is a setting (``AGENT_SESSIONS_MEASURE``), because counting belongs to an app
that builds on this one. Nothing here knows a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from sessions.importers.parsed import ParsedSession

# What a message costs besides its parts: the role and the marks around it.
MESSAGE_OVERHEAD_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Measurement:
    """``part_tokens[i][j]``: uncalibrated tokens of part j of message i. ``calibration``: at least k, hidden and
    points. ``silent``: boundaries without a record, each with at least ``turn``, ``kind`` and ``tokens_left``.
    ``window_tokens``: the context window that a policy would assume, also where the log names none."""

    part_tokens: list[list[int]]
    calibration: dict[str, Any] = field(default_factory=dict)
    silent: list[dict[str, Any]] = field(default_factory=list)
    window_tokens: int | None = None

    @property
    def counted_tokens(self) -> int:
        return sum(map(sum, self.part_tokens)) + MESSAGE_OVERHEAD_TOKENS * len(self.part_tokens)


def measure(parsed: ParsedSession) -> Measurement:
    function = cast("Callable[[ParsedSession], Measurement]", import_string(settings.AGENT_SESSIONS_MEASURE))
    return function(parsed)
