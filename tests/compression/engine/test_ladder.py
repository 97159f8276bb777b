"""The fallback ladder, rung by rung. Tokens are words; a result costs its words and 4, a call 7, a prompt 5."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compression.engine.calibration import Calibration
from compression.engine.edits import Event, EventKind
from compression.engine.invariants import prove
from compression.engine.ladder import LINES_KEPT, state_budget
from compression.engine.policy import PinRule, Policy
from compression.engine.rendering import rendered
from compression.engine.replay import Replay
from compression.engine.snapshots import digest
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder, run, small_policy, words


def climbing(**fields: Any) -> Policy:
    return small_policy(**({"ladder": True} | fields))


def kinds(done: Replay) -> list[tuple[int, str]]:
    return [(event.turn, event.kind) for event in done.events]


def first(done: Replay, kind: EventKind) -> Event:
    return next(event for event in done.events if event.kind == kind)


def talk() -> SessionBuilder:
    """Results too small to compress between texts of the assistant that fill the window."""
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(50)))
    for n in range(3):
        session.turn(("Bash", words(80, f"s{n}x")), text=words(900, f"t{n}x"))
    session.turn()
    return session


# -- aggressive


def test_over_the_trigger_after_compressing_every_block_goes_to_its_floor() -> None:
    done = run(talk(), climbing())

    (event,) = done.events
    assert (event.turn, event.kind) == (4, "aggressive")
    assert [(edit.message, edit.part, edit.kind) for edit in event.edits] == [
        (2, 0, "stub"), (3, 0, "text"), (4, 0, "stub"), (5, 0, "text"), (6, 0, "stub"), (7, 0, "text"),
    ]  # fmt: skip
    assert event.after < 0.75 * 4_000


def test_without_the_ladder_nothing_is_done_there() -> None:
    assert kinds(run(talk(), climbing(ladder=False))) == [(4, "skip")]


def test_at_the_trigger_no_rung_is_climbed() -> None:
    assert run(talk(), climbing(trigger_ratio=3_036 / 4_000, target_ratio=0.5)).events == ()


def test_texts_of_the_user_go_to_their_floor_but_for_the_latest_request() -> None:
    session = SessionBuilder()
    session.user("first")
    session.turn(("Bash", words(20)))
    session.user(words(1_500, "old"))
    session.turn(("Bash", words(20)))
    session.user(words(1_500, "new"))
    session.turn(("Bash", words(400)))
    session.turn()

    event = first(run(session, climbing()), "aggressive")

    assert [(edit.message, edit.kind) for edit in event.edits] == [(3, "text")]


def test_thinking_without_a_signature_goes_and_signed_thinking_stays() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(20)))
    for n, signature in enumerate(("", "signed", "")):
        session.turn(("Bash", words(20)))
        call = session.messages[-2]
        thinking = Part("thinking", words(900, f"h{n}x"), signature=signature)
        session.messages[-2] = replace(call, parts=(thinking, *call.parts))
    session.turn(("Bash", words(400)))
    session.turn()

    event = first(run(session, climbing(context_window=3_500)), "aggressive")

    assert [(edit.message, edit.kind) for edit in event.edits if edit.kind == "thinking"] == [
        (3, "thinking"),
        (7, "thinking"),
    ]


def test_arguments_go_to_their_floor_and_stay_json() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(20)))
    for n in range(3):
        arguments = json.dumps({"path": f"/src/a{n}.py", "content": words(900, f"a{n}x")})
        session.turn(("Write", "done"), arguments=arguments)
    session.turn(("Bash", words(400)))
    session.turn()

    event = first(run(session, climbing(context_window=3_500)), "aggressive")

    edits = [edit for edit in event.edits if edit.kind == "arguments"]
    assert [edit.message for edit in edits] == [3, 5, 7]
    assert [json.loads(edit.text)["path"] for edit in edits] == [f"/src/a{n}.py" for n in range(3)]


def test_frozen_stubs_are_made_shorter_from_their_originals() -> None:
    session = SessionBuilder()
    session.user()
    for n in range(3):
        session.turn(("Bash", words(1_000, f"r{n}w")))
    for n in range(3):
        session.turn(("Bash", words(90, f"s{n}x")), text=words(800, f"t{n}x"))
    session.turn()

    done = run(session, climbing(result_ratio=0.2, result_ceiling=200))

    made = first(done, "compress").edits[0]
    again = next(edit for edit in first(done, "aggressive").edits if edit.message == made.message)
    assert again.tokens_after < made.tokens_after
    assert (again.tokens_before, again.sha256, again.address) == (made.tokens_before, made.sha256, made.address)
    assert again.sha256 == digest(session.messages[made.message].parts[0].text)


def test_a_rung_that_would_free_too_little_waits() -> None:
    session = talk()
    for _ in range(3):
        session.turn(("Bash", words(60)), text="short")
    session.turn()
    policy = climbing(min_reclaim_tokens=5_000)

    assert kinds(run(session, policy)) == [(4, "skip")]


def test_a_second_pass_waits_until_as_much_has_come_again() -> None:
    session = SessionBuilder()
    session.user()
    for n in range(24):
        session.turn(("Bash", words(90, f"s{n}x")))
    session.turn()

    done = run(session, climbing(min_reclaim_tokens=300), Calibration(hidden=2_400))

    events = [event for event in done.events if event.kind == "aggressive"]
    assert len(events) > 1
    assert all(event.reclaimed >= 300 or event.usage_ratio > 0.92 for event in events)


# -- truncate


def filled(*, answers: int = 1) -> SessionBuilder:
    """Fifty calls, each with small results that no stub is shorter than."""
    session = SessionBuilder()
    session.user("fix the pool")
    session.turn(("Bash", "ok"))
    for n in range(50):
        session.turn(*[("Bash", words(22, f"s{n}a{m}x")) for m in range(answers)])
    session.turn()
    return session


def test_above_ninety_percent_the_oldest_whole_groups_leave_down_to_the_target() -> None:
    done = run(filled(answers=3), climbing(result_floor=20))

    event = first(done, "truncate")
    assert event.before > 0.9 * 4_000 >= event.before - 95
    assert event.left == tuple(range(3, 3 + len(event.left)))
    assert len(event.left) % 4 == 0
    assert event.after <= 2_000 < event.after + 95


def test_at_ninety_percent_nothing_leaves() -> None:
    session = filled(answers=3)
    limit = run(session, climbing(ladder=False)).windows_after[42]

    done = run(session, climbing(context_window=round(limit / 0.9), ladder=True))

    assert first(done, "truncate").turn == 43


def test_one_marker_with_an_address_stands_for_what_left() -> None:
    session = filled(answers=3)
    done = run(session, climbing())

    event = first(done, "truncate")
    text = rendered(session.messages[i] for i in event.left)
    assert event.note is not None
    assert (event.note.kind, event.note.role, event.note.ordinal) == ("marker", "user", 3)
    assert event.note.sha256 == digest(text)
    tokens = sum(sum(done.transcript.counts[i]) + 4 for i in event.left)
    assert event.note.text == (
        f"[left out · {len(event.left)} messages · {tokens:,} tokens · original {event.note.address}]"
    )
    assert event.note.address == f"hermes:{digest(text)[:12]}"


def test_a_group_with_a_sacred_member_stays_whole() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    session.turn(("Bash", words(22, "a")), ("todo_write", "my tasks"), ("Bash", words(22, "b")))
    for n in range(110):
        session.turn(("Bash", words(22, f"s{n}x")))
    session.turn()
    policy = climbing(pins=(PinRule(tool="todo*", reason="tasks"),))

    event = first(run(session, policy), "truncate")

    assert {3, 4, 5, 6}.isdisjoint(event.left)
    assert event.left[0] == 7
    assert event.note is not None
    assert event.note.ordinal == 7


def test_the_next_marker_takes_the_place_of_the_last_and_leads_to_it() -> None:
    session = filled(answers=3)
    for n in range(50, 100):
        session.turn(*[("Bash", words(22, f"s{n}a{m}x")) for m in range(3)])
    done = run(session, climbing())

    one, two = [event for event in done.events if event.kind == "truncate"][:2]
    assert one.note is not None
    assert two.note is not None
    assert two.note.text.split("\n")[0] == one.note.text
    assert two.note.sha256 == digest(rendered((session.messages[i] for i in two.left), one.note.text))
    assert two.note.ordinal == one.note.ordinal
    assert [done.note_at(event.turn) for event in (one, two)] == [one.note, two.note]


def test_a_note_carries_only_so_many_lines_on_and_the_newest_leads_to_the_rest() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    for n in range(700):
        session.turn(("Bash", words(22, f"s{n}x")))
    done = run(session, climbing(target_ratio=0.7, min_reclaim_tokens=0))

    notes = [event.note for event in done.events if event.note is not None]
    assert len(notes) > LINES_KEPT + 1
    assert [len(note.text.split("\n")) for note in notes[LINES_KEPT : LINES_KEPT + 2]] == [LINES_KEPT + 1] * 2


def test_a_marker_never_stands_between_a_call_and_its_result() -> None:
    session = filled(answers=3)
    done = run(session, climbing(recent_tokens=150))

    for event in done.events:
        if event.note is not None:
            request = list(done.standing_at(event.turn).request(event.turn).indexes())
            role = session.messages[request[event.note.ordinal]].role
            assert role != "tool"


def test_a_note_waits_for_the_end_of_a_group_that_others_stand_in() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    session.turn(("todo_write", "tasks"))
    late = session.messages.pop()
    session.user(words(30, "meanwhile"))
    session.messages.append(replace(late, index=5))
    session.user("and now")
    session.turns[-1] = replace(session.turns[-1], results_end=6)
    for n in range(110):
        session.turn(("Bash", words(22, f"s{n}x")))
    session.turn()
    policy = climbing(pins=(PinRule(tool="todo*", reason="tasks"),))

    event = first(run(session, policy), "truncate")

    # Message 4 left from between the call 3 and its result 5.
    assert event.left[0] == 4
    assert event.note is not None
    assert event.note.ordinal == 5


def test_what_left_for_fewer_tokens_than_its_marker_stays() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    session.turn(text="")
    session.turn(("Bash", words(3_800)))
    session.turn()

    done = run(session, climbing(), Calibration())

    assert "truncate" not in {event.kind for event in done.events}


# -- archive


def crowded(last: int = 1_500, pinned: int = 2_250) -> SessionBuilder:
    """A pinned list and a large last result, so that leaving all out that may is not enough."""
    session = SessionBuilder()
    session.system("Never push to main.")
    session.user("Fix the race in src/pool.py")
    session.turn(("Read", words(90, "pool")), arguments='{"file_path": "/repo/src/pool.py"}')
    session.turn(("todo_write", words(pinned, "todo")))
    for n in range(4):
        session.turn(("Bash", words(40, f"s{n}x")), arguments='{"command": "pytest -q"}')
    session.turn(("Bash", words(last, "big")), ("Bash", words(30, "beside")))
    session.turn()
    return session


def archived(**fields: Any) -> tuple[Replay, Event]:
    """The recent zone is the last call and its two results."""
    done = run(crowded(), climbing(**({"recent_tokens": 1_560} | fields)))
    return done, first(done, "archive")


def test_where_leaving_all_out_is_not_enough_a_new_window_begins() -> None:
    done, event = archived()

    request = list(done.standing_at(event.turn).request(event.turn).indexes())
    messages = done.transcript.messages
    # Head with the result of its call, the pinned list with its call, the recent group.
    assert [messages[i].role for i in request] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "tool",
    ]  # fmt: skip
    assert request[:6] == [0, 1, 2, 3, 4, 5]
    assert event.left == tuple(range(6, 14))
    assert done.fits(event.turn)


def test_the_state_of_the_work_stands_in_a_new_window() -> None:
    _, event = archived()

    assert event.note is not None
    assert (event.note.kind, event.note.role) == ("state", "user")
    lines = event.note.text.split("\n")
    assert lines[:3] == [
        "State of the work, in the session's own words:",
        "Goal:",
        "- Fix the race in src/pool.py",
    ]
    assert "Last command:" in lines
    assert lines[-1].startswith("[archived · 8 messages · ")


@pytest.mark.parametrize(("limit", "tokens"), [(3_000, 150), (24_000, 1_200), (200_000, 1_200)])
def test_the_state_of_the_work_takes_a_small_share_of_a_small_window(limit: int, tokens: int) -> None:
    assert state_budget(limit) == tokens


def test_the_old_window_is_one_snapshot() -> None:
    done, event = archived()

    assert event.note is not None
    assert event.note.sha256 == digest(rendered(done.transcript.messages[i] for i in event.left))


def test_results_of_the_heads_calls_are_stubs_in_a_new_window() -> None:
    done, event = archived()

    standing = done.standing_at(event.turn)
    assert standing.edits[3, 0].kind == "stub"
    assert standing.edits[3, 0].tokens_after < 90


def test_recent_reaches_to_the_border_of_its_group() -> None:
    done = run(crowded(pinned=3_720), climbing(recent_tokens=40))
    event = first(done, "archive")

    request = list(done.standing_at(event.turn).request(event.turn).indexes())
    # Only the smaller of two parallel results is recent; its call and the other one stay with it.
    assert done.zones_at(event.turn).of_message(15) != "recent"
    assert request[-3:] == [14, 15, 16]


def test_a_later_marker_carries_the_state_of_the_work_on() -> None:
    session = crowded()
    for n in range(60):
        session.turn(("Bash", words(30, f"m{n}x")))
    done = run(session, climbing(recent_tokens=1_600))

    at = next(n for n, event in enumerate(done.events) if event.kind == "archive")
    later = [event.note for event in done.events[at:] if event.note is not None]
    assert len(later) > 1
    assert all(note.kind == "state" for note in later)


def test_everything_of_a_climb_is_proven() -> None:
    for done in (run(talk(), climbing()), run(filled(answers=3), climbing()), archived()[0]):
        proof = prove(done)
        assert proof.violations == ()
        assert proof.resolved == proof.addresses > 0


# -- re-zoning and what cannot be compressed


def overfull(*sizes: int) -> SessionBuilder:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    session.turn(*[("Bash", words(size, f"s{n}x")) for n, size in enumerate(sizes)])
    session.turn()
    return session


def test_when_sacred_content_alone_is_too_large_the_recent_zone_is_halved() -> None:
    done = run(overfull(*[700] * 6), climbing(recent_tokens=5_000))

    event = first(done, "rezone")
    assert kinds(done) == [(2, "rezone")]
    # All but the prompt and the first call, 5 + 7, was recent.
    assert event.recent_budget == (event.before - 12) // 2
    assert [edit.message for edit in event.edits] == [4, 5, 6]
    assert done.fits(2)


def test_the_recent_zone_shrinks_to_one_message_and_no_further() -> None:
    done = run(overfull(1_300, 1_300, 3_300), climbing(recent_tokens=6_000))

    rezoned = [event for event in done.events if event.kind == "rezone"]
    edited = [edit.message for event in rezoned for edit in event.edits]
    assert sorted(edited) == [4, 5]
    assert done.fits(2)


def test_a_rezoning_is_of_its_turn_alone() -> None:
    session = overfull(*[700] * 6)
    session.turn(("Bash", words(10)))
    session.turn()

    done = run(session, climbing(recent_tokens=5_000))

    assert done.zones_at(2).recent_budget == first(done, "rezone").recent_budget
    assert done.zones_at(3).recent_budget == 5_000


def test_what_cannot_be_compressed_is_recorded_once_and_never_claims_to_fit() -> None:
    session = overfull(4_200)
    for _ in range(3):
        session.turn(("Bash", "x"))
    session.turn()

    done = run(session, climbing(pins=(PinRule(tool="*", reason="all"),)))

    (event,) = [event for event in done.events if event.kind == "incompressible"]
    assert (event.turn, event.repeats, event.before, event.after) == (2, 4, done.windows_after[2], event.before)
    assert [done.fits(turn) for turn in range(2, 7)] == [False] * 5
    assert done.alarms == ("turn 2: what nobody may touch is larger than the window",)


@pytest.mark.parametrize("hidden", [4_000, 1_000_000])
def test_a_hidden_prefix_larger_than_the_window_ends_no_session(hidden: int) -> None:
    done = run(talk(), climbing(), Calibration(hidden=hidden))

    assert len(done.windows_after) == 5
    assert not any(map(done.fits, range(5)))


# -- the same everywhere

SCRIPT = """
import hashlib
from tests.compression.engine.test_ladder import climbing, crowded, filled, run, talk
built = [talk(), filled(answers=3), crowded()]
done = [run(session, climbing(recent_tokens=1_600, superseded=True)) for session in built]
print(hashlib.sha256(repr([one.events for one in done]).encode()).hexdigest())
print(sorted({event.kind for one in done for event in one.events}))
"""


def test_climbing_gives_the_same_bytes_under_every_hash_seed() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.replace("repr([one.events for one in done])", BYTES)],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    (printed,) = found
    assert "'aggressive', 'archive'" in printed
    assert "'truncate'" in printed


# Sets of counts have no order of their own; everything else has one.
BYTES = "repr([(e.left, e.note, [(x.text, sorted(x.counts)) for x in e.edits]) for one in done for e in one.events])"
