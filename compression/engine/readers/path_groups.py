"""Paths told in few words: by name, or by directory when there are too many names for a stub.

Shared by searches, diffs and listings, so that every file is named even where a full path each would overrun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Full paths are told up to this share of the output, or this many characters: what the smallest usual budget holds.
_SHARE = 40
_ROOM = 360
# Names of one line, in characters: a line that is more than a quarter of its budget loses its end.
_LONGEST_GROUP = 90


def fit_in_full(texts: Sequence[str], size: int) -> bool:
    """Whether one line each is little beside an output of ``size`` characters."""
    return sum(map(len, texts)) + len(texts) <= max(size // _SHARE, _ROOM)


def split(path: str) -> tuple[str, str]:
    """(directory with its slash, name)."""
    cut = path.rfind("/", 0, len(path) - 1) + 1
    return path[:cut], path[cut:]


def grouped(tails: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Lines such as ``src/app/: models.py 3, views.py 12`` with the paths in each; ``tails`` = what follows a path."""
    by_directory: dict[str, list[str]] = {}
    for path in tails:
        by_directory.setdefault(split(path)[0], []).append(path)
    lines: list[tuple[str, tuple[str, ...]]] = []
    for directory, paths in by_directory.items():
        start = f"{directory}: " if directory else ""
        line = start
        members: list[str] = []
        for path in paths:
            entry = f"{split(path)[1]}{tails[path]}"
            if members and len(line) - len(start) + len(entry) > _LONGEST_GROUP:
                lines.append((line, tuple(members)))
                line, members = start, []
            line += f"{', ' if members else ''}{entry}"
            members.append(path)
        lines.append((line, tuple(members)))
    return lines
