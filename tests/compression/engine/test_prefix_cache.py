"""The cache of each provider over hand-made requests: tokens in, reads, writes and busts out."""

from __future__ import annotations

from compression.engine.cache_profiles import PROFILES, CacheProfile, profile_for
from compression.engine.prefix_cache import Bust, CacheTurn, Cause, Mark, Sent, simulate

CLAUDE = PROFILES["anthropic"]
OPENAI = PROFILES["openai"]
NEWER = PROFILES["openai-5-6"]
DEEPSEEK = PROFILES["deepseek"]
GEMINI = PROFILES["gemini"]


def sent(
    tokens: int,
    *,
    idle: float | None = 1,
    unchanged: int | None = None,
    cause: Cause = "event",
    message: int | None = None,
    blocks: int = 0,
    batch: int = 1,
    model: str = "m",
) -> Sent:
    """A request with a system prompt of 2,000 tokens; ``batch`` = blocks of the newest answer's results."""
    marks = (Mark(2_000, 1), Mark(tokens - 10, blocks - batch), Mark(tokens, blocks))
    return Sent(tokens, marks, unchanged, cause, message, idle, model)


def rows(turns: tuple[CacheTurn, ...]) -> list[tuple[int, int, int]]:
    return [(turn.read, turn.write, turn.uncached) for turn in turns]


def busts(turns: tuple[CacheTurn, ...]) -> list[Bust | None]:
    return [turn.bust for turn in turns]


GROWTH = [sent(5_000, blocks=3), sent(6_000, blocks=5), sent(9_000, blocks=7)]


def test_a_growing_session_reads_what_the_call_before_left() -> None:
    assert rows(simulate(GROWTH, CLAUDE)) == [(0, 5_000, 0), (5_000, 1_000, 0), (6_000, 3_000, 0)]


def test_growth_breaks_nothing() -> None:
    assert busts(simulate(GROWTH, CLAUDE)) == [None, None, None]


def test_what_other_sessions_left_is_read_by_the_first_call() -> None:
    assert rows(simulate(GROWTH[:1], CLAUDE, warm=2_000)) == [(2_000, 3_000, 0)]


def test_a_cache_that_lay_idle_too_long_is_written_anew() -> None:
    turns = simulate([sent(5_000, blocks=3), sent(6_000, idle=301, blocks=5)], CLAUDE)

    assert rows(turns)[1] == (0, 6_000, 0)
    assert busts(turns)[1] == Bust("expiry", None, 5_000)


def test_use_refreshes_the_cache() -> None:
    requests = [sent(5_000, blocks=3), sent(6_000, idle=300, blocks=5), sent(7_000, idle=300, blocks=7)]

    assert [turn.read for turn in simulate(requests, CLAUDE)] == [0, 5_000, 6_000]


def test_an_hour_long_cache_survives_what_a_short_one_does_not() -> None:
    requests = [sent(5_000, blocks=3), sent(6_000, idle=3_000, blocks=5)]

    assert [turn.read for turn in simulate(requests, CLAUDE, lifetime_s=3_600)] == [0, 5_000]


def test_unknown_idle_time_keeps_the_cache() -> None:
    assert [turn.read for turn in simulate([sent(5_000, blocks=3), sent(6_000, idle=None, blocks=5)], CLAUDE)][
        1
    ] == 5_000


def test_after_an_event_far_back_only_the_system_prompt_has_a_mark() -> None:
    requests = [
        sent(5_000, blocks=3),
        sent(20_000, blocks=60),
        sent(12_000, unchanged=5_500, message=7, blocks=62),
    ]
    turns = simulate(requests, CLAUDE)

    assert rows(turns)[2] == (2_000, 10_000, 0)
    assert busts(turns)[2] == Bust("event", 7, 10_000)


def test_an_older_entry_is_found_within_twenty_blocks() -> None:
    requests = [sent(5_000, blocks=3), sent(8_000, blocks=10), sent(7_000, unchanged=5_500, blocks=12)]

    assert [turn.read for turn in simulate(requests, CLAUDE)][2] == 5_000


def test_a_batch_of_more_than_twenty_blocks_hides_the_older_entry() -> None:
    requests = [sent(5_000, blocks=3), sent(30_000, blocks=60, batch=28)]
    turns = simulate(requests, CLAUDE)

    assert rows(turns)[1] == (2_000, 28_000, 0)
    assert busts(turns)[1] == Bust("lookback", None, 3_000)


def test_a_change_before_everything_leaves_nothing() -> None:
    turns = simulate([sent(5_000, blocks=3), sent(6_000, unchanged=0, cause="system", blocks=5)], CLAUDE)

    assert rows(turns)[1] == (0, 6_000, 0)
    assert busts(turns)[1] == Bust("system", None, 5_000)


def test_a_change_behind_what_was_sent_breaks_nothing() -> None:
    turns = simulate([sent(5_000, blocks=3), sent(6_000, unchanged=5_200, blocks=5)], CLAUDE)

    assert rows(turns)[1] == (5_000, 1_000, 0)
    assert busts(turns)[1] is None


def test_on_a_cold_cache_an_event_is_not_to_blame() -> None:
    turns = simulate([sent(5_000, blocks=3), sent(4_000, unchanged=2_500, idle=400, blocks=5)], CLAUDE)

    assert busts(turns)[1] == Bust("expiry", None, 4_000)


def test_another_model_has_a_cache_of_its_own_and_the_first_keeps_its_entries() -> None:
    requests = [sent(5_000, blocks=3), sent(6_000, blocks=5, model="other"), sent(7_000, blocks=7)]
    turns = simulate(requests, CLAUDE)

    assert [turn.read for turn in turns] == [0, 0, 5_000]
    assert busts(turns)[1] == Bust("model", None, 5_000)


def test_a_request_below_the_minimum_is_plain_input() -> None:
    small = [sent(3_000, blocks=3), sent(3_500, blocks=4), sent(5_000, blocks=5)]

    assert rows(simulate(small, profile_for("claude-haiku-4-5"))) == [(0, 0, 3_000), (0, 0, 3_500), (0, 5_000, 0)]


def test_without_a_price_for_writes_what_is_not_read_is_plain_input() -> None:
    assert rows(simulate([sent(2_000), sent(3_000)], OPENAI)) == [(0, 0, 2_000), (1_920, 0, 1_080)]


def test_openai_reads_in_steps_of_128_from_1024_on() -> None:
    assert [turn.read for turn in simulate([sent(1_000), sent(1_030), sent(1_500)], OPENAI)] == [0, 0, 1_024]


def test_a_step_of_128_is_no_break() -> None:
    assert busts(simulate([sent(2_000), sent(3_000)], OPENAI)) == [None, None]


def test_openai_reads_up_to_the_first_change() -> None:
    turns = simulate([sent(20_000), sent(12_000, unchanged=6_000, message=4)], OPENAI)

    assert rows(turns)[1] == (5_888, 0, 6_112)
    assert busts(turns)[1] == Bust("event", 4, 6_112)


def test_what_lies_behind_a_change_is_not_read_later_either() -> None:
    requests = [sent(20_000), sent(12_000, unchanged=6_000), sent(13_000)]

    assert [turn.read for turn in simulate(requests, OPENAI)][2] == 11_904


def test_the_newer_openai_cache_reads_where_an_earlier_request_ended() -> None:
    requests = [sent(5_000), sent(9_000), sent(20_000), sent(12_000, unchanged=9_500)]

    assert rows(simulate(requests, NEWER)) == [
        (0, 5_000, 0),
        (5_000, 4_000, 0),
        (9_000, 11_000, 0),
        (9_000, 3_000, 0),
    ]


def test_the_newer_openai_cache_looks_at_the_latest_eighty_only() -> None:
    requests = [sent(2_000 + 100 * n) for n in range(100)]
    requests.append(sent(11_500, unchanged=3_500))

    assert simulate(requests, NEWER)[-1].read == 0


def test_the_newer_openai_cache_lives_half_an_hour() -> None:
    assert [turn.read for turn in simulate([sent(5_000), sent(6_000, idle=1_800)], NEWER)][1] == 5_000
    assert [turn.read for turn in simulate([sent(5_000), sent(6_000, idle=1_801)], NEWER)][1] == 0


def test_deepseek_loses_more_than_the_common_beginning_suggests() -> None:
    requests = [sent(5_000), sent(20_000), sent(12_000, unchanged=19_000)]

    assert rows(simulate(requests, DEEPSEEK))[2] == (5_000, 0, 7_000)


def test_gemini_reads_any_beginning_from_its_minimum_on() -> None:
    requests = [sent(4_000), sent(4_500), sent(6_001), sent(5_500, unchanged=5_003)]

    assert [turn.read for turn in simulate(requests, GEMINI)] == [0, 0, 4_500, 5_003]


def test_a_cache_with_fields_of_its_own() -> None:
    mine = CacheProfile("mine", minimum=10, unit=7, lifetimes=(60,))

    assert [turn.read for turn in simulate([sent(100), sent(200), sent(300, idle=61)], mine)] == [0, 98, 0]


def test_where_nothing_is_cached_nothing_breaks() -> None:
    turns = simulate([sent(5_000), sent(4_000, unchanged=100)], PROFILES["none"])

    assert rows(turns) == [(0, 0, 5_000), (0, 0, 4_000)]
    assert busts(turns) == [None, None]


def test_no_requests_no_turns() -> None:
    assert simulate([], CLAUDE) == ()
