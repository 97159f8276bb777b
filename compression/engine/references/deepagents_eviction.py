"""deepagents' eviction: a result over 20,000 tokens goes to a file before it is ever sent.

Only what arrives is looked at, so nothing that was cached changes. Its summaries are another rule and not part of
this one.
"""

from __future__ import annotations

from compression.engine.edits import Step
from compression.engine.references.arrivals import Arrivals
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import address_of, replacement
from compression.engine.references.tool_names import matches


class Eviction(Parameters):
    """What is too large, and what is left of it."""

    limit_tokens: int = setting(20_000, "tokens at 4 characters", "larger results go to a file", ge=1, le=20_000_000)
    preview_lines: int = setting(5, "lines", "kept of the beginning and of the end", ge=0, le=10_000)
    preview_characters: int = setting(1_000, "characters", "of a line that is kept", ge=1, le=100_000)
    exclude_tools: tuple[str, ...] = setting(
        ("ls", "glob", "grep", "read", "read_file", "edit", "edit_file", "write", "write_file"),
        "",
        "tools whose results stay (globs in lower case)",
    )


class EvictionSession:
    """A call costs what came since the last one."""

    def __init__(self, parameters: Eviction) -> None:
        self._parameters = parameters
        self._arrivals = Arrivals()

    def act(self, now: Now) -> Step | None:
        """Replace what arrived and is too large."""
        _, indexes = self._arrivals.take(now)
        edits = []
        for i in indexes:
            for j, part in enumerate(now.course.transcript.messages[i].parts):
                if part.kind != "tool_result" or (i, j) in now.edits or i in now.course.excluded:
                    continue
                too_large = len(part.text) > 4 * self._parameters.limit_tokens
                if not too_large or matches(part.name, self._parameters.exclude_tools):
                    continue
                place = f"[too large; the file with the whole result: {address_of(now, i, j)}]"
                text = f"{place}\n{self._preview(part.text)}"
                edit = replacement(now, i, j, text, "too large on arrival", recallable=True)
                if edit is not None:
                    edits.append(edit)
        return Step(tuple(edits), reason="results too large on arrival") if edits else None

    def _preview(self, text: str) -> str:
        lines, kept = text.splitlines(), self._parameters.preview_lines
        if len(lines) > 2 * kept:
            omitted = f"... {len(lines) - 2 * kept:,} lines omitted ..."
            lines = [*lines[:kept], omitted, *lines[len(lines) - kept :]]
        return "\n".join(line[: self._parameters.preview_characters] for line in lines)


REFERENCE = Reference(
    name="deepagents-eviction",
    about="deepagents: a result over 20,000 tokens becomes a preview and a path before it is first sent.",
    version="deepagents 0.x filesystem middleware (2026)",
    source="deepagents documentation: https://docs.langchain.com/oss/python/deepagents/overview",
    parameters=Eviction,
    begin=EvictionSession,
    breaks=frozenset({"sacred bytes stay"}),
)
