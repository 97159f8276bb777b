"""Fewer points for the same line: largest triangle three buckets (Steinarsson 2013), and what must stay."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def sampled(values: Sequence[float], limit: int, keep: Collection[int] = ()) -> list[int]:
    """Positions of at most ``limit`` values that draw the same line, plus those of ``keep``. O(values)."""
    total = len(values)
    if total <= limit or limit < 3:
        return list(range(total))
    width = (total - 2) / (limit - 2)
    chosen = [0]
    for bucket in range(limit - 2):
        first, last = int(bucket * width) + 1, int((bucket + 1) * width) + 1
        following = values[last : min(int((bucket + 2) * width) + 1, total)]
        mean = sum(following) / len(following)
        middle = last + (len(following) - 1) / 2
        at, value = chosen[-1], values[chosen[-1]]
        chosen.append(
            max(range(first, last), key=lambda i: abs((at - middle) * (values[i] - value) - (at - i) * (mean - value)))
        )
    chosen.append(total - 1)
    return sorted({*chosen, *(i for i in keep if 0 <= i < total)})
