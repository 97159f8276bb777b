"""The bodies of tool results, each once, under the sha256 of its UTF-8 bytes: gathered, stored, and swept out
when no message needs them any more."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from django.db import connection
from django.db.models import Exists, OuterRef

from sessions.models import Message, Original
from sessions.rows import write_rows

OriginalRow = tuple[str, str, int, int]
SWEPT_AT_ONCE = 1000


class Originals:
    """The bodies that one import met; ``rows`` is ordered by hash, so that two imports never wait on each other."""

    def __init__(self) -> None:
        self._rows: dict[str, OriginalRow] = {}

    def add(self, text: str) -> str:
        """Keep a body (storable text) and return its address."""
        encoded = text.encode()
        address = sha256(encoded).hexdigest()
        if address not in self._rows:
            self._rows[address] = (address, text, len(encoded), line_count(text))
        return address

    def rows(self) -> list[OriginalRow]:
        return [self._rows[address] for address in sorted(self._rows)]


def line_count(text: str) -> int:
    """Lines as an editor counts them: a last line without its newline counts too."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def write_originals(rows: Sequence[OriginalRow]) -> None:
    """Store what is not stored yet, in the transaction of the messages that will point to it.

    Where writers work side by side, the rows are held against a sweep until that transaction ends; one that was
    swept out between writing and holding is written again.
    """
    missing = list(rows)
    while missing:
        write_rows(Original, ("sha256", "text", "size_bytes", "lines"), missing, key=("sha256",), overwrite=False)
        held = hold([row[0] for row in missing])
        missing = [row for row in missing if row[0] not in held]


def hold(addresses: Sequence[str]) -> set[str]:
    """The addresses that are stored, locked so that they can be shared but not deleted.

    SQLite has one writer at a time: there, nobody can sweep meanwhile.
    """
    if not connection.features.has_select_for_update:
        return set(addresses)
    table = connection.ops.quote_name(Original._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT sha256 FROM {table} WHERE sha256 = ANY(%s) ORDER BY sha256 FOR KEY SHARE",  # noqa: S608  # a name
            [list(addresses)],
        )
        return {address for (address,) in cursor.fetchall()}


def sweep_originals() -> int:
    """Delete the originals that no message needs, inside the caller's transaction; how many they were.

    First they are locked, then it is asked again who needs them: an import that had begun to use one has been
    waited for, and one that comes later finds it gone and writes it again.
    """
    needed = Message.objects.filter(original=OuterRef("pk"))
    unused = Original.objects.filter(~Exists(needed))
    locked = list(unused.select_for_update().order_by("pk").values_list("pk", flat=True))
    gone = 0
    for start in range(0, len(locked), SWEPT_AT_ONCE):
        gone += unused.filter(pk__in=locked[start : start + SWEPT_AT_ONCE]).delete()[0]
    return gone
