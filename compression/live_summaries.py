"""Summaries by the configured model for one window of a live agent, when its policy asks for them.

The model is asked after the engine has decided and before anything is stored or sent; the engine then does the same
again with what stood the test. Whatever fails, the window goes out with the engine's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from django.conf import settings

from compression.engine.ladder import state_budget
from compression.engine.policy import Policy
from compression.engine.summaries import SummaryRequest, requests_of
from compression.engine.tokens import default_counter
from compression.live_window import Outcome
from compression.summarizers import BadChoice, Resolution, Summarizer, resolve, summarizer_from
from compression.summarizers import Outcome as Asked

_SETTINGS = (
    "HERMES_SUMMARIZER", "HERMES_SUMMARIZER_MODEL", "HERMES_SUMMARIZER_BASE_URL", "HERMES_SUMMARIZER_API_KEY",
)  # fmt: skip


@lru_cache(maxsize=1)
def _summarizer(*values: str) -> Summarizer:
    """Kept for the process: making a client takes a second."""
    return summarizer_from(dict(zip(_SETTINGS, values, strict=True)))


def model_summaries(outcome: Outcome, policy: Policy) -> Resolution:
    """What the model wrote for the prose and the archive of an outcome; nothing unless the policy wants it.

    A summarizer that cannot be used is an outcome of its own, not an error.
    """
    wanted = _requests(outcome) if policy.summaries == "model" else []
    if not wanted:
        return Resolution({}, [])
    try:
        summarizer = _summarizer(*(str(getattr(settings, name)) for name in _SETTINGS))
    except BadChoice as error:
        return Resolution({}, [refused(request.key, str(error)) for request in wanted])
    return resolve(wanted, summarizer, time_limit_s=settings.HERMES_SUMMARIZER_TIMEOUT)


def refused(key: str, reason: str) -> Asked:
    """A request that nobody could be asked."""
    return Asked(key, "none", accepted=False, reason=reason)


def _requests(outcome: Outcome) -> list[SummaryRequest]:
    originals: Mapping[str, str] = outcome.snapshots
    count = default_counter().count_many
    budget = state_budget(outcome.context_window)
    found = requests_of(outcome.edits, originals, count)
    for event in outcome.events:
        note = event.note
        if event.kind == "archive" and note is not None and note.sha256 in originals:
            found.append(SummaryRequest(note.sha256, "archive", originals[note.sha256], budget))
    return found
