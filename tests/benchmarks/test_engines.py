"""What the engines' benchmark concludes: shares that agree, bars, losses to a peer, rows without peers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.engines import versions
from benchmarks.engines_events import MESSAGES, event, policy, window
from benchmarks.engines_messages import chat_messages
from benchmarks.engines_outputs import (
    Left,
    Output,
    alone,
    beaten,
    figures,
    first_and_last_lines,
    fresh_stubber,
    novelty_at_bar,
    per_result,
    short_of,
)
from benchmarks.engines_sessions import Outcome, Sums, at_shares, beside, cold, ours
from benchmarks.retention import Cut, cuts
from compression.engine.calibration import Calibration
from compression.engine.snapshots import digest
from compression.engine.tokens import default_counter
from compression.transcripts import Subject
from tests.compression.engine.builders import SessionBuilder

LINES = 600
LOG = "\n".join(f"2026-01-02 03:04:05 INFO worker_{n % 9} did job {n} of queue_{n % 7}" for n in range(LINES))
OUTPUT = Output("a log", "log", "Bash", '{"command": "tail x.log"}', LOG, ("job 300 of",))


@pytest.fixture(scope="module")
def found() -> list[Cut]:
    """Cuts of a session of long listings, whose later calls name what stood in them."""
    session = SessionBuilder(default_counter())
    session.system()
    session.user("look into it")
    for n in range(40):
        rows = "\n".join(f"src/part_{n}/file_{i}.py:{i}: value_{n}_{i} = load_{i}(config)" for i in range(90))
        session.turn(("Grep", rows), text=f"value_{n // 2}_17 and value_{n // 3}_5 are needed")
    session.turn()
    return cuts([Subject(session.build(), Calibration(), "made")])


def test_cuts_of_a_made_session_need_names_of_their_results(found: Sequence[Cut]) -> None:
    assert len(found) >= 2
    assert all(cut.wanted for cut in found)


def test_ours_meets_the_shares_of_a_peer_and_truncation_follows(found: Sequence[Cut]) -> None:
    shares = [0.6, *[0.7] * (len(found) - 1)]

    own, floor = at_shares(found, shares, fresh_stubber())

    asked = sum(share * cut.tokens for share, cut in zip(shares, found, strict=True)) / own.tokens
    assert own.saved == pytest.approx(asked, abs=0.015)
    assert floor.saved == pytest.approx(own.saved, abs=0.02)
    assert own.view >= floor.view
    assert own.broken == {}


def test_everything_that_ours_takes_out_of_the_view_is_within_reach(found: Sequence[Cut]) -> None:
    sums = Sums()
    for cut in found:
        outcome, _ = ours(cut, 0.9, fresh_stubber())
        sums.add(cut, chat_messages(cut.course, cut.zones.request), outcome)

    assert sums.view < sums.reach == sums.wanted


def test_a_share_out_of_reach_is_no_comparison_to_be_decided(found: Sequence[Cut]) -> None:
    gone = Sums()
    for cut in found:
        replaced = dict.fromkeys(cut.tools, "x")
        before = chat_messages(cut.course, cut.zones.request)
        after = chat_messages(cut.course, cut.zones.request, replaced)
        gone.add(cut, before, Outcome(after, 1.0))

    *_, verdict = beside("all gone", gone, found, fresh_stubber())

    assert (verdict.name, verdict.limit) == ("  ahead of ours", None)
    assert "no fair comparison" in verdict.detail


def test_a_peer_that_keeps_everything_is_not_compared(found: Sequence[Cut]) -> None:
    lazy = Sums()
    for cut in found:
        before = chat_messages(cut.course, cut.zones.request)
        lazy.add(cut, before, Outcome(before, 1.0))

    rows = list(beside("lazy", lazy, found, fresh_stubber()))

    assert [(row.name, row.value) for row in rows] == [("sessions: lazy", 100.0)]


def test_a_cold_window_shares_nothing_with_the_warm_one(found: Sequence[Cut]) -> None:
    fresh = cold(found[0])

    assert fresh.course.transcript == found[0].course.transcript
    assert fresh.course.transcript.memo is not found[0].course.transcript.memo


def test_reach_is_what_the_address_resolves_to() -> None:
    (record,) = figures([OUTPUT], [per_result(OUTPUT)])

    assert (record["facts"], record["reachable"]) == (1, 1)
    assert record["saved"] > 0.8


def test_a_fact_that_no_address_holds_is_out_of_reach() -> None:
    (record,) = figures([OUTPUT], [Left("gone", 1.0)])

    assert (record["in_view"], record["reachable"], record["lost"]) == (0, 0, ["job 300 of"])


def test_a_peer_reaches_what_its_markers_give_back() -> None:
    (record,) = figures([OUTPUT], [Left("<<ccr:1>>", 1.0, "", (LOG,))])

    assert (record["in_view"], record["reachable"]) == (0, 1)


def test_an_engine_without_a_compressor_for_a_kind_has_no_record_of_it() -> None:
    assert figures([OUTPUT], [None]) == []


def record(name: str, kind: str, saved: float, in_view: int) -> dict[str, Any]:
    return {"output": name, "kind": kind, "saved": saved, "in_view": in_view, "facts": 4, "reachable": 4}


def test_the_bar_is_lower_for_source_code() -> None:
    rows = [record("a", "source_code", 0.71, 4), record("b", "log", 0.79, 4), record("c", "log", 0.9, 3)]

    assert short_of(rows) == ["b (79.0%, 4/4)", "c (90.0%, 3/4)"]


def test_a_peer_beats_ours_where_it_keeps_more_for_no_less_saved() -> None:
    own = [record("a", "log", 0.9, 3), record("b", "log", 0.9, 3)]
    peer = [record("a", "log", 0.9, 4), record("b", "log", 0.89, 4)]

    assert beaten(own, {"peer": peer}) == ["peer: a (90.0%, 4 against 90.0%, 3)"]


def test_the_bar_leaves_room_for_the_stubs_own_line() -> None:
    (one,) = figures([OUTPUT], [novelty_at_bar(OUTPUT)])

    assert one["saved"] >= 0.8


def test_an_output_alone_is_the_only_candidate_of_its_event() -> None:
    cut = alone(OUTPUT)

    assert [(i, j) for i, j, _ in cut.results] == [(2, 0)]
    assert cut.zones.of_message(2) == "compressible"
    assert cut.text(2) == LOG
    assert cut.course.sha(2, 0) == digest(LOG)


def test_first_and_last_lines_say_how_many_are_missing() -> None:
    text = first_and_last_lines("\n".join(map(str, range(40))))

    assert text.split("\n")[19:22] == ["19", "... 10 lines omitted", "30"]
    assert first_and_last_lines("one\ntwo") == "one\ntwo"


def test_a_made_window_starts_an_event_under_both_allocations() -> None:
    small = window(40)
    tokens = sum(map(sum, small.counts))

    event(small, policy("per_result", tokens), fresh_stubber())
    event(small, policy("novelty", tokens), fresh_stubber())

    assert len(window(MESSAGES).messages) == MESSAGES


def test_without_peers_every_row_of_versions_says_so_and_stays_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_PEERS", str(tmp_path))

    rows = list(versions())

    assert [row.detail.partition(":")[0] for row in rows] == ["not installed"] * 3
    assert all(math.isnan(row.value) and row.holds for row in rows)
    assert orjson.loads(orjson.dumps([row.as_dict() for row in rows]))[0]["figures"] == {"installed": False}
