from __future__ import annotations

from compression.engine.calibration import Calibration, Fall, Point, Segment, calibrate, family_k, find_falls


def line(count: int, *, k: float = 1.2, hidden: int = 41_000, first: int = 0, start: int = 1_000) -> list[Point]:
    """Points that lie exactly on context = hidden + k x counted, a thousand counted tokens apart."""
    return [
        Point(first + i, hidden + round(k * (start + 1_000 * i)), start + 1_000 * i) for i in range(count)
    ]  # fmt: skip


def test_an_exact_line_is_found_exactly() -> None:
    fit = calibrate(line(10))

    assert (fit.k, fit.hidden, fit.points, fit.basis) == (1.2, 41_000, 10, "usage")
    assert (fit.error_median, fit.error_p95, fit.bias) == (0.0, 0.0, 0.0)
    assert fit.tokens(10_000) == 53_000


def test_the_largest_recorded_context_is_remembered() -> None:
    assert calibrate([Point(0, 500, 10), Point(1, 900, 20)]).peak == 900


def test_one_wild_point_moves_nothing() -> None:
    points = line(11)
    points[5] = Point(5, points[5].context + 900, points[5].counted)

    fit = calibrate(points)

    assert (fit.k, fit.hidden) == (1.2, 41_000)


def test_slopes_outside_of_what_a_tokenizer_can_do_are_left_out() -> None:
    points = [Point(i, 1_000 + 4_000 * i, 1_000 * i) for i in range(5)]

    assert calibrate(points, model="claude-x").k == 1.25


def test_a_fall_without_a_boundary_is_a_silent_clearing_with_what_left() -> None:
    before = line(5)
    after = [Point(p.turn, p.context - 9_000, p.counted) for p in line(5, first=5, start=6_000)]

    fit = calibrate([*before, *after])

    assert (fit.k, fit.hidden) == (1.2, 41_000)
    assert fit.silent == (Fall(5, 9_000),)
    assert fit.segments == (Segment(0, 41_000), Segment(5, 32_000))


def test_a_small_fall_is_none() -> None:
    assert find_falls([Point(0, 100_000, 1), Point(1, 98_500, 2)]) == []
    assert find_falls([Point(0, 10_000, 1), Point(1, 9_100, 2)]) == []
    assert find_falls([Point(0, 10_000, 1), Point(1, 8_900, 2)]) == [Fall(1, 1_100)]


def test_a_fall_across_a_boundary_belongs_to_the_boundary() -> None:
    points = [Point(0, 50_000, 1), Point(4, 10_000, 2)]

    assert find_falls(points, {3}) == []
    assert find_falls(points, {0}) == [Fall(4, 40_000)]


def test_only_calls_before_the_first_boundary_are_fitted() -> None:
    before = line(4)
    after = [Point(p.turn, 3 * p.context, p.counted) for p in line(20, first=4)]

    fit = calibrate([*before, *after], boundary_turns=[4])

    assert (fit.k, fit.hidden, fit.points) == (1.2, 41_000, 4)


def test_two_calls_give_the_family_and_the_first_calls_hidden_tokens() -> None:
    fit = calibrate(line(2), model="claude-sonnet-4-5")

    assert (fit.k, fit.basis, fit.points) == (1.25, "family", 2)
    assert fit.hidden == 42_200 - 1_250


def test_hidden_tokens_are_never_negative() -> None:
    assert calibrate([Point(0, 100, 5_000)]).hidden == 0


def test_without_usage_nothing_is_assumed_whatever_the_model() -> None:
    assert calibrate([], model="claude-sonnet-4-5") == Calibration(k=1.0, hidden=0, basis="none")


def test_families_go_by_the_beginning_of_the_name() -> None:
    assert [family_k(name) for name in ("anthropic/claude-3", "GPT-5", "unheard-of")] == [1.25, 1.0, 1.0]


def test_the_error_one_turn_ahead_knows_earlier_turns_only() -> None:
    points = [*line(3), Point(3, 50_000, 4_000)]

    fit = calibrate(points)

    # Before the fourth call the line says 41,000 + 1.2 x 4,000 = 45,800.
    assert fit.ahead_median == round(4_200 / 50_000, 6)


def test_a_live_session_does_not_foresee_a_clearing() -> None:
    before = line(4)
    after = [Point(p.turn, p.context - 20_000, p.counted) for p in line(1, first=4, start=5_000)]

    fit = calibrate([*before, *after])

    assert fit.ahead_p95 == round(20_000 / 27_000, 6)


def test_three_calls_have_no_error_ahead() -> None:
    fit = calibrate(line(3))

    assert (fit.ahead_median, fit.ahead_p95) == (None, None)


def test_equal_counts_give_the_family() -> None:
    fit = calibrate([Point(i, 5_000, 100) for i in range(4)], model="gemini-2.5-pro")

    assert (fit.k, fit.hidden) == (1.1, 4_890)
