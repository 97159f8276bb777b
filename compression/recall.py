"""Recall from the database: an address resolves only inside a project that holds the original."""

from __future__ import annotations

from django.db.models import TextField
from django.db.models.functions import Cast

from compression.engine.snapshots import UnknownAddress, address_digits, resolve
from sessions.models import Message, Original

CANDIDATES = 100
"""Originals that are looked at for a short address."""


def stored_original(project_slug: str, address: str) -> tuple[str, bytes]:
    """(sha256, bytes) of the original that an address means in a project; UnknownAddress when there is none."""
    like = Original.objects.filter(sha256__startswith=address_digits(address)).values_list("sha256", flat=True)
    messages = Message.objects.filter(session__project__slug=project_slug).annotate(raw=Cast("parts", TextField()))
    held = [sha for sha in like[:CANDIDATES] if messages.filter(raw__contains=f'"{sha}"').exists()]
    try:
        sha = resolve(address, held)
    except UnknownAddress as error:
        raise UnknownAddress(f"{error} in project {project_slug!r}") from None
    return sha, Original.objects.get(sha256=sha).text.encode()
