from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, sleep

import pytest

from compression.engine.summaries import SummaryRequest, extractive
from compression.engine.tokens import default_counter
from compression.summarizers import ExtractiveSummarizer, Outcome, Resolution, SummaryFailed, resolve
from tests.compression.summarizers.asked import REPORT, request

COUNT = default_counter().count_many
GOOD = "export_orders stopped at 02:14: the disk of db-7 was full."


class Scripted:
    """Answers by a function, and remembers which texts it saw."""

    name = "scripted"

    def __init__(self, answer: Callable[[SummaryRequest], str]) -> None:
        self._answer = answer
        self.seen: list[SummaryRequest] = []
        self.limits: list[float] = []

    def summarize(self, request: SummaryRequest, *, time_limit_s: float) -> str:
        self.seen.append(request)
        self.limits.append(time_limit_s)
        return self._answer(request)


def several(number: int) -> list[SummaryRequest]:
    return [request(f"{REPORT}\nCase {i} of several.") for i in range(number)]


def raising(error: Exception) -> Callable[[SummaryRequest], str]:
    def answer(_: SummaryRequest) -> str:
        raise error

    return answer


def told(resolution: Resolution) -> list[tuple[str, bool, str]]:
    return [(outcome.summarizer, outcome.accepted, outcome.reason) for outcome in resolution.outcomes]


def test_a_good_answer_stands_with_its_figures() -> None:
    asked = request()

    found = resolve([asked], Scripted(lambda _: GOOD), time_limit_s=5)

    assert found.texts == {asked.key: GOOD}
    outcome = found.outcomes[0]
    assert outcome == Outcome(asked.key, "scripted", True, "", 1.0, COUNT([GOOD])[0], outcome.duration_ms)
    assert len(found.outcomes) == 1


def test_invented_names_are_reported_and_the_answer_stands() -> None:
    asked = request()

    found = resolve([asked], Scripted(lambda _: "export_orders failed, see purge_spool."), time_limit_s=5)

    assert list(found.texts) == [asked.key]
    assert found.outcomes[0].fidelity == 0.5
    assert found.outcomes[0].reason == "1 of 2 names and numbers are not in the source: purge_spool"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: "word " * 70, "the answer has 70 tokens, its budget is 60"),
        (lambda _: f"{REPORT} So it is.", "the answer is no shorter than its source"),
        (lambda _: "  \n ", "the answer is empty"),
        (raising(SummaryFailed("the server fell over")), "the server fell over"),
        (raising(ZeroDivisionError("secret")), "the summarizer broke (ZeroDivisionError)"),
        (lambda _: None, "the summarizer gave no text"),
    ],
)
def test_sentences_of_the_source_stand_in_for_what_failed(answer: Callable[[SummaryRequest], str], reason: str) -> None:
    asked = request()

    found = resolve([asked], Scripted(answer), time_limit_s=5)

    assert found.texts == {asked.key: extractive(asked, COUNT)}
    assert told(found) == [("scripted", False, reason), ("extractive", True, "")]
    assert found.outcomes[1].fidelity == 1.0


def test_an_archive_without_a_summary_is_left_to_the_engine() -> None:
    asked = request(purpose="archive")

    found = resolve([asked], Scripted(raising(SummaryFailed("down"))), time_limit_s=5)

    assert found.texts == {}
    assert told(found)[1] == ("extractive", False, "the engine's own state header stands for an archive")


def test_the_built_in_summarizer_gives_the_same_texts_whatever_the_time() -> None:
    asked = several(3)

    assert resolve(asked, ExtractiveSummarizer(), time_limit_s=0).texts == {
        one.key: extractive(one, COUNT) for one in asked
    }


def test_all_requests_share_one_time_limit() -> None:
    free = threading.Event()

    def answer(_: SummaryRequest) -> str:
        free.wait(5)
        return GOOD

    asked = several(6)
    began = monotonic()
    found = resolve(asked, Scripted(answer), time_limit_s=0.5, at_once=2)
    took = monotonic() - began
    free.set()

    assert took < 3
    assert [one[2] for one in told(found) if one[0] == "scripted"] == [
        "no answer within the time limit of 0.5 s",
        "no answer within the time limit of 0.5 s",
        *["not asked: the time limit of 0.5 s was used up"] * 4,
    ]
    assert list(found.texts) == [one.key for one in asked]


def test_a_later_request_gets_only_the_time_that_is_left() -> None:
    def answer(_: SummaryRequest) -> str:
        sleep(0.05)
        return GOOD

    scripted = Scripted(answer)
    resolve(several(3), scripted, time_limit_s=5, at_once=1)

    assert scripted.limits[0] <= 5
    assert scripted.limits[2] <= 4.9


def test_no_more_than_so_many_are_under_way_at_once() -> None:
    lock, busy, busiest = threading.Lock(), [0], [0]
    three = threading.Barrier(3, timeout=5)

    def answer(_: SummaryRequest) -> str:
        with lock:
            busy[0] += 1
            busiest[0] = max(busiest[0], busy[0])
        three.wait()
        with lock:
            busy[0] -= 1
        return GOOD

    found = resolve(several(9), Scripted(answer), time_limit_s=5, at_once=3)

    assert busiest[0] == 3
    assert all(outcome.accepted for outcome in found.outcomes)


def test_after_a_final_failure_nobody_is_asked_again() -> None:
    scripted = Scripted(raising(SummaryFailed("the key was refused", final=True)))

    found = resolve(several(4), scripted, time_limit_s=5, at_once=1)

    assert len(scripted.seen) == 1
    assert [one[2] for one in told(found) if one[0] == "scripted"] == [
        "the key was refused",
        *["not asked: the one before failed for good"] * 3,
    ]


def test_outcomes_come_in_the_order_of_the_requests() -> None:
    asked = several(5)

    def answer(one: SummaryRequest) -> str:
        sleep(0.02 * (5 - asked.index(one)))
        return GOOD

    found = resolve(asked, Scripted(answer), time_limit_s=5)

    assert [outcome.key for outcome in found.outcomes] == [one.key for one in asked]


def test_one_text_is_asked_for_once() -> None:
    scripted = Scripted(lambda _: GOOD)

    resolve([request(), request(budget_tokens=90)], scripted, time_limit_s=5)

    assert [one.budget_tokens for one in scripted.seen] == [60]


def test_a_very_long_text_is_sent_without_its_middle_and_the_outcome_says_so() -> None:
    text = "begin " + "middle " * 400 + "end_of_it"
    scripted = Scripted(lambda _: "begin to end_of_it")

    found = resolve([request(text)], scripted, time_limit_s=5, longest_sent=1_000)

    sent = scripted.seen[0].text
    assert sent == f"{text[:600]}\n[... 1,815 characters left out here ...]\n{text[-400:]}"
    assert told(found) == [("scripted", True, "sent without 1,815 of its 2,815 characters")]


def test_nothing_asked_gives_nothing() -> None:
    assert resolve([], Scripted(lambda _: GOOD), time_limit_s=5) == Resolution({}, [])
