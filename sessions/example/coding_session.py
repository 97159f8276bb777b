"""The two-hour coding session as a plan: 127 minutes, 83 calls, six exchanges.

Adds to every response what the agent keeps in mind, so that the whole has the length of a
real session. Figures are pinned by tests; the story is in README.md.
"""

from __future__ import annotations

from dataclasses import replace

from sessions.example.coding_amounts import amounts
from sessions.example.coding_first_tests import first_tests
from sessions.example.coding_investigation import investigation
from sessions.example.coding_keys import keys
from sessions.example.coding_savepoints import savepoints
from sessions.example.coding_verification import verification
from sessions.example.reasoning import thought
from sessions.example.script import Exchange

SENTENCES = 12
LATE_FROM = 2


def coding_session() -> tuple[Exchange, ...]:
    """The six exchanges, thinking filled in."""
    plans = (investigation(), first_tests(), amounts(), keys(), savepoints(), verification())
    step = 0
    exchanges = []
    for position, exchange in enumerate(plans):
        responses = []
        for response in exchange.responses:
            step += 1
            filled = thought(response.thinking, step, sentences=SENTENCES, is_late=position >= LATE_FROM)
            responses.append(replace(response, thinking=filled))
        exchanges.append(replace(exchange, responses=tuple(responses)))
    return tuple(exchanges)
