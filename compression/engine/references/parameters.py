"""How a reference states its parameters: one frozen model, unknown keys refused, each field with unit and meaning."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Parameters(BaseModel):
    """What a reference lets one change; the defaults are its documented ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def setting(default: Any, unit: str, description: str, **bounds: Any) -> Any:
    """A field of ``Parameters``."""
    extra: dict[str, Any] = {"section": "reference", "unit": unit}
    return Field(default=default, description=description, json_schema_extra=extra, **bounds)


NOT_DOCUMENTED = 2_000
"""Tokens of a summary whose size its source does not give: stated, not measured."""
