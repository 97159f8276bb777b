"""Counting tokens in tests as the engine's callers do."""

from __future__ import annotations

from collections.abc import Sequence

import toktok


def count(texts: Sequence[str]) -> list[int]:
    counts: list[int] = toktok.batch_count(list(texts), "o200k_base", threads=1)
    return counts


def budget_of(tokens: int) -> int:
    return max(150, min(tokens * 5 // 100, 1_000))
