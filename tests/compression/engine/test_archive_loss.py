"""What an archive lost, by hand: an event put by a test into a replay of a small session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compression.engine.archive_loss import archive_fields
from compression.engine.edits import Event, Note
from compression.engine.replay import Replay
from compression.engine.retention import losses
from tests.compression.engine.builders import SessionBuilder, run, small_policy


def archived(note: str, **fields: Any) -> Replay:
    """One result leaves at turn 1 and ``note`` comes; the answer after it uses two of its names."""
    built = SessionBuilder()
    built.user("start")
    built.turn(("Bash", "kept_name lost_name 1234"))
    built.turn(text="kept_name and lost_name")
    done = run(built, small_policy(strategy="none"))
    text = f"{note}\n[archived · 2 messages · 600 tokens · original hermes:0123456789ab]"
    event = Event(1, "archive", 900, 300, left=(1, 2), note=Note("state", "user", text, 10, 1, **fields))
    return replace(done, events=(event,))


def figures(replay: Replay) -> dict[str, Any]:
    return archive_fields(replay, losses(replay))


def test_an_archive_stands_beside_what_it_freed() -> None:
    found = figures(archived("nothing"))

    assert (found["archives"], found["archive_freed"], found["archive_n"], found["archive_view"]) == (1, 600, 2, 0.0)
    assert found["archive_list"] == [
        {
            "turn": 1, "freed": 600, "left": 2, "n": 2, "view": 0.0, "reach": 0.0, "claims": 0, "true_claims": 0,
            "fidelity": None,
        }
    ]  # fmt: skip


def test_the_claims_of_a_state_header_are_held_against_the_old_window() -> None:
    found = figures(archived("kept_name made_up 1234 99"))

    assert (found["archive_claims"], found["archive_fidelity"]) == (4, 0.5)


def test_what_a_model_would_have_written_claims_nothing() -> None:
    assert figures(archived("kept_name made_up", simulated=True))["archive_fidelity"] is None


def test_a_replay_without_archives_has_no_figures_of_them() -> None:
    assert archive_fields(replace(archived(""), events=()), ()) == {
        "archives": 0, "archive_freed": 0, "archive_n": 0, "archive_view": None, "archive_reach": None,
        "archive_claims": 0, "archive_fidelity": None, "archive_list": [],
    }  # fmt: skip
