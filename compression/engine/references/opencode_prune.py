"""OpenCode's ``prune``: after each user turn old tool output beyond the newest 40,000 tokens is cleared.

Only when that frees more than 20,000 tokens. Its overflow summary is another rule and not part of this one.
"""

from __future__ import annotations

from compression.engine.edits import Step
from compression.engine.pins import is_prompt
from compression.engine.references.arrivals import Arrivals, Results
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import placeholders
from compression.engine.references.tool_names import matches

PLACEHOLDER = "[Old tool result content cleared]"


class Prune(Parameters):
    """What is protected, and when pruning is worth it. Tool tokens are uncalibrated."""

    protect_tokens: int = setting(40_000, "tokens", "the newest tool output kept", ge=0, le=20_000_000)
    minimum_tokens: int = setting(20_000, "tokens", "prune only when more than this can go", ge=0, le=20_000_000)
    protect_turns: int = setting(2, "user turns", "the newest ones are left alone", ge=0, le=10_000)
    protect_tools: tuple[str, ...] = setting(("skill",), "", "tools whose output stays (globs in lower case)")


class PruneSession:
    """Looks once a user turn; every other call costs what came since the last one."""

    def __init__(self, parameters: Prune) -> None:
        self._parameters = parameters
        self._results = Results()
        self._arrivals = Arrivals()
        self._prompts: list[int] = []

    def act(self, now: Now) -> Step | None:
        """Prune when a new prompt says that a user turn is over."""
        options = self._parameters
        self._results.follow(now)
        fresh, indexes = self._arrivals.take(now)
        messages, excluded = now.course.transcript.messages, now.course.excluded
        prompts = [i for i in indexes if i not in excluded and is_prompt(messages[i])]
        self._prompts = prompts if fresh else self._prompts + prompts
        if not prompts or len(self._prompts) <= options.protect_turns:
            return None
        # The newest prompt opens the next turn; the turns before it are the ones that have ended.
        before = self._prompts[-1 - options.protect_turns]
        protected = pruned = 0
        chosen: list[tuple[int, int]] = []
        for i, j, tokens in reversed(self._results.rows):
            part = messages[i].parts[j]
            if i >= before or part.is_error or matches(part.name, options.protect_tools):
                continue
            if (i, j) in now.edits:
                break
            protected += tokens
            if protected > options.protect_tokens:
                pruned += tokens
                chosen.append((i, j))
        if pruned <= options.minimum_tokens:
            return None
        edits = placeholders(now, reversed(chosen), PLACEHOLDER, "old tool output")
        return Step(tuple(edits), reason=f"{pruned:,} tokens of old tool output") if edits else None


REFERENCE = Reference(
    name="opencode-prune",
    about="OpenCode: after a user turn, tool output older than the newest 40,000 tokens is cleared, 20,000 at least.",
    version="OpenCode 1.x, packages/opencode/src/session/compaction.ts (off by default in some versions)",
    source="OpenCode source, session compaction: https://github.com/sst/opencode",
    parameters=Prune,
    begin=PruneSession,
    breaks=frozenset({"sacred bytes stay"}),
)
