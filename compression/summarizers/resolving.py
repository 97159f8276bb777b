"""Asks a summarizer for many texts at once, judges the answers, and puts something in for what is missing.

It never fails and never takes longer than its time limit and a few milliseconds a text: whatever goes
wrong is an outcome in words, and the extractive summary stands in. Nothing is written to a log.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from time import monotonic

from compression.engine.summaries import Refusal, SummaryRequest, accepted, truth
from compression.engine.tokens import default_counter
from compression.engine.units import Count
from compression.summarizers.extractive import ExtractiveSummarizer
from compression.summarizers.prompts import shortened
from compression.summarizers.protocol import Summarizer, SummaryFailed

AT_ONCE = 4
LONGEST_SENT = 200_000
"""Characters of one text that are sent; about 50,000 tokens."""

_INVENTED_SHOWN = 3
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one summarizer made of one text.

    ``reason``: why there is no summary, or what is to be known of one that stands. ``fidelity``: the share of
    its names and numbers that stand in the source, 0 without a summary. ``tokens`` are uncalibrated.
    """

    key: str
    summarizer: str
    accepted: bool
    reason: str = ""
    fidelity: float = 0.0
    tokens: int = 0
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Resolution:
    """``texts``: the accepted summary of each key that has one. ``outcomes``: in the order of the requests; the
    stand-in's follows the failure that called for it."""

    texts: dict[str, str]
    outcomes: list[Outcome]


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str | None
    reason: str
    duration_ms: float = 0.0


class _Asking:
    """One summarizer under one time limit; ``closed`` once another request could not succeed either."""

    def __init__(self, summarizer: Summarizer, time_limit_s: float) -> None:
        self._summarizer = summarizer
        self._limit_s = time_limit_s
        self._deadline = monotonic() + time_limit_s
        self.closed = Event()

    @property
    def left(self) -> float:
        return max(self._deadline - monotonic(), 0.0)

    def ask(self, request: SummaryRequest) -> _Answer:
        began = monotonic()
        if self.closed.is_set():
            return _Answer(None, "not asked: the one before failed for good")
        if not self.left:
            return self.unasked()
        try:
            text: object = self._summarizer.summarize(request, time_limit_s=self.left)
        except SummaryFailed as failure:
            if failure.final:
                self.closed.set()
            return _Answer(None, failure.reason, _milliseconds(began))
        except Exception as error:  # noqa: BLE001 - an event never fails for a summary, whoever wrote the summarizer
            return _Answer(None, f"the summarizer broke ({type(error).__name__})", _milliseconds(began))
        if not isinstance(text, str):
            return _Answer(None, "the summarizer gave no text", _milliseconds(began))
        return _Answer(text, "", _milliseconds(began))

    def unasked(self) -> _Answer:
        return _Answer(None, f"not asked: the time limit of {self._limit_s:g} s was used up")

    def late(self) -> _Answer:
        return _Answer(None, f"no answer within the time limit of {self._limit_s:g} s", self._limit_s * 1_000)


def resolve(
    requests: Iterable[SummaryRequest],
    summarizer: Summarizer,
    *,
    time_limit_s: float,
    count: Count | None = None,
    at_once: int = AT_ONCE,
    longest_sent: int = LONGEST_SENT,
) -> Resolution:
    """A summary for each request, once a key; at most ``at_once`` are under way at a time.

    ``time_limit_s`` is for all of them together. A text above ``longest_sent`` characters is sent without its
    middle, and its outcome says so; it is still judged against the whole.
    """
    count = count or default_counter().count_many
    wanted: dict[str, SummaryRequest] = {}
    for request in requests:
        wanted.setdefault(request.key, request)
    is_built_in = isinstance(summarizer, ExtractiveSummarizer)
    sent = {} if is_built_in else {key: shortened(request, longest_sent) for key, request in wanted.items()}
    answers = _answers({key: request for key, (request, _) in sent.items()}, summarizer, time_limit_s, at_once)
    texts: dict[str, str] = {}
    outcomes: list[Outcome] = []
    for key, request in wanted.items():
        text = None
        if key in answers:
            left_out = sent[key][1]
            note = f"sent without {left_out:,} of its {len(request.text):,} characters" if left_out else ""
            text, outcome = _judged(request, summarizer.name, answers[key], note, count)
            outcomes.append(outcome)
        if text is None:
            text, outcome = _judged(request, ExtractiveSummarizer.name, _extracted(request, count), "", count)
            outcomes.append(outcome)
        if text is not None:
            texts[key] = text
    return Resolution(texts, outcomes)


def _answers(
    requests: dict[str, SummaryRequest], summarizer: Summarizer, time_limit_s: float, at_once: int
) -> dict[str, _Answer]:
    """Each request's answer, or the reason why there is none. Threads that still wait end at their own limit."""
    asking = _Asking(summarizer, time_limit_s)
    pool = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="summaries")
    futures = {key: pool.submit(asking.ask, request) for key, request in requests.items()}
    wait(futures.values(), timeout=asking.left)
    pool.shutdown(wait=False, cancel_futures=True)
    return {key: _answer_of(future, asking) for key, future in futures.items()}


def _answer_of(future: Future[_Answer], asking: _Asking) -> _Answer:
    if future.cancelled():
        return asking.unasked()
    return future.result() if future.done() else asking.late()


def _extracted(request: SummaryRequest, count: Count) -> _Answer:
    """The stand-in. It asks nobody, so no time limit makes its text another one."""
    began = monotonic()
    try:
        return _Answer(ExtractiveSummarizer(count).summarize(request), "", _milliseconds(began))
    except SummaryFailed as failure:
        return _Answer(None, failure.reason)


def _judged(request: SummaryRequest, name: str, answer: _Answer, note: str, count: Count) -> tuple[str | None, Outcome]:
    if answer.text is None:
        return None, _outcome(request, name, answer, answer.reason, note)
    text = accepted(request, answer.text, count)
    if isinstance(text, Refusal):
        return None, _outcome(request, name, answer, text.reason, note)
    found = truth(request, text)
    invented = ""
    if found.invented:
        shown = ", ".join(invention[:_LONGEST_NAME] for invention in found.invented[:_INVENTED_SHOWN])
        invented = f"{len(found.invented)} of {found.claims} names and numbers are not in the source: {shown}"
    told = "; ".join(filter(None, (invented, note)))
    tokens = count([text])[0]
    return text, Outcome(request.key, name, True, told, found.share, tokens, answer.duration_ms)


def _outcome(request: SummaryRequest, name: str, answer: _Answer, reason: str, note: str) -> Outcome:
    told = "; ".join(filter(None, (reason, note)))
    return Outcome(request.key, name, False, told, duration_ms=answer.duration_ms)


def _milliseconds(began: float) -> float:
    return round((monotonic() - began) * 1_000, 1)
