"""Anthropic's context editing ``clear_tool_uses_20250919``: old tool uses are cleared on the server.

The client keeps and sends the whole history, so that its size passes the trigger again with every later call and one
more tool use is cleared each time. ``clear_at_least`` counts what a call would clear beyond what is cleared already.
"""

from __future__ import annotations

from compression.engine.references.clearing import Clearing, ClearingSession
from compression.engine.references.protocol import Reference

PLACEHOLDER = "[tool result cleared]"


def begin(parameters: Clearing) -> ClearingSession:
    """A session under these rules."""
    return ClearingSession(parameters, PLACEHOLDER)


REFERENCE = Reference(
    name="anthropic-clear-tool-uses",
    about="Anthropic's server-side clearing: over 100,000 input tokens all but the newest 3 tool results are cleared.",
    version="clear_tool_uses_20250919 (beta context-management-2025-06-27)",
    source="Anthropic documentation, Context editing: https://docs.claude.com/en/docs/build-with-claude/context-editing",
    parameters=Clearing,
    begin=begin,
    simulated="the words of the placeholder, which the server does not publish",
    breaks=frozenset({"sacred bytes stay"}),
)
