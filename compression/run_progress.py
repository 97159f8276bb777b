"""Where a run stands as JSON: the same for the socket and the API."""

from __future__ import annotations

from typing import Any

from compression.runs import Progress


def progress_row(progress: Progress) -> dict[str, Any]:
    """Counts of sessions; ``rate`` in sessions a second, ``seconds_left`` in whole seconds, None until known."""
    left = progress.seconds_left
    return {
        "state": progress.state,
        "is_over": progress.is_over,
        "total": progress.total,
        "done": progress.done,
        "failed": progress.failed,
        "running": progress.claimed,
        "reused": progress.reused,
        "rate": None if progress.rate is None else round(progress.rate, 2),
        "seconds_left": None if left is None else round(left),
    }
