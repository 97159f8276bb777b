"""Clearing old tool uses, oldest first, all but the newest few: what two references have in common.

The placeholder says nothing of what it stands for, and nothing leads back to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from compression.engine.columns import window_tokens
from compression.engine.edits import Edit, Step
from compression.engine.references.arrivals import Results
from compression.engine.references.cuts import calls
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now
from compression.engine.references.replacements import placeholders, replacement


class Clearing(Parameters):
    """When old tool uses are cleared, and which stay."""

    trigger: Literal["input_tokens", "tool_uses"] = setting("input_tokens", "", "what the trigger counts")
    trigger_value: int = setting(
        100_000, "tokens or tool uses", "clearing groups above this", ge=1, le=20_000_000
    )  # fmt: skip
    trigger_on: Literal["history", "view"] = setting(
        "history", "", "history: what the client sends, so that every later call clears again; view: what is left of it"
    )
    keep: int = setting(3, "tool uses", "the newest ones stay", ge=0, le=100_000)
    clear_at_least: int | None = setting(
        None, "tokens", "nothing happens while less would be cleared", ge=0, le=20_000_000
    )
    exclude_tools: tuple[str, ...] = setting((), "", "tools whose uses are never cleared")
    clear_tool_inputs: bool | tuple[str, ...] = setting(
        False, "", "also clear the arguments: of all tools, or of these"
    )


class ClearingSession:
    """A call costs what came since the last one."""

    def __init__(self, parameters: Clearing, placeholder: str) -> None:
        self._parameters = parameters
        self._placeholder = placeholder
        self._results = Results()

    def act(self, now: Now) -> Step | None:
        """Clear what is not among the newest, when the trigger is passed."""
        options, results = self._parameters, self._results
        results.follow(now)
        end = len(results.rows) - options.keep
        if end <= results.done or not self._triggered(now):
            return None
        pending = [row for row in results.rows[results.done : end] if self._clearable(now, row[0], row[1])]
        least = (options.clear_at_least or 0) / now.calibration.k
        # The results as logged are an upper bound, so that no edit is made only to be thrown away.
        if options.clear_tool_inputs is False and sum(tokens for _, _, tokens in pending) < least:
            return None
        edits = self._edits(now, [(i, j) for i, j, _ in pending])
        if sum(edit.tokens_before - edit.tokens_after for edit in edits) < least:
            return None
        results.done = end
        return Step(tuple(edits), reason=f"all but the newest {options.keep} tool uses cleared") if edits else None

    def _triggered(self, now: Now) -> bool:
        options = self._parameters
        if options.trigger == "tool_uses":
            return len(self._results.rows) > options.trigger_value
        if options.trigger_on == "view":
            return now.tokens > options.trigger_value
        course, turn = now.course, now.turn
        return window_tokens(now.calibration, course.counted_rows[turn], course.unknown_left[turn]) > (
            options.trigger_value
        )

    def _clearable(self, now: Now, message: int, part: int) -> bool:
        name = now.course.transcript.messages[message].parts[part].name
        return (message, part) not in now.edits and name not in self._parameters.exclude_tools

    def _edits(self, now: Now, parts: Iterable[tuple[int, int]]) -> list[Edit]:
        parts, inputs, transcript = list(parts), self._parameters.clear_tool_inputs, now.course.transcript
        edits = placeholders(now, parts, self._placeholder, "old tool use")
        if inputs is False:
            return edits
        for i, j in parts:
            result = transcript.messages[i].parts[j]
            call = calls(transcript).get(result.call_id)
            if call is None or call in now.edits or (isinstance(inputs, tuple) and result.name not in inputs):
                continue
            edit = replacement(now, *call, "{}", "arguments of an old tool use", kind="arguments")
            if edit is not None:
                edits.append(edit)
        return edits
