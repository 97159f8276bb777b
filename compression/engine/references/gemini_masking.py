"""Gemini CLI's tool output masking: output beyond the newest 50,000 tokens becomes a preview and a file's path.

Only when 30,000 tokens can go at once. The file keeps the original, so the edits carry an address.
"""

from __future__ import annotations

from compression.engine.edits import Edit, Step
from compression.engine.groups import groups_of
from compression.engine.references.arrivals import Results
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import address_of, replacement
from compression.engine.references.tool_names import matches


class Masking(Parameters):
    """What is protected, and when masking is worth it. Tool tokens are uncalibrated."""

    protect_tokens: int = setting(50_000, "tokens", "the newest tool output kept", ge=0, le=20_000_000)
    minimum_tokens: int = setting(30_000, "tokens", "mask only when this much can go", ge=0, le=20_000_000)
    protect_latest_turn: bool = setting(True, "", "the results of the newest response stay, and are not counted")
    preview_characters: int = setting(250, "characters", "kept of the beginning and of the end", ge=0, le=100_000)
    exempt_tools: tuple[str, ...] = setting(
        ("*skill*", "ask_user*", "askuser*", "*plan_mode", "exitplanmode", "enterplanmode"),
        "",
        "tools whose output stays (globs in lower case)",
    )


class MaskingSession:
    """A call costs what came since the last one while too little is there to mask."""

    def __init__(self, parameters: Masking) -> None:
        self._parameters = parameters
        self._results = Results()
        self._worth_a_look = 0  # below so many open tokens there is too little to mask

    def act(self, now: Now) -> Step | None:
        """Mask what lies beyond the protected tokens, when it is enough."""
        results = self._results
        if results.follow(now):
            self._worth_a_look = 0
        if results.open_tokens < max(self._worth_a_look, self._parameters.minimum_tokens):
            return None
        chosen = self._choose(now)
        edits = [edit for i, j in chosen if (edit := self._mask(now, i, j)) is not None]
        results.weigh(frozenset((edit.message, edit.part) for edit in edits), now)
        return Step(tuple(edits), reason="tool output beyond the newest masked") if edits else None

    def _choose(self, now: Now) -> list[tuple[int, int]]:
        options, messages = self._parameters, now.course.transcript.messages
        latest = now.request.end
        if options.protect_latest_turn and latest:
            latest = groups_of(now.course.transcript)[latest - 1]
        seen = prunable = largest = 0
        chosen = []
        for i, j, tokens in reversed(self._results.rows):
            part = messages[i].parts[j]
            if i >= latest or (i, j) in now.edits or not part.text or matches(part.name, options.exempt_tools):
                continue
            seen, largest = seen + tokens, max(largest, tokens)
            if seen > options.protect_tokens:
                prunable += tokens
                chosen.append((i, j))
        if prunable < options.minimum_tokens:
            # What comes pushes as much out of the protected tokens, and one whole result more at the border.
            self._worth_a_look = seen + options.minimum_tokens - prunable - largest
            return []
        return chosen[::-1]

    def _mask(self, now: Now, message: int, part: int) -> Edit | None:
        text, length = now.course.transcript.messages[message].parts[part].text, self._parameters.preview_characters
        preview = text if len(text) <= 2 * length else f"{text[:length]}\n...\n{text[len(text) - length :]}"
        address = address_of(now, message, part)
        masked = f"<tool_output_masked>\n{preview}\n\n[file with the whole output: {address}]\n</tool_output_masked>"
        return replacement(now, message, part, masked, "old tool output", recallable=True)


REFERENCE = Reference(
    name="gemini-masking",
    about="Gemini CLI: tool output beyond the newest 50,000 tokens becomes a preview and a path, 30,000 at least.",
    version="Gemini CLI, packages/core/src/context/toolOutputMaskingService.ts (2026)",
    source="Gemini CLI source, tool output masking: https://github.com/google-gemini/gemini-cli",
    parameters=Masking,
    begin=MaskingSession,
    breaks=frozenset({"sacred bytes stay"}),
)
