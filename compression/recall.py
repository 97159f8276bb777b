"""Recall from the database: an address resolves only inside a project that holds the original.

A project holds what its recorded sessions hold, what stored replays took out of their windows, and what it
compressed for live agents.
"""

from __future__ import annotations

from compression.engine.snapshots import UnknownAddress, address_digits, resolve
from compression.models import Snapshot
from compression.replayed_originals import replayed_original
from sessions.models import Message, Original

CANDIDATES = 2
"""Originals that are looked at for a short address: the second one already makes it ambiguous."""


class Gone(UnknownAddress):
    """The original was there and has been deleted."""


def stored_original(project_slug: str | None, address: str) -> tuple[str, bytes]:
    """(sha256, bytes) of the original that an address means in a project; UnknownAddress when there is none.

    None looks through all projects: for whoever has the database itself at hand, never for a request.
    """
    digits = address_digits(address)
    messages = Message.objects.filter(original__sha256__startswith=digits)
    snapshots = Snapshot.objects.filter(sha256__startswith=digits)
    if project_slug is not None:
        messages = messages.filter(session__project__slug=project_slug)
        snapshots = snapshots.filter(project__slug=project_slug)
    recorded = messages.order_by("original").values_list("original", flat=True).distinct()[:CANDIDATES]
    live = snapshots.order_by("sha256").values_list("sha256", flat=True).distinct()[:CANDIDATES]
    held = {*recorded}
    try:
        sha = resolve(address, {*held, *live})
    except UnknownAddress as error:
        if not (held or live) and (found := replayed_original(project_slug, address)) is not None:
            return found[0], found[1].encode("utf-8", "surrogatepass")
        where = "any project" if project_slug is None else f"project {project_slug!r}"
        raise UnknownAddress(f"{error} in {where}") from None
    if sha in held:
        return sha, Original.objects.get(sha256=sha).text.encode()
    body = snapshots.filter(sha256=sha, body__isnull=False).values_list("body", flat=True).first()
    if body is None:
        raise Gone(f"{address} is gone: its original was deleted")
    return sha, bytes(body)
