"""Summaries that somebody else may write: what is asked for, and which answer may stand in a stub.

The engine asks and judges; it never calls a model. An answer that is larger than its budget, or no
shorter than its source, is refused. How truthful one is, is told as a share and does not refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from compression.engine import compressors
from compression.engine.edits import Edit
from compression.engine.fidelity import fidelity
from compression.engine.units import Count, fill

Purpose = Literal["prose", "archive"]

SMALLEST_BUDGET = 60
"""Tokens: a stub with a smaller body holds a line or two, which no model says better."""

# All but tab and line feed of what no reader sees: C0, C1, zero-width and bidirectional marks, half a surrogate pair.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One text to shorten to ``budget_tokens`` uncalibrated tokens; ``key`` is the text's sha256.

    ``focus``: what the agent is working on. ``previous``: what an archive said before, to be carried on.
    """

    key: str
    purpose: Purpose
    text: str
    budget_tokens: int
    focus: str = ""
    previous: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer may not stand in for its source, in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Truth:
    """How many names and numbers of a summary stand in its source, of how many, and those that do not."""

    true: int
    claims: int
    invented: tuple[str, ...]

    @property
    def share(self) -> float:
        """1.0 for a summary that names nothing."""
        return self.true / self.claims if self.claims else 1.0


def requests_of(
    edits: Iterable[Edit],
    originals: Mapping[str, str],
    count: Count,
    *,
    focus: str = "",
    smallest_budget: int = SMALLEST_BUDGET,
) -> list[SummaryRequest]:
    """One request for each prose stub among ``edits``, once a text, in their order.

    ``originals``: sha256 -> text. The budget is what the stub's body takes now, so that the event frees no
    less with the summary in its place; bodies below ``smallest_budget`` stay as they are.
    """
    chosen: dict[str, Edit] = {}
    for edit in edits:
        if edit.kind == "stub" and edit.content_type == "prose" and edit.sha256 in originals:
            chosen.setdefault(edit.sha256, edit)
    budgets = count([edit.text.partition("\n")[2] for edit in chosen.values()])
    return [
        SummaryRequest(sha, "prose", originals[sha], budget, focus)
        for sha, budget in zip(chosen, budgets, strict=True)
        if budget >= smallest_budget
    ]


def accepted(request: SummaryRequest, answer: str, count: Count) -> str | Refusal:
    """The answer as it may stand in a stub, without what no reader sees; or why it may not."""
    text = _UNSEEN.sub("", answer.replace("\r\n", "\n")).strip()
    if not text:
        return Refusal("the answer is empty")
    if _bytes(text) >= _bytes(request.text):
        return Refusal("the answer is no shorter than its source")
    tokens, source = count([text, request.text])
    if tokens > request.budget_tokens:
        return Refusal(f"the answer has {tokens:,} tokens, its budget is {request.budget_tokens:,}")
    if tokens >= source:
        return Refusal("the answer has no fewer tokens than its source")
    return text


def truth(request: SummaryRequest, summary: str) -> Truth:
    """Each name and number of a summary held against its source (and what an archive said before)."""
    source = f"{request.text}\n{request.previous}" if request.previous else request.text
    true, claims, invented = fidelity(source, summary, ())
    return Truth(true, claims, tuple(invented))


def extractive(request: SummaryRequest, count: Count) -> str:
    """The sentences that carry most, within the budget, by the compressor of prose; its counts are left out,
    because nobody vouches for numbers in a summary."""
    proposed = compressors.units(request.text, "prose")
    sentences = replace(proposed, units=tuple(unit for unit in proposed.units if not unit.counts), total=0)
    return fill(sentences, request.budget_tokens, count, longest=len(request.text)).text


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
