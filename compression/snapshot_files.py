"""Originals of file-based commands, kept in a folder: one file for each, named by its sha256.

An original is written before any stub points at it, whole or not at all, and is never changed.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from compression.engine.snapshots import Addresses, UnknownAddress, address_digits, digest, resolve

SHARD_DIGITS = 2


class SnapshotFolder:
    """A folder of originals. It is made when the first original arrives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def addresses(self) -> Addresses:
        """Addresses that are unique among everything that the folder holds."""
        addresses = Addresses()
        for path in sorted(self.folder.glob("??/*")):
            addresses.of(path.name)
        return addresses

    def put(self, text: str) -> str:
        """Keep an original and give its sha256. Keeping it again changes nothing."""
        sha = digest(text)
        path = self._path(sha)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(text.encode("utf-8", "surrogatepass"))
                os.replace(name, path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        return sha

    def get(self, address: str) -> tuple[str, bytes]:
        """(sha256, bytes) of the original that an address means; UnknownAddress when there is none."""
        digits = address_digits(address)
        if len(digits) < SHARD_DIGITS:
            raise UnknownAddress(f"{address!r} is too short")
        shard = self.folder / digits[:SHARD_DIGITS]
        sha = resolve(address, (path.name for path in shard.glob(f"{digits}*")))
        body = self._path(sha).read_bytes()
        if digest(body.decode("utf-8", "surrogatepass")) != sha:
            raise UnknownAddress(f"{address}: the file {self._path(sha).name} is damaged, its sha256 differs")
        return sha, body

    def _path(self, sha: str) -> Path:
        return self.folder / sha[:SHARD_DIGITS] / sha
