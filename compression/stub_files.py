"""Which text stands for which original, for file-based commands: beside the originals, one small file for each stub.

A file's name is the sha256 of the text, its content that of the original. Written whole or not at all, never changed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from compression.engine.snapshots import UnknownAddress
from compression.snapshot_files import SHARD_DIGITS, SnapshotFolder

FOLDER = "stubs"


class StubFolder:
    """What is known of stubs in a folder of originals."""

    def __init__(self, store: SnapshotFolder) -> None:
        self._store = store

    def known(self, shas: Iterable[str]) -> dict[str, str]:
        """Which of these texts (sha256) stand for an original, and for which."""
        found = {}
        for sha in shas:
            path = self._path(sha)
            if path.exists():
                found[sha] = path.read_text(encoding="ascii")
        return found

    def original(self, sha: str) -> str | None:
        """The text of an original; None when the folder does not hold it."""
        try:
            return self._store.get(sha)[1].decode("utf-8", "surrogatepass")
        except UnknownAddress:
            return None

    def put(self, stub_sha: str, sha: str) -> None:
        """Remember that a text stands for an original."""
        path = self._path(stub_sha)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, sha.encode("ascii"))

    def _path(self, sha: str) -> Path:
        return self._store.folder / FOLDER / sha[:SHARD_DIGITS] / sha


def write_whole(path: Path, body: bytes) -> None:
    """A file that is there with all of its bytes, or as it was before."""
    handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(body)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
