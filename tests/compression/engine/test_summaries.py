from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compression.engine.edits import Edit
from compression.engine.snapshots import digest
from compression.engine.summaries import Refusal, SummaryRequest, accepted, extractive, requests_of, truth

PROSE = "\n".join(f"Sentence number {i} tells of the work at place_{i} and of nothing else." for i in range(60))


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def words(number: int) -> str:
    return " ".join(f"w{i}" for i in range(number))


def asked(text: str = PROSE, budget: int = 30) -> SummaryRequest:
    return SummaryRequest(digest(text), "prose", text, budget)


def stub(body_words: int, text: str = PROSE, **fields: object) -> Edit:
    edit = Edit(
        message=3,
        part=0,
        kind="stub",
        text=f"[compressed prose]\n{words(body_words)}",
        tokens_before=len(text.split()),
        tokens_after=2 + body_words,
        content_type="prose",
        sha256=digest(text),
    )
    return replace(edit, **fields)  # type: ignore[arg-type]  # fields of Edit by name


def test_an_answer_within_budget_stands_as_it_is() -> None:
    assert accepted(asked(), "The work at place_3 is done.", count) == "The work at place_3 is done."


def test_an_answer_above_its_budget_is_refused_with_both_figures() -> None:
    assert accepted(asked(), words(31), count) == Refusal("the answer has 31 tokens, its budget is 30")


def test_an_answer_of_exactly_its_budget_stands() -> None:
    assert accepted(asked(), words(30), count) == words(30)


def test_an_answer_as_long_as_its_source_is_refused() -> None:
    assert accepted(asked("one two three", 30), "six five four", count) == Refusal(
        "the answer is no shorter than its source"
    )


def test_an_answer_of_fewer_bytes_but_as_many_tokens_is_refused() -> None:
    assert accepted(asked("oneone twotwo", 30), "six five", count) == Refusal(
        "the answer has no fewer tokens than its source"
    )


def test_an_answer_of_blanks_is_refused() -> None:
    assert accepted(asked(), " \n\t\u200b", count) == Refusal("the answer is empty")


def test_what_no_reader_sees_is_taken_out_of_an_answer() -> None:
    assert accepted(asked(), "a\x00b\u202ec\ud800 d\r\ne\tf", count) == "abc d\ne\tf"


def test_names_that_are_not_in_the_source_lower_the_truth() -> None:
    found = truth(asked(), "place_3 holds, place_999 does not")

    assert (found.true, found.claims, found.invented, found.share) == (1, 2, ("place_999",), 0.5)


def test_a_summary_that_names_nothing_is_true() -> None:
    assert truth(asked(), "all is well").share == 1.0


def test_what_an_archive_said_before_counts_as_its_source() -> None:
    request = replace(asked(), purpose="archive", previous="the goal is in plan_b")

    assert truth(request, "plan_b and place_1").share == 1.0


def test_the_extractive_summary_is_made_of_the_source_and_keeps_its_budget() -> None:
    text = extractive(asked(), count)

    assert accepted(asked(), text, count) == text
    assert text.split("\n")[0] == "Sentence number 0 tells of the work at place_0 and of nothing else."


def test_a_prose_stub_asks_for_no_more_than_its_body_takes() -> None:
    assert requests_of([stub(70)], {digest(PROSE): PROSE}, count, focus="place_3") == [
        SummaryRequest(digest(PROSE), "prose", PROSE, 70, "place_3")
    ]


def test_a_text_that_stands_twice_is_asked_for_once() -> None:
    edits = [stub(70), stub(80, message=9)]

    assert [request.budget_tokens for request in requests_of(edits, {digest(PROSE): PROSE}, count)] == [70]


def test_other_kinds_cleared_results_and_absent_originals_are_not_asked_for() -> None:
    edits = [stub(70, content_type="log"), stub(70, kind="cleared"), stub(70, sha256="0" * 64)]

    assert requests_of(edits, {digest(PROSE): PROSE}, count) == []


def test_a_body_of_a_line_or_two_is_not_asked_for() -> None:
    assert requests_of([stub(59)], {digest(PROSE): PROSE}, count) == []
