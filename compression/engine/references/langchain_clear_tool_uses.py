"""LangChain's ``ClearToolUsesEdit``: the same rules on a copy of the messages, made anew for each call.

Its counter is characters / 4; here the calibrated figure decides, so that policies are held against one scale.
"""

from __future__ import annotations

from compression.engine.references.clearing import Clearing, ClearingSession
from compression.engine.references.protocol import Reference

PLACEHOLDER = "[cleared]"


def begin(parameters: Clearing) -> ClearingSession:
    """A session under these rules."""
    return ClearingSession(parameters, PLACEHOLDER)


REFERENCE = Reference(
    name="langchain-clear-tool-uses",
    about="LangChain's context editing: over 100,000 tokens all but the newest 3 tool results read [cleared].",
    version="LangChain 1.x ContextEditingMiddleware",
    source="LangChain documentation, ContextEditingMiddleware: "
    "https://docs.langchain.com/oss/python/langchain/middleware/built-in",
    parameters=Clearing,
    begin=begin,
    breaks=frozenset({"sacred bytes stay"}),
)
