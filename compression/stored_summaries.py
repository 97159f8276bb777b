"""The figures of replays that somebody looked at without a run: read off what is stored, never worked out here.

A replay has to be unpacked for its figures, so that only so many are read; a process remembers them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from compression.engine import ENGINE_VERSION
from compression.engine.policy import Policy
from compression.execution import figures_of
from compression.models import RunResult, StoredReplay
from compression.project_prices import digest_of
from compression.replay_document import OldLayout, ReplayDocument
from sessions.models import Project

READ = 50
REMEMBERED = 2_000
_known: OrderedDict[tuple[int, str], Mapping[str, Any] | None] = OrderedDict()


def results_of_replays(project: Project, policy: Policy, known: QuerySet[RunResult]) -> list[RunResult]:
    """Unsaved results of the newest stored replays of a policy whose session is in none of ``known``.

    ``known`` is filtered by the session and revision of each replay. Two queries, three when some are unpacked.
    """
    current = StoredReplay.objects.filter(
        session__project=project,
        revision=F("session__revision"),
        policy_digest=policy.digest,
        history="as-recorded" if policy.strategy == "recorded" else "uncompacted",
        engine_version=ENGINE_VERSION,
        prices_digest=digest_of(project),
    ).filter(~Exists(known.filter(session=OuterRef("session"), session_revision=OuterRef("revision"))))
    replays = list(
        current.select_related("session")
        .order_by("-pk")
        .only(
            "created_at", "revision", "session__title", "session__key", "session__model", "session__turn_count",
            "session__project_id",
        )[:READ]
    )  # fmt: skip
    keys = {replay.pk: (replay.pk, replay.created_at.isoformat()) for replay in replays}
    unread = [pk for pk, key in keys.items() if key not in _known]
    if unread:
        for pk, body in StoredReplay.objects.filter(pk__in=unread).values_list("pk", "body").iterator(chunk_size=5):
            _known[keys[pk]] = _summary(bytes(body))
    while len(_known) > REMEMBERED:
        _known.popitem(last=False)
    return [
        RunResult(
            session=replay.session,
            state=RunResult.State.DONE,
            session_revision=replay.revision,
            **figures_of(summary),
        )
        for replay in reversed(replays)
        if (summary := _known.get(keys[replay.pk])) is not None
    ]


def _summary(body: bytes) -> Mapping[str, Any] | None:
    try:
        return ReplayDocument.unpacked(body).summary
    except OldLayout:
        return None
