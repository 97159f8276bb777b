"""From counted tokens to the provider's tokens: ``context = hidden + k x counted``.

``k`` corrects the tokenizer for the model, ``hidden`` is what the log does not hold (system
prompt, tool schemas). The fit is made once per session and is then a fixed input of every
replay. It reads numbers only, never a text.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

VERSION = 2
FALL_RATIO = 0.02
FALL_TOKENS = 1_000
K_MIN, K_MAX = 0.5, 3.0
MIN_POINTS = 3
PARTNERS = 48
"""Earlier points that a new one is paired with: enough for a median, bounded for long sessions."""

FAMILY_K = (("claude", 1.25), ("gemini", 1.1), ("gpt", 1.0), ("o1", 1.0), ("o3", 1.0), ("o4", 1.0))
"""k by model family where the log gives too few figures. Claude: median of the fits over 23 public sessions."""


@dataclass(frozen=True, slots=True)
class Point:
    """One call: what the provider recorded and what we count for the same request, in tokens."""

    turn: int
    context: int
    counted: int


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall of the recorded context that no boundary explains: a silent clearing, in the provider's tokens."""

    turn: int
    tokens_left: int


@dataclass(frozen=True, slots=True)
class Segment:
    """Turns from ``turn`` on share ``offset`` = median of context - k x counted."""

    turn: int
    offset: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fit of one session. ``basis`` says where it comes from: usage | family | none.

    ``error_median`` / ``error_p95`` are absolute, signed errors are ``bias`` (median of
    (estimate - recorded) / recorded); ``ahead_*`` the same one turn ahead, fitted on earlier
    turns only. None where there is nothing to compare. ``peak`` = largest recorded context.
    """

    k: float = 1.0
    hidden: int = 0
    points: int = 0
    basis: str = "none"
    version: int = VERSION
    error_median: float | None = None
    error_p95: float | None = None
    bias: float | None = None
    ahead_median: float | None = None
    ahead_p95: float | None = None
    segments: tuple[Segment, ...] = ()
    silent: tuple[Fall, ...] = ()
    peak: int = 0

    def tokens(self, counted: int) -> int:
        """Calibrated tokens of a window of ``counted`` tokens, hidden prefix included."""
        return self.hidden + round(self.k * counted)


def family_k(model: str) -> float:
    """k of a model's family, 1.0 when the family is unknown."""
    name = model.lower().rsplit("/", 1)[-1]
    return next((k for prefix, k in FAMILY_K if name.startswith(prefix)), 1.0)


def find_falls(points: Sequence[Point], boundary_turns: frozenset[int] | set[int] = frozenset()) -> list[Fall]:
    """Calls whose context fell by more than 2 % and 1,000 tokens although no boundary lies between.

    A fall across an explicit boundary is that boundary's. ``tokens_left`` is the plain fall.
    """
    falls = []
    for before, after in pairwise(points):
        fall = before.context - after.context
        if fall > FALL_TOKENS and fall > FALL_RATIO * before.context:
            if any(before.turn < turn <= after.turn for turn in boundary_turns):
                continue
            falls.append(Fall(after.turn, fall))
    return falls


class _Fit:
    """Theil-Sen over segments, one point at a time: O(PARTNERS) slopes a point."""

    def __init__(self, default_k: float) -> None:
        self.slopes: list[float] = []
        self.segments: list[list[Point]] = [[]]
        self.default_k = default_k
        self.points = 0

    def add(self, point: Point, new_segment: bool) -> None:
        if new_segment and self.segments[-1]:
            self.segments.append([])
        earlier = self.segments[-1]
        for other in _spread(earlier):
            run = point.counted - other.counted
            if run > 0:
                slope = (point.context - other.context) / run
                if K_MIN <= slope <= K_MAX:
                    insort(self.slopes, slope)
        earlier.append(point)
        self.points += 1

    @property
    def k(self) -> float:
        if self.points < MIN_POINTS or not self.slopes:
            return self.default_k
        middle = len(self.slopes) // 2
        return self.slopes[middle] if len(self.slopes) % 2 else (self.slopes[middle - 1] + self.slopes[middle]) / 2

    def ahead(self, counted: int) -> float:
        """The context that the points so far foretell for a call of ``counted`` tokens."""
        k = self.k
        return _offset(_spread(self.segments[-1]), k) + k * counted


def _spread(points: Sequence[Point]) -> Sequence[Point]:
    """All of a few points, every n-th of many: PARTNERS to twice as many."""
    return points[:: max(1, len(points) // PARTNERS)]


def _offset(points: Sequence[Point], k: float) -> float:
    return median(point.context - k * point.counted for point in points)


def _with_what_came(falls: Sequence[Fall], points: Sequence[Point], k: float) -> tuple[Fall, ...]:
    """Falls by what really left: the new messages of the call hide a part of it."""
    previous = {after.turn: (before, after) for before, after in pairwise(points)}
    done = []
    for fall in falls:
        before, after = previous[fall.turn]
        done.append(replace(fall, tokens_left=fall.tokens_left + max(0, round(k * (after.counted - before.counted)))))
    return tuple(done)


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def calibrate(points: Sequence[Point], boundary_turns: Sequence[int] = (), model: str = "") -> Calibration:
    """Fit k and hidden over the calls before the first boundary; find silent clearings in all of them.

    ``points`` are in turn order. Later segments keep an offset of their own. With fewer than three usable
    points k is the family's and ``hidden = max(0, first context - k x counted)``; without usage k = 1, hidden = 0.
    """
    explicit = set(boundary_turns)
    peak = max((p.context for p in points), default=0)
    if not points:
        return Calibration()
    falls = find_falls(points, explicit)
    fall_turns = {fall.turn for fall in falls}
    first = min(explicit, default=None)
    usable = [p for p in points if first is None or p.turn < first]
    default_k = family_k(model)
    if len(usable) < MIN_POINTS:
        hidden = max(0, round(usable[0].context - default_k * usable[0].counted)) if usable else 0
        silent = _with_what_came(falls, points, default_k)
        return Calibration(k=default_k, hidden=hidden, points=len(usable), basis="family", silent=silent, peak=peak)

    fit = _Fit(default_k)
    ahead: list[float] = []
    for point in usable:
        if fit.points >= MIN_POINTS:
            ahead.append((fit.ahead(point.counted) - point.context) / point.context)
        fit.add(point, point.turn in fall_turns)

    k = round(fit.k, 6)
    offsets = [_offset(segment, k) for segment in fit.segments]
    errors = [
        (offset + k * point.counted - point.context) / point.context
        for offset, segment in zip(offsets, fit.segments, strict=True)
        for point in segment
    ]
    absolute, ahead_absolute = [abs(e) for e in errors], [abs(e) for e in ahead]
    return Calibration(
        k=k,
        hidden=max(0, round(offsets[0])),
        points=len(usable),
        basis="usage",
        error_median=round(median(absolute), 6),
        error_p95=round(_quantile(absolute, 0.95), 6),
        bias=round(median(errors), 6),
        ahead_median=round(median(ahead_absolute), 6) if ahead else None,
        ahead_p95=round(_quantile(ahead_absolute, 0.95), 6) if ahead else None,
        segments=tuple(Segment(s[0].turn, round(o)) for s, o in zip(fit.segments, offsets, strict=True)),
        silent=_with_what_came(falls, points, k),
        peak=peak,
    )
