"""Claude Code: near the end of the window old tool results are cleared first, then everything is summarised.

The trigger is documented. Which results are cleared is not: two recorded clearings (version 2.1.20) both named every
result of the tools below but the newest 40,000 tokens of them, at four characters a token; that is the default here,
and ``agreement`` says how far it names the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from compression.engine.edits import Step
from compression.engine.references.arrivals import in_window, lead_in
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import freed_by, leave, placeholders, simulated_summary
from compression.engine.references.tool_names import matches

PLACEHOLDER = "[Old tool result content cleared]"
CHARACTERS = 4
"""Of a token, in the agent's own count of tool results."""


class ClaudeCode(Parameters):
    """When Claude Code compacts, what it clears and what it leaves."""

    reserve_output: int = setting(20_000, "tokens", "not part of the effective window", ge=0, le=1_000_000)
    margin: int = setting(13_000, "tokens", "compact this far below the effective window", ge=0, le=1_000_000)
    override_ratio: float | None = setting(None, "of effective window", "can only lower the trigger", gt=0, le=1)
    clear_first: bool = setting(True, "", "clear old tool results before anything is summarised")
    keep_result_tokens: int = setting(
        40_000, "tokens at 4 characters", "newest results that stay; inferred from recordings", ge=0, le=20_000_000
    )
    keep_results: int = setting(0, "results", "newest results that stay however large they are", ge=0, le=100_000)
    clear_tools: tuple[str, ...] = setting(
        ("bash", "read", "edit", "multiedit", "write", "grep", "glob", "webfetch", "websearch"),
        "",
        "tools whose results are cleared (globs in lower case); inferred from recordings",
    )
    summary_tokens: int = setting(
        3_000, "tokens", "length of the summary; the median of six recorded ones", ge=1, le=1_000_000
    )
    reattached_tokens: int = setting(0, "tokens", "files read again beside the summary", ge=0, le=1_000_000)
    refilled_within: int = setting(3, "calls", "a summary that was needed again so soon is a refill", ge=0, le=1_000)
    refills: int = setting(3, "refills in a row", "compaction stops", ge=1, le=1_000)


def old_results(options: ClaudeCode, now: Now, rows: Iterable[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Which of a window's results (oldest first) a clearing names, oldest first."""
    messages, tokens, seen = now.course.transcript.messages, 0, 0
    chosen = []
    for i, j, _ in reversed([*rows]):
        part = messages[i].parts[j]
        if (i, j) in now.edits or not matches(part.name, options.clear_tools):
            continue
        tokens += len(part.text) // CHARACTERS
        seen += 1
        if tokens > options.keep_result_tokens and seen > options.keep_results:
            chosen.append((i, j))
    return chosen[::-1]


def trigger(options: ClaudeCode, limit: int) -> float:
    """Tokens from which on a window of ``limit`` tokens is compacted."""
    effective = max(1, limit - options.reserve_output)
    documented = max(1, effective - options.margin)
    return documented if options.override_ratio is None else min(documented, options.override_ratio * effective)


class ClaudeCodeSession:
    """Remembers its summaries, to notice that they do not help."""

    def __init__(self, parameters: ClaudeCode) -> None:
        self._parameters = parameters
        self._summarised_at: int | None = None
        self._refills = 0

    def act(self, now: Now) -> Step | None:
        """Clear, and summarise when that is not enough; nothing more once the guard has stopped it."""
        options = self._parameters
        limit = trigger(options, now.limit)
        if now.tokens < limit or self._refills >= options.refills:
            return None
        window = in_window(now)
        if options.clear_first:
            held = {*window}
            rows = [row for row in now.course.results_between(0, now.request.end) if row[0] in held]
            edits = placeholders(now, old_results(options, now, rows), PLACEHOLDER, "old tool result")
            if edits and now.tokens - now.calibration.k * freed_by(now, edits) < limit:
                return Step(tuple(edits), reason="old tool results cleared")
        start = lead_in(now, window)
        tokens = options.summary_tokens + options.reattached_tokens
        note = simulated_summary(now, tokens, start, len(window) - start)
        step = leave(now, window[start:], note, "the history summarised")
        if step is not None:
            self._count(now.turn)
        return step

    def _count(self, turn: int) -> None:
        last, self._summarised_at = self._summarised_at, turn
        is_refill = last is not None and turn - last <= self._parameters.refilled_within
        self._refills = self._refills + 1 if is_refill else 0


REFERENCE = Reference(
    name="claude-code",
    about="Claude Code's auto-compact: 13,000 tokens below the effective window old results are cleared, then all is "
    "summarised.",
    version="Claude Code 2.1",
    source="https://github.com/anthropics/claude-code/issues/31806 (trigger); recorded microcompact boundaries (what "
    "is cleared)",
    parameters=ClaudeCode,
    begin=ClaudeCodeSession,
    simulated="the summary, at summary_tokens; files read again only when reattached_tokens says so",
    breaks=frozenset({"sacred bytes stay"}),
)
