"""How far the ``claude-code`` reference names the results that a log says were cleared.

No rule for clearing is documented, so there is nothing to pass: the figures are for reading. Nothing is replayed; each
clearing is looked at in the window in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compression.engine.calibration import Calibration
from compression.engine.columns import window_tokens
from compression.engine.edits import Edit
from compression.engine.history import CLEARED_TOKENS, Course, Request, course_of
from compression.engine.references.claude_code import CHARACTERS, PLACEHOLDER, ClaudeCode, old_results, trigger
from compression.engine.references.protocol import Now
from compression.engine.tokens import CachedCounter, default_counter
from compression.engine.transcript import Boundary, Transcript
from compression.engine.windows import window_for


@dataclass(frozen=True, slots=True)
class Agreement:
    """One recorded clearing beside what the reference would clear in the same window.

    ``recorded`` and ``named`` are call ids, oldest first. ``logged_saved`` = tokens that the log says were saved, None
    when it does not. ``*_tokens`` are uncalibrated, ``*_quarters`` characters / 4, of the originals in either.
    ``missing`` = recorded ids whose result is not in that window. ``window_tokens`` is calibrated and includes what had
    come since the last call; the reference acts from ``trigger`` on.
    """

    turn: int
    recorded: tuple[str, ...]
    named: tuple[str, ...]
    logged_saved: int | None
    recorded_tokens: int
    named_tokens: int
    both_tokens: int
    recorded_quarters: int
    named_quarters: int
    both_quarters: int
    missing: int
    window_tokens: int
    trigger: int

    @property
    def both(self) -> tuple[str, ...]:
        """What the log and the reference agree on."""
        named = {*self.named}
        return tuple(call for call in self.recorded if call in named)

    @property
    def acts(self) -> bool:
        """Whether the reference's own trigger had been passed."""
        return self.window_tokens >= self.trigger


def microcompact_agreement(
    transcript: Transcript,
    calibration: Calibration,
    parameters: ClaudeCode | None = None,
    *,
    counter: CachedCounter | None = None,
) -> tuple[Agreement, ...]:
    """Every recorded clearing of a session; O(boundaries x window)."""
    options, course = parameters or ClaudeCode(), course_of(transcript, "as-recorded")
    limit = window_for(transcript.model, transcript.context_window, calibration.peak).tokens
    found = []
    edits: dict[tuple[int, int], Edit] = {}
    for boundary in sorted(transcript.boundaries, key=lambda b: (b.turn, b.position)):
        if boundary.kind != "micro":
            continue
        request = _window(course, boundary)
        held = {*request.indexes()}
        rows = [row for row in course.results_between(0, request.end) if row[0] in held]
        sizes = list(course.sizes)
        for edit in edits.values():
            sizes[edit.message] += edit.tokens_after - edit.tokens_before
        counted = sum(map(sizes.__getitem__, held))
        tokens = window_tokens(calibration, counted, course.unknown_left[max(0, boundary.turn - 1)])
        now = Now(
            boundary.turn, request, tokens, limit, calibration, course, sizes, edits, None, counter or default_counter()
        )
        calls = {transcript.messages[i].parts[j].call_id: (i, j) for i, j, _ in rows}
        recorded = [call for call in boundary.cleared_call_ids if call in calls]
        named = [transcript.messages[i].parts[j].call_id for i, j in old_results(options, now, rows)]
        both = [call for call in recorded if call in {*named}]
        recorded_size, named_size, both_size = (
            _sizes(transcript, [calls[call] for call in ids]) for ids in (recorded, named, both)
        )
        found.append(
            Agreement(
                turn=boundary.turn,
                recorded=tuple(recorded),
                named=tuple(named),
                logged_saved=boundary.tokens_left,
                recorded_tokens=recorded_size[0],
                named_tokens=named_size[0],
                both_tokens=both_size[0],
                recorded_quarters=recorded_size[1],
                named_quarters=named_size[1],
                both_quarters=both_size[1],
                missing=len(boundary.cleared_call_ids) - len(recorded),
                window_tokens=tokens,
                trigger=round(trigger(options, limit)),
            )
        )
        for i, j in (calls[call] for call in recorded):
            before = transcript.counts[i][j]
            edits[i, j] = Edit(i, j, "cleared", PLACEHOLDER, before, min(before, CLEARED_TOKENS))
    return tuple(found)


def _window(course: Course, boundary: Boundary) -> Request:
    """What the window held when the agent cleared: everything up to the boundary since the last reset before it."""
    after = course.windows[boundary.turn]
    if boundary.position <= after.start and boundary.turn:
        after = course.windows[boundary.turn - 1]
    return Request(after.kept, min(after.start, boundary.position), boundary.position)


def _sizes(transcript: Transcript, parts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """(uncalibrated tokens, characters / 4) of results."""
    places = [*parts]
    tokens = sum(transcript.counts[i][j] for i, j in places)
    return tokens, sum(len(transcript.messages[i].parts[j].text) // CHARACTERS for i, j in places)
