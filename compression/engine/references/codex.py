"""Codex CLI's local compaction: what a person typed and a summary stay, every tool output goes.

The newest typed messages up to 20,000 tokens, the last of them cut to what is left. Falls to the same window before a
prompt and in the middle of the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from compression.engine.edits import Edit, Step
from compression.engine.pins import is_prompt
from compression.engine.references.arrivals import in_window, lead_in
from compression.engine.references.parameters import NOT_DOCUMENTED, Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import leave, replacement, simulated_summary

CHARACTERS = 4
"""Of a token, where a message is cut."""


class Codex(Parameters):
    """When Codex compacts, and what stays. User tokens are uncalibrated."""

    auto_compact_limit: int | None = setting(
        None, "tokens", "compact from here on, when it is less than window_ratio", ge=1, le=20_000_000
    )
    window_ratio: float = setting(0.90, "of window", "compact from here on", gt=0, le=1)
    user_tokens: int = setting(20_000, "tokens", "newest typed messages kept", ge=0, le=1_000_000)
    summary_tokens: int = setting(NOT_DOCUMENTED, "tokens", "length of the summary", ge=1, le=1_000_000)


class CodexSession:
    """Nothing to remember."""

    def __init__(self, parameters: Codex) -> None:
        self._parameters = parameters

    def act(self, now: Now) -> Step | None:
        """Compact when over the limit."""
        options = self._parameters
        limit = options.window_ratio * now.limit
        if now.tokens < min(limit, options.auto_compact_limit or limit):
            return None
        window = in_window(now)
        start = lead_in(now, window)
        kept, cut = self._typed(now, window[start:])
        stays = {*window[:start], *kept}
        left = [i for i in window if i not in stays]
        note = simulated_summary(now, options.summary_tokens, len(stays), len(left))
        return leave(now, left, note, "typed messages and a summary stay", cut)

    def _typed(self, now: Now, window: Sequence[int]) -> tuple[set[int], list[Edit]]:
        """The newest typed messages, and what shortens the one that passes the limit."""
        room, kept = self._parameters.user_tokens, set()
        for i in reversed(window):
            message = now.course.transcript.messages[i]
            if not is_prompt(message):
                continue
            if now.sizes[i] <= room:
                room -= now.sizes[i]
                kept.add(i)
                continue
            is_plain = [part.kind for part in message.parts] == ["text"] and (i, 0) not in now.edits
            if is_plain and room > 0:
                text = message.parts[0].text[: CHARACTERS * room]
                edit = replacement(now, i, 0, text, "cut to what is left for typed messages", kind="text")
                if edit is not None:
                    return kept | {i}, [edit]
            break
        return kept, []


REFERENCE = Reference(
    name="codex",
    about="Codex CLI: at 90 % of the window only the initial context, 20,000 tokens of typed messages and a summary.",
    version="Codex CLI 0.x, local compaction (2026)",
    source="Codex source, codex-rs/core compaction: https://github.com/openai/codex",
    parameters=Codex,
    begin=CodexSession,
    simulated="the summary, at summary_tokens; no size is documented",
    breaks=frozenset({"sacred bytes stay"}),
)
