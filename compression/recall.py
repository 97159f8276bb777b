"""Recall from the database: an address resolves only inside a project that holds the original."""

from __future__ import annotations

from compression.engine.snapshots import UnknownAddress, address_digits, resolve
from sessions.models import Message


def stored_original(project_slug: str, address: str) -> tuple[str, bytes]:
    """(sha256, bytes) of the original that an address means in a project; UnknownAddress when there is none."""
    digits = address_digits(address)
    held = Message.objects.filter(session__project__slug=project_slug, original__sha256__startswith=digits)
    texts = dict(held.values_list("original__sha256", "original__text")[:100])
    try:
        sha = resolve(address, texts)
    except UnknownAddress as error:
        raise UnknownAddress(f"{error} in project {project_slug!r}") from None
    return sha, texts[sha].encode()
