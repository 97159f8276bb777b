"""The plainest compaction: one summary for everything but the system prompt and the last request.

That of the deprecated ``compaction_control`` of Anthropic's tool runner, with the request kept as most agents do.
"""

from __future__ import annotations

from compression.engine.edits import Step
from compression.engine.pins import is_prompt
from compression.engine.references.arrivals import in_window
from compression.engine.references.parameters import NOT_DOCUMENTED, Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import leave, simulated_summary


class FullSummary(Parameters):
    """When the history is summarised, and how long the summary is."""

    trigger_tokens: int = setting(100_000, "tokens", "summarise above this", ge=1, le=20_000_000)
    summary_tokens: int = setting(NOT_DOCUMENTED, "tokens", "length of the summary", ge=1, le=1_000_000)


class FullSummarySession:
    """Nothing to remember."""

    def __init__(self, parameters: FullSummary) -> None:
        self._parameters = parameters

    def act(self, now: Now) -> Step | None:
        """Summarise when over the trigger."""
        if now.tokens <= self._parameters.trigger_tokens:
            return None
        messages, window = now.course.transcript.messages, in_window(now)
        request = next((i for i in reversed(window) if is_prompt(messages[i])), None)
        left = [i for i in window if messages[i].role != "system" and i != request]
        system = sum(messages[i].role == "system" for i in window if request is None or i < request)
        note = simulated_summary(now, self._parameters.summary_tokens, system, len(left))
        return leave(now, left, note, "the whole history summarised")


REFERENCE = Reference(
    name="full-summary",
    about="One summary of a stated size for everything but the system prompt and the last request.",
    version="Anthropic SDK tool_runner compaction_control (deprecated)",
    source="Anthropic SDK, helpers: compaction_control: https://github.com/anthropics/anthropic-sdk-python",
    parameters=FullSummary,
    begin=FullSummarySession,
    simulated="the summary, at summary_tokens; no size is documented",
    breaks=frozenset({"sacred bytes stay"}),
)
