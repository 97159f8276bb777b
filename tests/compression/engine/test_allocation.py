"""Novelty: one budget for an event, spent on what the window would not say otherwise."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compression.engine import compressors, proposals, reading
from compression.engine.allocation import prepare
from compression.engine.calibration import Calibration
from compression.engine.cover import FIRST_LINE
from compression.engine.edits import Edit
from compression.engine.history import course_of
from compression.engine.invariants import prove
from compression.engine.policy import Policy
from compression.engine.replay import Replay, replay
from compression.engine.transcript import Transcript
from tests.compression.engine.builders import Quarters, SessionBuilder, run, small_policy, stubber
from tests.compression.engine.generated import policies, transcripts

FILLER = "[ .. .. .. .. .. .. .. .. .. .. .. ] built"


def lines(*told: str, filler: int = 60) -> str:
    """Lines that name something between lines that do not."""
    rows = [FILLER] * filler
    for at, line in enumerate(told):
        rows.insert(25 + 2 * at, line)
    return "\n".join(rows)


def policy(**fields: object) -> Policy:
    return small_policy(allocation="novelty", context_window=3_000, **fields)


def edits(done: Replay) -> dict[int, Edit]:
    return {edit.message: edit for event in done.events for edit in event.edits}


def session(*results: str, request: str = "please", answers: tuple[str, ...] = ()) -> SessionBuilder:
    built = SessionBuilder()
    built.user(request)
    for number, result in enumerate(results):
        built.turn(("Bash", result), text=answers[number] if number < len(answers) else "ok")
    built.turn(("Bash", "last " * 200))
    built.turn()
    return built


def test_a_name_that_only_one_result_says_is_kept() -> None:
    found = edits(run(session(lines("only_here_one"), lines("only_here_two"), lines()), policy()))

    assert "only_here_one" in found[2].text
    assert "only_here_two" in found[4].text


def test_a_name_that_another_result_keeps_is_not_paid_for_twice() -> None:
    found = edits(run(session(lines("said_twice_over"), lines("said_twice_over"), lines()), policy()))

    assert [("said_twice_over" in found[i].text) for i in (2, 4)].count(True) == 1


def test_a_name_that_the_assistant_says_costs_nothing_to_drop() -> None:
    built = session(lines("known_already", "new_to_all"), lines(), lines(), answers=("ok", "known_already"))

    found = edits(run(built, policy()))

    assert "new_to_all" in found[2].text
    assert "known_already" not in found[2].text


def test_all_results_of_an_event_share_the_budget() -> None:
    # One result has names, two have none: what these do not need goes to the first, beyond its own 50.
    many = "\n".join(f"{FILLER} name_number_{n}_x" for n in range(50))
    fields = {"target_ratio": 0.01, "result_floor": 50, "result_ceiling": 50}
    found = edits(run(session(many, lines(filler=46), lines(filler=46)), policy(**fields)))

    assert sorted(found) == [2, 4, 6]
    assert found[2].tokens_after > 50 + FIRST_LINE + 10
    assert sum(edit.tokens_after for edit in found.values()) <= 3 * (50 + FIRST_LINE)


def test_stubs_take_no_more_than_the_ceiling() -> None:
    many = ["\n".join(f"name_{r}_{n}_x other_{r}_{n}_y" for n in range(400)) for r in range(3)]
    found = edits(run(session(*many), policy(novelty_ceiling=0.1, result_floor=20, result_ceiling=20)))

    assert sum(edit.tokens_after for edit in found.values()) <= 0.1 * sum(e.tokens_before for e in found.values())


def test_where_superseded_results_reach_the_target_nothing_else_is_touched() -> None:
    told = lines("read_twice", filler=80)
    built = session(told, lines("other_name", filler=40), told)

    (event,) = run(built, policy(superseded=True, target_ratio=0.7)).events

    assert [(edit.message, edit.kind) for edit in event.edits] == [(2, "superseded")]


def test_a_target_out_of_reach_is_no_reason_to_keep_nothing() -> None:
    many = ["\n".join(f"name_{r}_{n}_x other_{r}_{n}_y" for n in range(400)) for r in range(3)]
    done = run(session(*many), policy(target_ratio=0.01))

    assert done.events[0].target_unreachable is not None
    assert sum(edit.text.count("name_") for edit in edits(done).values()) > 10


FAILED = "\n".join(
    [f"tests/test_orders.py::test_case_{n} PASSED" for n in range(90)]
    + ["tests/test_orders.py::test_comma FAILED", "=================== FAILURES ==================="]
    + ["__________________ test_comma __________________", ">       assert parse(text) == 1299"]
    + ["E       ValueError: not a number", "", "tests/test_orders.py:88: ValueError"]
    + ["FAILED tests/test_orders.py::test_comma - ValueError: not a number"]
    + ["=================== 1 failed, 90 passed in 2.1s ==================="]
)


def test_what_failed_comes_before_the_names_of_what_passed() -> None:
    more = ["\n".join(f"name_{r}_{n}_x other_{r}_{n}_y" for n in range(400)) for r in range(3)]
    fields = {"target_ratio": 0.05, "result_floor": 90, "result_ceiling": 90}

    stub = edits(run(session(FAILED, *more), policy(**fields)))[2].text

    assert {
        "FAILED tests/test_orders.py::test_comma - ValueError: not a number",
        "  tests/test_orders.py:88: ValueError",
        "=================== 1 failed, 90 passed in 2.1s ===================",
    } <= {*stub.split("\n")}


def test_what_names_leave_goes_to_what_a_compressor_would_rather_keep() -> None:
    dull = [f"Somebody said {word} about it." for word in ("little", "more", "less", "enough", "nothing") * 12]
    telling = "The rollout waits because the second region refused every write for an hour on the day of the move."
    text = " ".join(["The team met about the rollout.", *dull[:30], telling, *dull[30:]])
    output = compressors.units(text, "prose", "")
    best = min((unit for unit in output.units if unit.tier == "should"), key=lambda unit: unit.rank)
    fields = {"target_ratio": 0.05, "result_floor": 60, "result_ceiling": 60}

    stub = edits(run(session(text, lines(filler=90), lines(filler=90)), policy(**fields)))[2].text

    assert best.text in stub


LOG = "\n".join(
    [f"2026-01-05 10:00:{n % 60:02d} INFO request served for client alpha" for n in range(150)]
    + ["2026-01-05 10:03:00 DEBUG pool waited 4183 ms on lock_table"]
    + [f"2026-01-05 10:04:{n % 60:02d} INFO request served for client alpha" for n in range(150)]
    + [f"2026-01-05 10:05:{n % 60:02d} INFO file_{n}_seen" for n in range(60)]
)


def log_stub(request: str, *, aware: bool) -> str:
    built = session(LOG, request=request)
    fields = {"context_aware": aware, "novelty_ceiling": 0.02, "result_floor": 20, "result_ceiling": 50}
    return edits(run(built, policy(**fields)))[2].text


def test_debug_lines_matter_while_performance_is_the_task() -> None:
    line = "DEBUG pool waited 4183 ms on lock_table"

    assert line in log_stub("find out why requests are slow", aware=True)
    assert line not in log_stub("find out why requests are slow", aware=False)
    assert line not in log_stub("write the change log", aware=True)


def test_what_the_work_is_about_ranks_higher() -> None:
    rows = [f"{FILLER} {stem}_{n}_value" for n in range(60) for stem in ("billing", "weather", "holiday")]

    def kept(request: str) -> int:
        built = session("\n".join(rows), request=request)
        fields = {"novelty_ceiling": 0.03, "result_floor": 20, "result_ceiling": 50}
        text = edits(run(built, policy(**fields)))[2].text
        return text.count("weather_") - text.count("billing_")

    assert kept("correct the weather report") > 0 > kept("correct the billing report")


def test_later_messages_change_nothing() -> None:
    built = session(lines("used_later_on", "never_used_again"), lines("third_name_here"), lines())
    before = run(built, policy())
    built.turn(text="used_later_on is what I need")
    built.turn()

    assert run(built, policy()).events[0].edits == before.events[0].edits


def test_a_second_event_leaves_stubs_alone() -> None:
    built = session(*(lines(f"name_of_{n}", filler=80) for n in range(8)))
    done = run(built, policy())

    places = [(edit.message, edit.part) for event in done.events for edit in event.edits]
    assert len([event for event in done.events if event.edits]) > 1
    assert len(places) == len(set(places))


def test_preparing_at_arrival_changes_no_result() -> None:
    built = session(LOG, lines("only_here_one", "src/only/here.py"), lines(), request="why is only_here slow")
    transcript, prepared = built.build(), stubber()
    prepare(course_of(transcript, "uncompacted"), prepared)

    done = [replay(replace(transcript), policy(), Calibration(), stubber=each) for each in (prepared, stubber())]

    assert done[0].events == done[1].events
    assert edits(done[0])


def test_an_event_reads_nothing_that_was_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    transcript, prepared = session(LOG, lines("only_here_one"), lines()).build(), stubber()
    prepare(course_of(transcript, "uncompacted"), prepared)
    for module, name in ((proposals, "detect"), (compressors, "units"), (reading, "words"), (reading, "identifiers")):
        monkeypatch.setattr(module, name, None)

    assert edits(replay(replace(transcript), policy(), Calibration(), stubber=prepared))


SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@SETTINGS
@given(transcripts(), policies(), st.booleans(), st.sampled_from((0.1, 0.4, 1.0)))
def test_every_promise_holds(transcript: Transcript, drawn: Policy, aware: bool, ceiling: float) -> None:
    chosen = drawn.model_copy(update={"allocation": "novelty", "context_aware": aware, "novelty_ceiling": ceiling})
    proof = prove(replay(transcript, chosen, Calibration(), stubber=stubber(Quarters())))

    assert proof.violations == ()
    assert proof.resolved == proof.addresses
    assert proof.true_claims == proof.claims


@SETTINGS
@given(transcripts(), policies())
def test_what_comes_after_a_turn_changes_nothing_before_it(transcript: Transcript, drawn: Policy) -> None:
    chosen = drawn.model_copy(update={"allocation": "novelty", "context_window": 1_000})
    whole = replay(transcript, chosen, Calibration(), stubber=stubber(Quarters()))
    cut = len(transcript.turns) // 2
    if not cut or whole.policy.recent_mode == "adaptive" or transcript.boundaries:
        return
    end = transcript.turns[cut - 1].results_end
    shorter = replace(
        transcript, messages=transcript.messages[:end], turns=transcript.turns[:cut], counts=transcript.counts[:end]
    )
    part = replay(shorter, chosen, Calibration(), stubber=stubber(Quarters()))

    assert [e.edits for e in part.events] == [e.edits for e in whole.events if e.turn < cut]


PROGRAM = """
from tests.compression.engine.test_allocation import LOG, edits, lines, policy, run, session
from compression.engine.snapshots import digest
names = [f"{a}_{b}_name" for a in "abcdefgh" for b in "stuvwxyz"]
built = session(LOG, lines(*names), "\\n".join(names) + lines(), request="debug a_s_name")
print(digest("".join(edit.text for edit in edits(run(built, policy())).values())))
"""


def test_bytes_do_not_depend_on_the_hash_seed() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."}, capture_output=True,
            text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip

    assert len(printed) == 1
    assert len(printed.pop().strip()) == 64
