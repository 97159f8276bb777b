"""Other agents' policies, by name. Each says where its rules are documented and what of it is simulated."""

from __future__ import annotations

from compression.engine.references import (
    anthropic_clear_tool_uses,
    claude_code,
    cline,
    codex,
    deepagents_eviction,
    full_summary,
    gemini_masking,
    hermes_agent,
    langchain_clear_tool_uses,
    opencode_prune,
    openhands,
    swe_agent_last_5,
)
from compression.engine.references.protocol import Now, Reference, Session

REFERENCES: dict[str, Reference] = {
    module.REFERENCE.name: module.REFERENCE
    for module in (
        anthropic_clear_tool_uses,
        hermes_agent,
        opencode_prune,
        gemini_masking,
        swe_agent_last_5,
        claude_code,
        codex,
        openhands,
        cline,
        full_summary,
        langchain_clear_tool_uses,
        deepagents_eviction,
    )
}
"""What a log can check comes first."""

__all__ = ["REFERENCES", "Now", "Reference", "Session"]
