"""The table of a replay and what is summed up from it, by hand. Tokens are words."""

from __future__ import annotations

import json

import pytest

from compression.engine.blocks import window_blocks
from compression.engine.calibration import Calibration
from compression.engine.columns import shares
from compression.engine.document import replay_document, window_document
from compression.engine.history import SOURCES
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay
from compression.engine.standing import Standing
from compression.engine.summary import summarize
from compression.engine.transcript import Part
from compression.engine.turns import TurnTable, tabulate
from tests.compression.engine.builders import SessionBuilder, run, small_policy, words

CALIBRATION = Calibration(k=1.5, hidden=800)


def session(*recorded: int) -> SessionBuilder:
    """A prompt, three calls with results of 500 words, an answer; ``recorded`` contexts of the four calls."""
    built = SessionBuilder()
    built.user()
    figures = [*recorded, None, None, None, None]
    for n in range(3):
        built.turn(("Bash", words(500, f"r{n}w")), recorded=figures[n])
    built.turn(recorded=figures[3])
    return built


def done(*recorded: int) -> Replay:
    """One event at turn 3 (3,107 of 4,000) that stubs messages 2 and 4."""
    return run(session(*recorded), small_policy(recent_tokens=550), CALIBRATION)


def test_the_table_before_anything_happened() -> None:
    table = tabulate(done())

    assert table.request_end == [1, 3, 5, 7]
    assert table.counted == [5, 516, 1_027, 1_538]
    assert table.before == [808, 1_574, 2_340, 3_107]
    assert table.sources["tool_result"] == [0, 756, 1_512, 2_268]
    assert table.sources["user"] == [8, 8, 8, 8]
    assert table.hidden == 800


def test_an_event_changes_its_turn_and_no_earlier_one() -> None:
    replay = done()
    table = tabulate(replay)
    freed = sum(edit.tokens_before - edit.tokens_after for edit in replay.events[0].edits)

    assert [edit.message for edit in replay.events[0].edits] == [2, 4]
    assert table.counted_after == [5, 516, 1_027, 1_538 - freed]
    assert table.after == [808, 1_574, 2_340, 800 + round(1.5 * (1_538 - freed))]
    assert table.sources_after["tool_result"][:3] == table.sources["tool_result"][:3]


def test_zones_hold_the_window_with_hidden_in_the_head() -> None:
    table = tabulate(done())

    assert [table.zones[zone][2] for zone in ("head", "compressible", "pinned", "recent")] == [
        800 + 18,  # 5 + 7 words at 1.5
        756,  # the first result
        0,
        766,  # a call and the last result: 511 words
    ]
    assert (table.head_at, table.recent_at) == ([1, 2, 2, 2], [1, 2, 3, 5])
    assert table.recent_actual == [0, 504, 511, 511]


def test_a_zone_that_overruns_its_budget_says_so() -> None:
    table = tabulate(run(session(), small_policy(recent_tokens=300), CALIBRATION))

    reason = "the newest message alone has 504 tokens; the budget is 300"
    assert table.overruns == [(1, reason), (2, reason), (3, reason)]


def test_a_table_survives_json() -> None:
    table = tabulate(done())

    assert TurnTable.from_dict(json.loads(json.dumps(table.as_dict()))) == table


@pytest.mark.parametrize(
    ("counts", "k", "total", "expected"),
    [
        ((1, 1, 1), 1.5, 4, [2, 1, 1]),
        ((10, 0, 5), 1.0, 15, [10, 0, 5]),
        ((10, 5), 1.0, 12, [7, 5]),
        ((10, 5), 1.0, 3, [0, 3]),
        ((), 1.0, 0, []),
    ],
)
def test_shares_add_up_to_their_total(counts: tuple[int, ...], k: float, total: int, expected: list[int]) -> None:
    assert shares(counts, k, total) == expected


def test_what_was_saved_comes_with_what_it_is_a_share_of() -> None:
    replay = done()
    table = tabulate(replay)
    summary = summarize(replay, table)
    reclaimed = replay.events[0].reclaimed

    assert summary["session_saved"] == round(reclaimed / (808 + 1_574 + 2_340 + 3_107), 6)
    assert summary["request_saved"] == round(reclaimed / (3_107 - 800), 6)
    assert summary["tool_saved"] == round(reclaimed / (table.sources_after["tool_result"][3] + reclaimed), 6)
    assert (summary["events"], summary["stubs"], summary["violations"]) == (1, 2, 0)
    assert (summary["recall_integrity"], summary["addresses"]) == (1.0, 2)
    assert (summary["peak_before"], summary["peak_after"]) == (3_107, 2_340)


def test_what_does_not_exist_is_none_and_not_zero() -> None:
    summary = summarize(quiet := run(session(), PRESETS["none"]), tabulate(quiet))

    names = ("request_saved", "tool_saved")
    assert {name: summary[name] for name in names} == dict.fromkeys(names)
    assert summary["counter_error"]["median"] is None
    assert summary["session_saved"] == 0


def test_where_no_stub_was_made_no_promise_was_broken() -> None:
    summary = summarize(quiet := run(session(), PRESETS["none"]), tabulate(quiet))

    assert [summary[name] for name in ("addresses", "recall_integrity", "claims", "fidelity")] == [0, 1.0, 0, 1.0]


def test_overflow_is_the_first_turn_that_does_not_fit() -> None:
    replay = run(session(), small_policy(context_window=1_000, recent_tokens=550, reserve_output=100), CALIBRATION)
    summary = summarize(replay, tabulate(replay))

    assert (summary["overflow_turn_none"], summary["turns_lost_none"]) == (1, 3)
    assert summary["overflow_turn"] == 1


def test_the_counter_error_is_signed_and_ends_at_the_first_boundary() -> None:
    built = session(800, 1_600, 2_340)
    built.boundaries = []
    built.boundary("micro", turn=2, position=4)
    replay = run(built, PRESETS["none"], CALIBRATION)

    error = summarize(replay, tabulate(replay))["counter_error"]

    assert error["turns"] == 2
    assert error["median"] == round(((808 - 800) / 800 + (1_574 - 1_600) / 1_600) / 2, 6)


def test_composition_names_both_denominators() -> None:
    replay = done()
    composition = summarize(replay, tabulate(replay))["composition"]

    assert (composition["turn"], composition["tokens"]) == (3, 3_107)
    assert composition["of_request"]["hidden"] == round(800 / 3_107, 6)
    assert composition["of_request"]["tool_result"] == round(2_268 / 3_107, 6)
    assert composition["of_logged"]["tool_result"] == round(2_268 / 2_307, 6)


def test_events_close_together_are_thrash() -> None:
    built = SessionBuilder()
    built.user()
    for n in range(4):
        built.turn(("Bash", words(989, f"r{n}w")))
    built.turn()
    policy = small_policy(strategy="sliding", trigger_ratio=0.75, selection="oldest_first")
    replay = run(built, policy)

    assert [event.turn for event in replay.events] == [3, 4]
    assert summarize(replay, tabulate(replay))["thrash"] == round(100 / 5, 6)


def test_the_document_has_the_documented_fields() -> None:
    document = replay_document(done(900), session="s", counter="words")

    assert set(document) == {"session", "policy", "counter", "turns", "events", "cost", "stability", "summary"}
    assert set(document["turns"][0]) >= {
        "index", "request_end", "tokens", "zones", "usage_ratio", "fits", "event", "cache", "cost_usd", "recorded",
    }  # fmt: skip
    assert document["turns"][0]["recorded"]["context_tokens"] == 900
    assert document["turns"][0]["recorded"]["comparable"] is True
    assert [turn["event"] for turn in document["turns"]] == [None, None, None, {"index": 0, "kind": "compress"}]
    assert set(document["events"][0]) >= {
        "turn", "kind", "before", "after", "reclaimed", "first_changed_message", "edits", "cache_prefix_survival",
        "break_even_calls", "calls_after",
    }  # fmt: skip
    assert set(document["events"][0]["edits"][0]) >= {
        "message", "part", "kind", "content_type", "compressor", "tokens_before", "tokens_after", "address", "reason",
    }  # fmt: skip


def test_one_turns_document_holds_that_row() -> None:
    document = replay_document(done(), session="s", counter="words", turn=2)

    assert [row["index"] for row in document["turns"]] == [2]


def test_recorded_figures_after_a_boundary_are_not_comparable() -> None:
    built = session(900, 1_000)
    built.boundary("micro", turn=1, position=2)

    rows = replay_document(run(built, PRESETS["none"]), session="s", counter="words")["turns"]

    assert [row["recorded"] and row["recorded"]["comparable"] for row in rows] == [True, False, None, None]


def test_blocks_show_both_sides_of_an_edit() -> None:
    document = window_document(done(), 3, "both")

    before, after = ({block["message"]: block for block in document[side]} for side in ("before", "after"))
    assert before[2]["text"] == words(500, "r0w")
    assert (before[2]["tokens"], before[2]["zone"], before[2]["tool"]) == (504, "compressible", "Bash")
    assert after[2]["text"].startswith("[compressed ")
    assert after[2]["edit"]["address"] in after[2]["text"].split("\n")[0]
    assert (before[6]["zone"], before[6]["reason"]) == ("recent", "within the newest 550 tokens")
    assert before[6] == after[6]


def test_the_hidden_prefix_is_a_block_of_the_head() -> None:
    (hidden, *_) = window_blocks(done(), 0, "before")

    assert (hidden.message, hidden.zone, hidden.tokens) == (None, "head", 800)


def test_a_message_without_parts_is_a_block_too() -> None:
    built = SessionBuilder()
    built.user()
    built.turn()
    built.add("assistant")
    built.turn()

    blocks = window_blocks(run(built, PRESETS["none"]), 1, "after")

    assert [(block.message, block.tokens) for block in blocks] == [(0, 5), (1, 5), (2, 4)]


def test_parts_without_text_are_described() -> None:
    built = SessionBuilder()
    built.add(
        "user", Part("media", media_type="image/png", size=12, sha256="ab", width=3, height=4), Part("opaque", size=9)
    )
    built.add("user", Part("thinking", signature="s"), Part("media"))
    built.turn()

    assert [block.text for block in window_blocks(run(built, PRESETS["none"]), 0, "before")] == [
        "[image/png, 3 x 4, 12 bytes, sha256 ab]",
        "[not readable: 9 bytes kept by the provider]",
        "[thinking without its text; the provider has it]",
        "[media, 0 bytes, sha256 ]",
    ]


def climbed(newest: int) -> Replay:
    """An old result and texts that are made shorter, and then, unless that is enough, the oldest groups out."""
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(2_300, "old")))
    session.turn(("Bash", words(22)), text=words(130, "said"))
    for n in range(12):
        session.turn(("Bash", words(22, f"s{n}x")))
    session.turn(("Bash", words(newest, "new")))
    session.turn()
    return run(session, small_policy(ladder=True, recent_tokens=newest + 20, trigger_ratio=0.85))


@pytest.mark.parametrize(
    ("newest", "kinds"), [(2_900, ["compress", "aggressive"]), (3_200, ["compress", "aggressive", "truncate"])]
)
def test_what_was_saved_of_results_is_their_own_whatever_else_an_event_does(newest: int, kinds: list[str]) -> None:
    replay = climbed(newest)
    assert [event.kind for event in replay.events] == kinds

    standing, before, after = Standing(replay.course), 0, 0
    for event in replay.events:
        here = standing.row(event.turn)[SOURCES.index("tool_result")]
        standing.tell(event)
        if not event.left:
            before, after = before + here, after + standing.row(event.turn)[SOURCES.index("tool_result")]
    summary = summarize(replay, tabulate(replay))

    assert (summary["tool_before"], summary["tool_after"]) == (before, after)
