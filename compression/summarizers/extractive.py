"""The summarizer that is built in: sentences of the source, chosen by counting. It calls nobody."""

from __future__ import annotations

from compression.engine.summaries import SummaryRequest, extractive
from compression.engine.tokens import default_counter
from compression.engine.units import Count
from compression.summarizers.protocol import SummaryFailed


class ExtractiveSummarizer:
    """Deterministic, a few milliseconds a text. Also what stands in when another summarizer has no answer."""

    name = "extractive"

    def __init__(self, count: Count | None = None) -> None:
        self._count = count or default_counter().count_many

    def summarize(self, request: SummaryRequest, *, time_limit_s: float = 0.0) -> str:
        """It needs no limit. An archive is not prose: the engine's own state header says more about it."""
        if request.purpose == "archive":
            raise SummaryFailed("the engine's own state header stands for an archive")
        return extractive(request, self._count)
