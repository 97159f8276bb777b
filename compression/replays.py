"""The replay of a stored session under a policy: worked out once, stored, then read.

The one write path of ``StoredReplay``. Opening a page again runs no engine and loads no message.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from compression.engine import ENGINE_VERSION
from compression.engine.costs import ledger_of
from compression.engine.history import History
from compression.engine.money import dollars
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.models import StoredReplay
from compression.project_prices import digest_of
from compression.replay_document import OldLayout, ReplayDocument, document_of
from compression.transcripts import Subject, from_session
from sessions.models import Session

SHELF_SIZE = 24

_Key = tuple[object, ...]
_shelf: OrderedDict[_Key, ReplayDocument] = OrderedDict()
_lock = Lock()


def stored_replay(session: Session, policy: Policy, *, history: History = "uncompacted") -> ReplayDocument:
    """The replay of the session's present revision; worked out and stored when nobody has done so yet.

    No query when this process has it at hand, one when it is stored; four and a write otherwise. One more where the
    project's prices were not selected along with the session.
    """
    if policy.strategy == "recorded":
        history = "as-recorded"
    key = (
        session.pk,
        session.revision,
        session.updated_at,
        policy.digest,
        history,
        ENGINE_VERSION,
        digest_of(session.project),
    )
    with _lock:
        if (found := _shelf.get(key)) is not None:
            _shelf.move_to_end(key)
            return found
    document = _load(session, policy, history) or _work_out(session, policy, history)
    with _lock:
        _shelf[key] = document
        while len(_shelf) > SHELF_SIZE:
            _shelf.popitem(last=False)
    return document


def is_stored(session: Session, policy: Policy) -> bool:
    """Whether the replay of the session's present revision need not be worked out again."""
    history: History = "as-recorded" if policy.strategy == "recorded" else "uncompacted"
    return _stored(session, policy, history).exists()


def _stored(session: Session, policy: Policy, history: History) -> QuerySet[StoredReplay]:
    return StoredReplay.objects.filter(
        session=session,
        revision=session.revision,
        policy_digest=policy.digest,
        history=history,
        engine_version=ENGINE_VERSION,
        prices_digest=digest_of(session.project),
    )


def _load(session: Session, policy: Policy, history: History) -> ReplayDocument | None:
    body = _stored(session, policy, history).values_list("body", flat=True).first()
    try:
        return None if body is None else ReplayDocument.unpacked(bytes(body))
    except OldLayout:
        return None


def _work_out(session: Session, policy: Policy, history: History) -> ReplayDocument:
    subject = from_session(session)
    done = replay(subject.transcript, policy, subject.calibration, history=history, prices=subject.prices)
    document = document_of(done)
    document = replace(document, summary={**document.summary, "cost_usd_none": cost_without(subject)})
    body = document.packed()  # before the transaction: other workers wait for its lock
    current: dict[str, Any] = {
        "revision": session.revision,
        "engine_version": ENGINE_VERSION,
        "prices_digest": digest_of(session.project),
    }
    with transaction.atomic():
        StoredReplay.objects.filter(session=session).exclude(**current).delete()
        StoredReplay.objects.update_or_create(
            session=session, policy_digest=policy.digest, history=history, **current, defaults={"body": body}
        )
    return document


def cost_without(subject: Subject) -> str | None:
    """Dollars of the session had no policy acted, with the same cache and prices; None without a price."""
    none = replay(subject.transcript, PRESETS["none"], subject.calibration, prices=subject.prices)
    cost = ledger_of(none).cost
    return None if cost is None else dollars(cost.total)
