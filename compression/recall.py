"""Recall from the database: an address resolves only inside a project that holds the original."""

from __future__ import annotations

from compression.engine.snapshots import UnknownAddress, address_digits, resolve
from sessions.models import Message, Original

CANDIDATES = 2
"""Originals that are looked at for a short address: the second one already makes it ambiguous."""


def stored_original(project_slug: str | None, address: str) -> tuple[str, bytes]:
    """(sha256, bytes) of the original that an address means in a project; UnknownAddress when there is none.

    None looks through all projects: for whoever has the database itself at hand, never for a request.
    """
    messages = Message.objects.filter(original__sha256__startswith=address_digits(address))
    if project_slug is not None:
        messages = messages.filter(session__project__slug=project_slug)
    held = messages.order_by("original").values_list("original", flat=True).distinct()[:CANDIDATES]
    try:
        sha = resolve(address, held)
    except UnknownAddress as error:
        where = "any project" if project_slug is None else f"project {project_slug!r}"
        raise UnknownAddress(f"{error} in {where}") from None
    return sha, Original.objects.get(sha256=sha).text.encode()
