"""Which stored session a recording is another version of.

A session with an id of its own is known by it. One that has none is known by what it says: it is the
stored session of which it is a continuation, or an older copy. Two recordings that merely open with the
same words stay two sessions, the later one under ``key~2``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db.models import Q, QuerySet

from sessions.importers.parsed import ParsedMessage, ParsedSession
from sessions.importers.storable_text import storable_text
from sessions.models import KEY_LENGTH, Message, Project, Session
from sessions.storable import storable_json

Records = Sequence[Sequence[dict[str, Any]]]
"""The parts of every message as they are stored, their tokens still 0."""

FIRST_LOOK = 4


@dataclass(frozen=True, slots=True)
class Home:
    """Where a recording belongs: a stored session, or None and the free key of a new one."""

    session: Session | None
    key: str
    is_covered: bool = False  # the stored session holds all of the recording


def stored_key(key: str) -> str:
    """The session's own key, or the hash of one that is too long to be stored."""
    key = storable_text(key)
    return key if len(key) <= KEY_LENGTH else "sha256:" + sha256(key.encode()).hexdigest()


def home_of(
    parsed: ParsedSession, content: str, parts: Records, *, project: Project, apart_from: Collection[int] = ()
) -> Home:
    """``content`` is the recording's sha256; sessions in ``apart_from`` are other ones of the same file."""
    if not parsed.beginning:
        key = stored_key(parsed.key)
        known = Session.objects.filter(project=project, key=key).first()
        if known is None or known.content_sha256 == content:
            return Home(known, key, known is not None)
        shared = agreeing(Session.objects.filter(pk=known.pk), parsed.messages, parts)
        return Home(known, key, len(parts) < known.message_count and known.pk in shared)
    key = stored_key(parsed.beginning)
    named_alike = Session.objects.filter(Q(key=key) | Q(key__startswith=f"{key}~"), project=project)
    known_keys = dict(named_alike.values_list("key", "pk"))
    candidates = named_alike.exclude(pk__in=apart_from)
    same = candidates.filter(content_sha256=content).order_by("pk").first()
    if same is not None:
        return Home(same, same.key, is_covered=True)
    shared = agreeing(candidates, parsed.messages, parts) if known_keys else {}
    if shared:
        found = candidates.filter(pk__in=shared).order_by("-message_count", "pk").first()
        if found is not None:
            is_covered = found.message_count > len(parts) or shared[found.pk] > len(parts[-1])
            return Home(found, found.key, is_covered)
    number, free = 1, key
    while free in known_keys:
        number += 1
        free = f"{key}~{number}"
    return Home(None, free)


def agreeing(sessions: QuerySet[Session], messages: Sequence[ParsedMessage], parts: Records) -> dict[int, int]:
    """Of these sessions the ones that say the same as far as both go, each with the number of parts in its message at
    the recording's last place.

    Looks at a few messages of all, then at more and more of those that are left. The last message of the shorter one
    may lack parts: a response is logged piece by piece.
    """
    lengths = dict(sessions.values_list("pk", "message_count"))
    left = dict.fromkeys(lengths, 0)
    start, span = 0, FIRST_LOOK
    while left and start < len(messages):
        rows = Message.objects.filter(session__in=list(left), index__gte=start, index__lt=start + span)
        for pk, index, role, stored in rows.values_list("session", "index", "role", "parts"):
            if pk not in left or index >= len(messages):
                continue
            is_last = index == min(lengths[pk], len(messages)) - 1
            if role != messages[index].role or not same_parts(stored, parts[index], may_grow=is_last):
                del left[pk]
            elif index == len(messages) - 1:
                left[pk] = len(stored)
        start, span = start + span, span * 2
    return left


def same_parts(stored: list[dict[str, Any]], given: Sequence[dict[str, Any]], *, may_grow: bool) -> bool:
    if len(stored) != len(given) and not may_grow:
        return False
    pairs = zip(stored, storable_json(given), strict=False)
    return all(old | {"tokens": 0} == new for old, new in pairs)
