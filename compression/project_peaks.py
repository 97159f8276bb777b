"""How full the windows of a project's sessions become without a policy: about, without replaying them.

The larger of the recorded peak and the calibrated count of all messages. Figures made of these carry ``~``.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from django.db.models import Count, Max

from compression.engine.policy import Policy
from compression.engine.windows import window_for
from sessions.models import Project, Session

SHELF_SIZE = 16


@dataclass(frozen=True, slots=True)
class ProjectPeaks:
    """``rows`` = (tokens at the peak, the model's own window) of each session with a model call."""

    rows: tuple[tuple[int, int], ...] = ()

    def reaching(self, policy: Policy) -> int:
        """How many sessions pass the trigger of a policy."""
        own = policy.context_window == "auto"
        fixed = 0 if own else int(policy.context_window)
        return sum(
            peak + policy.reserve_output > policy.trigger_ratio * (window if own else fixed)
            for peak, window in self.rows
        )


_shelf: OrderedDict[tuple[object, ...], ProjectPeaks] = OrderedDict()
_lock = Lock()


def project_peaks(project: Project) -> ProjectPeaks:
    """One query while nothing in the project changed, two otherwise."""
    sessions = Session.objects.filter(project=project, turn_count__gt=0)
    state = sessions.aggregate(count=Count("pk"), latest=Max("updated_at"))
    key = (project.pk, state["count"], state["latest"])
    with _lock:
        if (found := _shelf.get(key)) is not None:
            _shelf.move_to_end(key)
            return found
    peaks = ProjectPeaks(tuple(map(_row, sessions.values_list(*_COLUMNS).iterator())))
    with _lock:
        _shelf[key] = peaks
        while len(_shelf) > SHELF_SIZE:
            _shelf.popitem(last=False)
    return peaks


_COLUMNS = (
    "model", "context_window", "counted_tokens", "peak_context_tokens", "calibration__k", "calibration__hidden",
    "calibration__peak",
)  # fmt: skip


def _row(row: tuple[str, int | None, int, int | None, float | None, int | None, int | None]) -> tuple[int, int]:
    model, stated, counted, recorded, k, hidden, peak = row
    window = window_for(model, stated, peak or 0)
    return max(recorded or 0, round((hidden or 0) + (k or 1) * counted)), window.tokens
