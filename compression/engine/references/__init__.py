"""Other agents' policies, by name. Each says where its rules are documented and what of it is simulated."""

from __future__ import annotations

from compression.engine.references.protocol import Now, Reference, Session

REFERENCES: dict[str, Reference] = {}

__all__ = ["REFERENCES", "Now", "Reference", "Session"]
