"""What a page says of another agent's policy: whose rules, which version, what is simulated, what it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compression.engine.policy import Policy
from compression.engine.references import REFERENCES


@dataclass(frozen=True, slots=True)
class ReferenceFacts:
    """``settings`` = its parameters as they are replayed; ``breaks`` = rules of ours that the original breaks."""

    name: str
    about: str
    version: str
    source: str
    simulated: str
    breaks: tuple[str, ...]
    settings: tuple[tuple[str, Any], ...]


def reference_facts(policy: Policy) -> ReferenceFacts | None:
    """None for a policy of our own."""
    found = REFERENCES.get(policy.reference or "") if policy.strategy == "reference" else None
    if found is None:
        return None
    settings = found.parameters.model_validate(policy.parameters).model_dump()
    return ReferenceFacts(
        found.name,
        found.about,
        found.version,
        found.source,
        found.simulated,
        tuple(sorted(found.breaks)),
        tuple(settings.items()),
    )
