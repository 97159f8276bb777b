"""Originals of file-based commands, kept in a folder: one file for each, named by its sha256.

An original is written before any stub points at it, whole or not at all, and is never changed. Where two
share the digits of an address that was given out, a file named by these digits says whose they are.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from compression.engine.snapshots import DIGITS, Addresses, UnknownAddress, address_digits, digest, resolve

SHARD_DIGITS = 2
SHA_DIGITS = 64


class SnapshotFolder:
    """A folder of originals. It is made when the first original arrives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def addresses(self) -> Addresses:
        """Addresses that are unique among everything that the folder holds, and the same as before."""
        addresses = Addresses()
        names = sorted(path.name for path in self.folder.glob("??/*"))
        for name in names:
            if len(name) < SHA_DIGITS:
                addresses.give(name, self._owner(name))
        for name in names:
            if len(name) == SHA_DIGITS:
                addresses.of(name)
        return addresses

    def put(self, text: str, address: str = "") -> str:
        """Keep an original and give its sha256. Keeping it again changes nothing. ``address``: what its stub says."""
        sha = digest(text)
        if not self._path(sha).exists():
            self._write(sha, text.encode("utf-8", "surrogatepass"))
        digits = address_digits(address) if address else sha[:DIGITS]
        for length in range(DIGITS, len(digits) + 1):
            others = [name for name in self._like(digits[:length]) if name != sha]
            owner = sha if length == len(digits) else next(iter(others), sha)
            if others and not self._path(digits[:length]).exists():
                self._write(digits[:length], owner.encode())
        return sha

    def get(self, address: str) -> tuple[str, bytes]:
        """(sha256, bytes) of the original that an address means; UnknownAddress when there is none."""
        digits = address_digits(address)
        if len(digits) < SHA_DIGITS and self._path(digits).exists():
            sha = self._owner(digits)
        else:
            sha = self._resolve(address, digits)
        body = self._path(sha).read_bytes()
        if digest(body.decode("utf-8", "surrogatepass")) != sha:
            raise UnknownAddress(f"{address}: the file {self._path(sha).name} is damaged, its sha256 differs")
        return sha, body

    def _resolve(self, address: str, digits: str) -> str:
        try:
            return resolve(address, self._like(digits))
        except UnknownAddress as error:
            raise UnknownAddress(f"{error} in {self.folder}; --store names another folder") from None

    def _like(self, digits: str) -> list[str]:
        found = (path.name for path in (self.folder / digits[:SHARD_DIGITS]).glob(f"{digits}*"))
        return sorted(name for name in found if len(name) == SHA_DIGITS)

    def _owner(self, digits: str) -> str:
        return self._path(digits).read_text(encoding="ascii")

    def _path(self, name: str) -> Path:
        return self.folder / name[:SHARD_DIGITS] / name

    def _write(self, name: str, body: bytes) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(body)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
