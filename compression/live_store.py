"""What live agents' compressions leave in the database: originals, which text stands for which, and what was changed.

Everything is written before the compressed request leaves, in one transaction, or not at all.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any

import orjson
from django.db import transaction
from django.db.models.functions import Left

from compression.dialects.bodies import read_request
from compression.dialects.request import SYSTEM, Request
from compression.dialects.validation import violations
from compression.dialects.writing import Change, write
from compression.engine.snapshots import DIGITS, Addresses
from compression.models import LiveEvent, Snapshot, SnapshotReference
from sessions.models import Project

AT_ONCE = 500
"""Rows in one statement; databases take only so many parameters."""


def known_stubs(project: Project, shas: Collection[str]) -> dict[str, str]:
    """Which of these texts (sha256) stand for an original of the project, and for which."""
    found: dict[str, str] = {}
    wanted = sorted(shas)
    for start in range(0, len(wanted), 20 * AT_ONCE):
        rows = SnapshotReference.objects.filter(
            stub_sha256__in=wanted[start : start + 20 * AT_ONCE], snapshot__project=project
        )
        found.update(rows.order_by("pk").values_list("stub_sha256", "snapshot__sha256"))
    return found


class KnownOriginals:
    """The texts of known originals; all of them are read in one query when the first one is asked for."""

    def __init__(self, project: Project, shas: Iterable[str]) -> None:
        self._project = project
        self._shas = sorted(set(shas))
        self._texts: dict[str, str] | None = None

    def get(self, sha: str) -> str | None:
        """The text, None when it is not kept."""
        if self._texts is None:
            rows = Snapshot.objects.filter(project=self._project, sha256__in=self._shas, body__isnull=False)
            self._texts = {
                key: bytes(body).decode("utf-8", "surrogatepass")
                for key, body in rows.values_list("sha256", "body")
                if body is not None
            }
        return self._texts.get(sha)


def taken_addresses(project: Project, shas: Collection[str]) -> Addresses | None:
    """Addresses that keep clear of the project's other originals; None when these originals meet no other one."""
    rows = Snapshot.objects.filter(project=project).annotate(digits=Left("sha256", DIGITS))
    wanted = {sha[:DIGITS] for sha in shas}
    met = rows.filter(digits__in=sorted(wanted)).exclude(sha256__in=sorted(shas)).order_by("pk")
    others = list(met.values_list("digits", "sha256"))
    if not others:
        return None
    addresses = Addresses()
    for digits, sha in others:
        addresses.give(digits, sha)
    return addresses


def keep(
    *,
    project: Project,
    snapshots: Mapping[str, str],
    stubs: Mapping[str, str],
    session: str = "",
    request: Request | None = None,
    change: Change | None = None,
) -> None:
    """Store originals, what stands for them and, for a session, the change that was made of ``request``."""
    with transaction.atomic():
        Snapshot.objects.bulk_create(
            [
                Snapshot(project=project, sha256=sha, body=text.encode("utf-8", "surrogatepass"))
                for sha, text in sorted(snapshots.items())
            ],
            ignore_conflicts=True,
            batch_size=AT_ONCE,
        )
        rows = Snapshot.objects.filter(project=project, sha256__in=sorted({*stubs.values(), *snapshots}))
        pks = dict(rows.values_list("sha256", "pk"))
        SnapshotReference.objects.bulk_create(
            [
                SnapshotReference(snapshot_id=pks[sha], stub_sha256=stub)
                for stub, sha in sorted(stubs.items())
                if sha in pks
            ],
            ignore_conflicts=True,
            batch_size=AT_ONCE,
        )
        if session and request is not None and change is not None:
            reach = _reach(request, change)
            LiveEvent.objects.create(
                project=project,
                session=session,
                prefix_messages=reach,
                prefix_sha256=_prefix_digest(request, reach),
                body=zlib.compress(orjson.dumps(_plain(request, change))),
            )


def changed_as_before(project: Project, session: str, request: Request) -> tuple[Request, int]:
    """The request with every earlier change of its session that fits its history, and how many did.

    An agent that sends the whole history each time gets the same bytes for it each time. One that sends back what it
    was given is left alone: its history is no longer the one that was changed.
    """
    applied = 0
    for event in LiveEvent.objects.filter(project=project, session=session):
        reach = event.prefix_messages
        if len(request.items) < reach or _prefix_digest(request, reach) != event.prefix_sha256:
            continue
        change = _change(request, orjson.loads(zlib.decompress(bytes(event.body))))
        written = write(request, change)
        if violations(request, change, written):
            continue
        array = request.array
        body = request.raw[: array.start] + written.body + request.raw[array.end :]
        request = read_request(body, request.dialect)
        applied += 1
    return request, applied


def _reach(request: Request, change: Change) -> int:
    """How many messages of the array a change needs to find as they were."""
    places = {m for m, _ in change.texts} | set(change.left)
    if change.note_before is not None:
        places.add(min(change.note_before, len(request.messages) - 1))
    return 1 + max((request.sources[m] for m in places), default=SYSTEM)


def _prefix_digest(request: Request, messages: int) -> str:
    """sha256 of the first messages, whatever their blanks and order of keys. Cache marks move, so they do not count."""
    found = sha256()
    for item in request.items[:messages]:
        found.update(orjson.dumps(_without_marks(item.decoded()), option=orjson.OPT_SORT_KEYS))
    return found.hexdigest()


def _without_marks(value: Any) -> Any:
    """A message without cache marks: its own, those of its blocks, and of the blocks of its results."""
    if isinstance(value, dict):
        return {
            key: _without_marks(item) if key == "content" else item
            for key, item in value.items()
            if key != "cache_control"
        }
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def _plain(request: Request, change: Change) -> dict[str, Any]:
    """A change as JSON; messages beside the array do not count, because a caller may leave them out."""
    beside = request.sources.count(SYSTEM)
    return {
        "texts": [[m - beside, p, text] for (m, p), text in sorted(change.texts.items())],
        "left": [m - beside for m in change.left],
        "note": change.note,
        "note_before": None if change.note_before is None else change.note_before - beside,
    }


def _change(request: Request, plain: dict[str, Any]) -> Change:
    beside = request.sources.count(SYSTEM)
    return Change(
        texts={(m + beside, p): text for m, p, text in plain["texts"]},
        left=tuple(m + beside for m in plain["left"]),
        note=plain["note"],
        note_before=None if plain["note_before"] is None else plain["note_before"] + beside,
    )
