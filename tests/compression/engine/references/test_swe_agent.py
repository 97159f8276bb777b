"""SWE-agent's last five observations."""

from __future__ import annotations

from tests.compression.engine.references.test_clearing import session
from tests.compression.engine.references.walking import walk

NAME = "swe-agent-last-5"


def test_all_but_the_newest_five_results_become_a_line_with_their_number_of_lines() -> None:
    done = walk(session(7), NAME)

    assert done.texts() == dict.fromkeys([3, 5], "Old environment output: (10 lines omitted)")


def test_the_first_observation_is_the_task_and_stays() -> None:
    done = walk(session(7), NAME)

    assert 1 not in done.edited


def test_it_happens_at_every_step() -> None:
    done = walk(session(8), NAME)

    assert {turn: [e.message for e in step.edits] for turn, step in done.steps.items()} == {6: [3], 7: [5], 8: [7]}


def test_polling_moves_the_cut_once_in_so_many_observations() -> None:
    done = walk(session(11), NAME, n=2, polling=4)

    # 8 observations, the task included, are there at turn 7, 12 at turn 11.
    assert {turn: len(step.edits) for turn, step in done.steps.items()} == {3: 1, 7: 4, 11: 4}


def test_tools_whose_output_is_kept_stay() -> None:
    assert walk(session(7), NAME, keep_tools=("Bash",)).steps == {}
