"""Who writes summaries for the engine, and how their answers are fetched, judged and replaced.

Optional: without it every stub is made by the engine alone. The clients of model providers are an extra
(``requirements/summaries.txt``); nothing of them is imported before one is chosen.
"""

from compression.summarizers.choosing import CHOICES, BadChoice, summarizer_from
from compression.summarizers.extractive import ExtractiveSummarizer
from compression.summarizers.protocol import Summarizer, SummaryFailed
from compression.summarizers.resolving import Outcome, Resolution, resolve

__all__ = [
    "CHOICES",
    "BadChoice",
    "ExtractiveSummarizer",
    "Outcome",
    "Resolution",
    "Summarizer",
    "SummaryFailed",
    "resolve",
    "summarizer_from",
]
