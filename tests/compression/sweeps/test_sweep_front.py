"""Which trials nobody beats, and which one is taken."""

from __future__ import annotations

from compression.sweep_front import Point, best_of, front_of, nearest_to_best


def point(number: int, cost: float, kept: float, broken: int = 0) -> Point:
    return Point(number, "candidate", cost, kept, 0, broken)


def numbers(points: list[Point]) -> list[int]:
    return [one.number for one in points]


def test_the_front_holds_what_nobody_beats_the_cheapest_first() -> None:
    points = [point(0, 10, 1.0), point(1, 4, 0.8), point(2, 5, 0.7), point(3, 2, 0.5), point(4, 4, 0.6)]

    assert numbers(front_of(points)) == [3, 1, 0]


def test_of_equal_points_the_first_stands_on_the_front() -> None:
    assert numbers(front_of([point(2, 4, 0.8), point(1, 4, 0.8)])) == [1]


def test_the_point_nearest_to_costing_nothing_and_losing_nothing_is_taken() -> None:
    front = [point(3, 2, 0.5), point(1, 4, 0.9), point(0, 10, 1.0)]

    assert nearest_to_best(front, without=10) == front[1]


def test_a_little_saving_does_not_pay_for_a_great_loss() -> None:
    front = [point(3, 73, 0.38), point(1, 94, 1.0)]

    assert nearest_to_best(front, without=100) == front[1]


def test_of_two_that_are_equally_far_the_cheaper_is_taken() -> None:
    front = [point(3, 6, 0.2), point(0, 8, 0.4)]

    assert nearest_to_best(front, without=10) == front[0]


def test_a_broken_point_is_not_taken_while_there_is_a_sound_one() -> None:
    best, front = best_of([point(0, 10, 1.0), point(1, 1, 1.0, broken=1)], 10)

    assert (best, numbers(front)) == (point(0, 10, 1.0), [0])


def test_where_all_are_broken_those_with_the_fewest_broken_sessions_count() -> None:
    best, front = best_of([point(0, 1, 1.0, broken=3), point(1, 5, 0.9, broken=2)], 1)

    assert (best, numbers(front)) == (point(1, 5, 0.9, broken=2), [1])


def test_nothing_has_no_best() -> None:
    assert best_of([], 0) == (None, [])
