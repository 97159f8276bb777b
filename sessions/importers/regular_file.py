"""Refuses what is no regular file before anything opens it: a pipe would be waited for, a device never ends."""

from __future__ import annotations

import stat
from pathlib import Path

from sessions.importers.parsed import ImportFailure


def require_regular_file(path: Path, name: str) -> int:
    """The size in bytes. ImportFailure calls the file ``name``; OSError where there is none."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe, a socket or a device"
        raise ImportFailure(f"{name} is not a regular file but {what}", "Save the session to a file and name that.")
    return found.st_size
