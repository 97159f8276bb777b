"""What a replay costs: its ledger, its events' break-evens, and the same in the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from compression.engine.break_even import break_even_of
from compression.engine.cache_comparison import compare_caching, sliding_like
from compression.engine.calibration import Calibration
from compression.engine.costs import Ledger, ledger_of, ledger_without_cache
from compression.engine.document import replay_document
from compression.engine.economy import Prospect, economy_of
from compression.engine.live import compress_window
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.pricing import Prices
from compression.engine.replay import Replay, replay
from compression.engine.summary import summarize
from compression.engine.terms import terms_of
from compression.engine.transcript import Recorded, Transcript
from compression.engine.turns import tabulate
from tests.compression.engine.builders import SessionBuilder, small_policy, stubber, words

OWN = Prices("m", Decimal(10), Decimal(50), Decimal(1), Decimal("12.5"), Decimal(20), source="the project")
NONE = PRESETS["none"]
BIG = Calibration(hidden=5_000)
"""A hidden prefix above every provider's minimum, as agents have it."""
POLICY = small_policy(context_window=9_000, trigger_ratio=0.85, target_ratio=0.7)


def session(
    *sizes: int, model: str = "claude-opus-5", gaps: Sequence[float] = (), recorded: Sequence[Recorded] = ()
) -> Transcript:
    """Calls whose results have ``sizes`` tokens, ten seconds apart or by ``gaps``."""
    builder = SessionBuilder(model=model)
    builder.user()
    for n, size in enumerate(sizes):
        builder.turn(("Bash", words(size, f"r{n}w")))
    builder.turn()
    built = builder.build()
    clock, turns = 1_780_000_000.0, []
    for n, turn in enumerate(built.turns):
        clock += gaps[n] if n < len(gaps) else 10.0
        turns.append(replace(turn, time=clock, recorded=recorded[n] if n < len(recorded) else None))
    return replace(built, turns=tuple(turns))


def run(transcript: Transcript, policy: Policy = POLICY, **options: Any) -> Replay:
    return replay(transcript, policy, BIG, stubber=stubber(), **options)


def ledger(transcript: Transcript, policy: Policy = POLICY, **options: Any) -> Ledger:
    return ledger_of(run(transcript, policy, **options))


def document(done: Replay) -> dict[str, Any]:
    return replay_document(done, session="s", counter="words")


def test_every_token_that_was_sent_is_read_written_or_plain() -> None:
    done = run(session(1_000, 1_000, 1_000, 500))

    assert [turn.tokens for turn in ledger_of(done).turns] == list(done.windows_after)


def test_the_bill_of_two_calls_without_compression() -> None:
    found = ledger(session(1_000, model="m"), NONE, prices={"m": replace(OWN)})

    # 5,005 tokens, then 6,016: what is not read of them is written, at the price that was set for it.
    assert [(turn.read, turn.write, turn.uncached) for turn in found.turns] == [(0, 5_005, 0), (5_005, 1_011, 0)]
    assert found.cost is not None
    assert found.cost.write == Decimal(6_016) * Decimal("12.5") / 1_000_000
    assert found.cost.read == Decimal(5_005) / 1_000_000
    assert found.hit_rate == 5_005 / 11_021


def test_the_calls_add_up_to_the_sum() -> None:
    done = document(run(session(1_000, 1_000, 1_000, 500)))

    assert sum(Decimal(turn["cost_usd"]) for turn in done["turns"]) == Decimal(done["summary"]["cost_usd"])
    assert sum(map(Decimal, done["summary"]["cost_parts_usd"].values())) == Decimal(done["summary"]["cost_usd"])
    for name in ("read", "write", "uncached"):
        assert sum(turn["cache"][name] for turn in done["turns"]) == done["summary"][f"cache_{name}"]


def test_money_is_a_decimal_string() -> None:
    done = document(run(session(1_000)))

    assert isinstance(done["summary"]["cost_usd"], str)
    assert "E" not in done["summary"]["cost_usd"]


def test_an_event_rewrites_what_lies_behind_the_hidden_prefix() -> None:
    found = ledger(session(1_000, 1_000, 1_000, 500))

    (bust,) = [turn.bust for turn in found.turns if turn.bust]
    assert (bust.cause, bust.message) == ("event", 2)
    assert (found.rewrites, found.expiries, found.rewritten_tokens) == (1, 0, bust.tokens)


def test_without_compression_nothing_is_rewritten() -> None:
    found = ledger(session(1_000, 1_000, 1_000, 500), NONE)

    assert (found.rewrites, found.expiries) == (0, 0)


def test_idle_time_expires_the_cache() -> None:
    found = ledger(session(1_000, 1_000, gaps=(0, 10, 301)), NONE)

    assert [turn.read for turn in found.turns] == [0, 5_005, 0]
    assert (found.rewrites, found.expiries) == (0, 1)


def test_a_change_of_the_tools_breaks_everything() -> None:
    built = session(1_000, 1_000)
    turns = [replace(turn, tools="one" if turn.index < 2 else "two") for turn in built.turns]
    found = ledger(replace(built, turns=tuple(turns)), NONE)

    assert [turn.bust and turn.bust.cause for turn in found.turns] == [None, None, "system"]
    assert found.turns[2].read == 0


def test_another_model_is_paid_by_its_own_price() -> None:
    usage = [Recorded(5_005, model="claude-opus-5"), Recorded(6_016, model="claude-haiku-4-5")]
    found = ledger(session(1_000, recorded=usage), NONE)

    assert found.costs[1] is not None
    assert found.costs[1].write == Decimal(6_016) * Decimal("1.25") / 1_000_000
    assert found.turns[1].bust is not None
    assert found.turns[1].bust.cause == "model"


def test_an_unknown_model_has_no_bill_and_says_so() -> None:
    done = document(run(session(1_000, model="nobody-knows-this")))
    summary = done["summary"]

    assert (summary["cost_usd"], summary["cost_parts_usd"], summary["break_even"]) == (None, None, None)
    assert [turn["cost_usd"] for turn in done["turns"]] == [None, None]
    assert summary["hit_rate"] is not None
    assert summary["price_warnings"] == [
        "no price is known for the model nobody-knows-this: set one for the project to see dollars"
    ]


def test_a_model_without_a_name_is_named_so() -> None:
    assert terms_of(session(1_000, model="")).warnings == (
        "no price is known for the model (not named): set one for the project to see dollars",
    )


@pytest.mark.parametrize("own", [OWN, {"nobody-knows-this": OWN}])
def test_a_project_may_set_prices(own: Any) -> None:
    found = ledger(session(1_000, model="nobody-knows-this"), NONE, prices=own)

    assert found.cost is not None
    assert found.terms.warnings == ()


def test_prices_of_other_models_do_not_count() -> None:
    assert ledger(session(1_000, model="nobody-knows-this"), NONE, prices={"other": OWN}).cost is None


def test_long_requests_pay_their_tier() -> None:
    tier = replace(OWN, long_above=5_500, long=replace(OWN, cache_write=Decimal(20)))
    found = ledger(session(1_000, model="m"), NONE, prices=tier)

    assert [cost and cost.write for cost in found.costs] == [
        Decimal(5_005) * Decimal("12.5") / 1_000_000,
        Decimal(1_011) * 20 / 1_000_000,
    ]


def test_the_break_even_of_an_event_is_that_of_its_figures() -> None:
    done = run(session(1_000, 1_000, 1_000, 500))
    (event,) = done.events
    (calls,) = ledger_of(done).break_evens

    unchanged = round(event.before * event.cache_prefix_survival)
    assert calls == break_even_of(event.before, event.after, unchanged, 1.25, 0.1)
    assert calls is not None
    assert calls > 0
    assert document(done)["events"][0]["break_even_calls"] == round(calls, 2)
    assert document(done)["summary"]["break_even"] == round(calls, 2)


def test_an_event_on_a_cold_cache_is_free() -> None:
    done = run(session(1_000, 1_000, 1_000, 500, gaps=(0, 10, 10, 3_000, 3_000)))

    assert ledger_of(done).break_evens == (0.0,)


def test_an_event_on_what_was_never_sent_is_free() -> None:
    done = run(session(1_000), small_policy(context_window=9_000, arrival_limit_tokens=500))

    assert [event.kind for event in done.events] == ["arrival"]
    assert ledger_of(done).break_evens == (0.0,)
    assert [turn.bust for turn in ledger_of(done).turns] == [None, None]


def test_the_gate_knows_prices_and_times_by_itself() -> None:
    gated = POLICY.model_copy(update={"dollar_gate": True, "break_even_horizon": 1})
    calls = ledger(session(1_000, 1_000, 1_000, 500)).break_evens[0]

    done = run(session(1_000, 1_000, 1_000, 500), gated)

    assert calls is not None
    assert calls > 1
    assert (done.events[0].turn, done.events[0].kind) == (3, "skip")
    assert done.events[0].reason == f"would pay back after {calls:,.1f} calls, later than 1"


def test_the_gate_takes_the_projects_prices() -> None:
    gated = POLICY.model_copy(update={"dollar_gate": True, "break_even_horizon": 1})
    cheap = replace(OWN, cache_read=Decimal(9))

    assert [event.kind for event in run(session(1_000, 1_000, 1_000, 500), gated, prices=cheap).events] == ["compress"]


def test_where_nobody_knows_a_price_the_gate_stands_open() -> None:
    gated = POLICY.model_copy(update={"dollar_gate": True, "break_even_horizon": 1})

    assert [event.kind for event in run(session(1_000, 1_000, 1_000, 500, model="x"), gated).events] == ["compress"]


def test_the_gate_of_a_running_agent_knows_prices_too() -> None:
    gated = POLICY.model_copy(update={"dollar_gate": True, "break_even_horizon": 1})
    built = session(1_000, 1_000, 1_000)
    done = compress_window(built, gated, BIG, stubber=stubber())
    open_gate = compress_window(built, POLICY, BIG, stubber=stubber())

    assert [event.kind for event in done.events] == ["skip"]
    assert [event.kind for event in open_gate.events] == ["compress"]


def test_calls_before_a_model_is_named_have_the_first_that_is() -> None:
    usage = [Recorded(5_005), Recorded(6_016, model="claude-opus-5")]

    assert terms_of(session(1_000, model="", recorded=usage)).models == ("claude-opus-5", "claude-opus-5")


def test_a_hostile_models_name_is_shown_cut_and_plain() -> None:
    (warning,) = terms_of(session(1_000, model="\x1b[31m" + "x" * 10_000)).warnings

    assert warning == f"no price is known for the model  [31m{'x' * 75}: set one for the project to see dollars"


def test_an_idle_cache_is_used_for_an_early_event() -> None:
    idle = POLICY.model_copy(update={"prefer_idle": True, "trigger_ratio": 0.99})
    done = run(session(1_000, 1_000, 1_000, 10, gaps=(0, 10, 10, 600)), idle)

    assert [(event.turn, event.reason) for event in done.events] == [(3, "the cache is cold")]


def test_an_economy_answers_from_the_terms() -> None:
    economy = economy_of(terms_of(session(1_000, 1_000, gaps=(0, 10, 400))))

    assert [economy.is_cold(turn) for turn in range(3)] == [False, False, True]
    assert economy.break_even(Prospect(1, 9_000, 5_000, 1_000)) == break_even_of(9_000, 5_000, 1_000, 1.25, 0.1)


def test_without_a_cache_every_token_is_plain_input() -> None:
    done = run(session(1_000), NONE, prices=OWN)
    found = ledger_without_cache(done)

    assert found.cost is not None
    assert found.cost.uncached == Decimal(sum(done.windows_after)) * 10 / 1_000_000
    assert (found.hit_rate, found.rewrites) == (0.0, 0)


def test_the_comparison_has_a_row_for_each_way() -> None:
    rows = compare_caching(session(1_000, 1_000, 1_000, 500, 500), POLICY, BIG, stubber=stubber())

    assert [(row.name, row.policy, row.with_cache) for row in rows] == [
        ("no compression, no cache", "none", False),
        ("compression, no cache", POLICY.name, False),
        ("compression, cache", POLICY.name, True),
        ("sliding window, cache", "sliding-window", True),
        ("no compression, cache", "none", True),
    ]
    assert rows[0].tokens == rows[4].tokens > rows[1].tokens == rows[2].tokens


def test_a_sliding_window_breaks_the_cache_again_and_again() -> None:
    sizes = [900, 900, 900, *[400] * 6]
    rows = {row.name: row for row in compare_caching(session(*sizes), POLICY, BIG, stubber=stubber())}
    sliding, rare = rows["sliding window, cache"], rows["compression, cache"]

    assert sliding.rewrites > rare.rewrites
    assert sliding.hit_rate is not None
    assert rare.hit_rate is not None
    assert sliding.hit_rate < rare.hit_rate


def test_the_sliding_window_has_the_same_window_trigger_and_tail() -> None:
    sliding = sliding_like(POLICY)

    assert sliding.strategy == "sliding"
    assert [sliding.context_window, sliding.trigger_ratio, sliding.recent_tokens] == [9_000, 0.85, 300]


def test_observed_stands_beside_simulated() -> None:
    usage = [Recorded(5_005, 0, 5_005), Recorded(6_016, 5_005, 1_011)]
    done = run(session(1_000, recorded=usage), PRESETS["recorded"])
    summary = summarize(done, tabulate(done))

    assert summary["observed_hit_rate"] == summary["hit_rate"] == round(5_005 / 11_021, 6)
    assert (summary["hit_rate_error"], summary["observed_calls"], summary["lifetime_s"]) == (0.0, 2, 300)


def test_without_usage_nothing_was_observed() -> None:
    done = run(session(1_000), NONE)
    summary = summarize(done, tabulate(done))

    assert (summary["observed_hit_rate"], summary["hit_rate_error"], summary["observed_input_usd"]) == (
        None,
        None,
        None,
    )


def test_a_session_without_calls_has_no_bill() -> None:
    builder = SessionBuilder(model="claude-opus-5")
    builder.user()
    done = run(builder.build(), NONE)
    summary = summarize(done, tabulate(done))

    assert (summary["cost_usd"], summary["hit_rate"], summary["break_even"]) == (None, None, None)


def test_the_document_says_what_the_figures_rest_on() -> None:
    cost = document(run(session(1_000)))["cost"]

    assert (cost["profile"], cost["minimum"], cost["lifetime"]["seconds"]) == ("anthropic", 512, 300)
    assert cost["prices"]["claude-opus-5"]["cache_write"] == "6.25"


def test_a_second_replay_of_the_same_gives_the_same_bill() -> None:
    transcript = session(1_000, 1_000, 1_000, 500)

    assert document(run(transcript)) == document(run(transcript))


def test_writes_that_cost_no_more_than_input_are_plain_input() -> None:
    plain = replace(OWN, cache_write=OWN.input, cache_write_long=OWN.input)

    # What is not read is plain input to a provider that nobody knows.
    assert ledger(session(2_000, 2_000, model="nobody-knows-this"), NONE, prices=plain).write == 0
