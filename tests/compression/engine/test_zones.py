from __future__ import annotations

from typing import Any

import pytest

from compression.engine.history import course_of
from compression.engine.pins import Pins
from compression.engine.policy import PinRule, Policy
from compression.engine.transcript import Part
from compression.engine.zones import Cutter, Zones, head_length, head_reason
from tests.compression.engine.builders import SessionBuilder, run, small_policy, words


def head(session: SessionBuilder, turn: int = -1) -> int:
    course = course_of(session.build(), "uncompacted")
    return head_length(course, course.windows[turn])


def zones(session: SessionBuilder, budget: int = 100, turn: int = -1, **fields: Any) -> Zones:
    course = course_of(session.build(), "uncompacted")
    turns = len(course.windows)
    policy = Policy.model_validate({"pins": (), "pin_latest_user": False} | fields)
    return Cutter(course, Pins(course, policy), [budget] * turns).at(range(turns)[turn])


def test_the_head_is_all_that_leads_in_the_first_prompt_and_the_first_response() -> None:
    session = SessionBuilder()
    session.system()
    session.system("more rules")
    session.user("remember", "memory")
    session.user("skill body", "skill")
    session.user("first request")
    session.turn(("Bash", "out"), text="")
    session.turn()

    assert head(session) == 6
    course = course_of(session.build(), "uncompacted")
    assert [head_reason(course.transcript.messages[i]) for i in range(6)] == [
        "system prompt",
        "system prompt",
        "memory and instructions",
        "memory and instructions",
        "first request",
        "first response",
    ]


def test_a_session_may_have_no_system_message() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "out"))
    session.turn()

    assert head(session) == 2


def test_the_window_of_turn_zero_may_be_head_alone() -> None:
    session = SessionBuilder()
    session.system()
    session.user()
    session.turn()

    found = zones(session, turn=0)

    assert (found.head, found.recent, found.recent_tokens_actual, found.overrun_reason) == (2, 2, 0, None)


def test_a_response_in_several_messages_is_head_as_a_whole() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "out"), responses=3)
    session.turn()

    assert head(session) == 4


def test_two_responses_in_a_row_are_not_one() -> None:
    session = SessionBuilder()
    session.user()
    session.turn()
    session.turn()
    session.turn()

    assert head(session) == 2


def test_response_ids_hold_a_response_together_that_no_turn_does() -> None:
    session = SessionBuilder()
    session.user()
    session.add("assistant", Part("text", "a"), response_id="r1")
    session.add("assistant", Part("text", "b"), response_id="r1")
    session.add("assistant", Part("text", "c"), response_id="r2")
    session.turn()

    assert head(session) == 3


def test_an_assistant_that_spoke_first_does_not_push_the_prompt_out() -> None:
    session = SessionBuilder()
    session.system()
    session.add("assistant", Part("text", "how can I help"))
    session.user("first request")
    session.turn(("Bash", "out"))
    session.turn()

    assert head(session) == 4


def test_a_result_without_its_call_leads_in() -> None:
    session = SessionBuilder()
    session.add("tool", Part("tool_result", "left over", "c", "Bash"), flags=("orphan_result",))
    session.user()
    session.turn(("Bash", "out"))
    session.turn()

    assert head(session) == 3


def test_a_kept_summary_is_head() -> None:
    session = SessionBuilder()
    session.boundary("compact", summary_message=0, originals_in_file=False)
    session.user("what was before", "compact_summary")
    session.user("go on")
    session.turn(("Bash", "out"))
    session.turn()

    found = zones(session)

    assert found.head == 3
    assert head_reason(session.messages[0]) == "summary of what left"


def four_calls() -> SessionBuilder:
    """0 prompt, 1 call, 2 result, 3 call, 4 result, 5 call, 6 result, 7 call, 8 result; calls 7, results 34 tokens."""
    session = SessionBuilder()
    session.user()
    for _ in range(4):
        session.turn(("Bash", words(30)))
    session.turn()
    return session


@pytest.mark.parametrize(
    ("budget", "recent", "tokens"),
    [(34, 8, 34), (40, 8, 34), (41, 7, 41), (74, 7, 41), (75, 6, 75), (1_000, 2, 157)],
)
def test_recent_is_the_longest_suffix_within_its_budget(budget: int, recent: int, tokens: int) -> None:
    found = zones(four_calls(), budget)

    assert (found.head, found.recent, found.recent_tokens_actual, found.overrun_reason) == (2, recent, tokens, None)


def test_when_head_and_recent_are_everything_nothing_is_compressible() -> None:
    found = zones(four_calls(), 1_000)

    assert found.compressible() == []


@pytest.mark.parametrize("budget", [0, 33])
def test_the_newest_message_is_recent_even_when_it_is_too_large(budget: int) -> None:
    found = zones(four_calls(), budget)

    assert (found.recent, found.recent_tokens_actual) == (8, 34)
    assert found.overrun_reason == f"the newest message alone has 34 tokens; the budget is {budget}"


def test_every_message_has_one_zone() -> None:
    found = zones(four_calls(), 41, pins=(PinRule(tool="bash", keep_last=2),))

    assert [found.of(n) for n in range(9)] == [
        "head",
        "head",
        "compressible",
        "compressible",
        "compressible",
        "compressible",
        "pinned",
        "recent",
        "recent",
    ]
    assert found.compressible() == [2, 3, 4, 5]
    assert found.pinned == {6: "pinned"}


def test_recent_stays_word_for_word() -> None:
    """After the event the two stubs and the last results are far below the budget; the stubs are not recent again."""
    session = SessionBuilder()
    session.user()
    for n in range(4):
        session.turn(("Bash", words(400, f"w{n}x")))
    session.turn()

    done = run(session, small_policy(context_window=1_600, recent_tokens=500, min_reclaim_tokens=10))

    (event,) = [event for event in done.events if event.edits]
    after = done.zones_at(event.turn)
    assert [edit.message for edit in event.edits] == [2, 4]
    assert (after.recent, after.recent_tokens_actual) == (5, 411)
    assert sum(done.standing_at(event.turn).sizes[4:7]) <= 500


def pinned(session: SessionBuilder, turn: int = -1, **fields: Any) -> dict[int, str]:
    return zones(session, 0, turn, **fields).pinned


def tools(*names: str) -> SessionBuilder:
    """0 prompt, then for each tool a call and a result (2, 4, ...), then an answer."""
    session = SessionBuilder()
    session.user()
    session.turn()
    for name in names:
        session.turn((name, "out"))
    session.turn(("Bash", "last"))
    session.turn()
    return session


def test_globs_ignore_case() -> None:
    session = tools("TodoWrite", "Bash")

    assert pinned(session, pins=(PinRule(tool="*TODO*", reason="list"),)) == {3: "list"}


def test_keep_last_keeps_the_newest() -> None:
    session = tools("todo", "todo", "todo")

    assert pinned(session, pins=(PinRule(tool="todo", keep_last=2),)) == {5: "pinned", 7: "pinned"}
    assert pinned(session, turn=3, pins=(PinRule(tool="todo", keep_last=2),)) == {3: "pinned"}


def test_the_default_pins_are_the_last_list_and_plan_and_all_skills_and_memories() -> None:
    session = tools("todo", "update_plan", "load_skill", "memory", "todo", "update_plan", "load_skill", "memory")

    assert pinned(session, pins=Policy().pins) == {
        7: "skill",
        9: "memory",
        11: "latest task list",
        13: "latest plan",
        15: "skill",
        17: "memory",
    }


def test_a_rule_holds_only_when_all_of_its_conditions_do() -> None:
    session = tools("Bash", "Read")
    rule = PinRule(tool="*", role="tool", pattern="^out$", reason="output")

    assert pinned(session, pins=(rule,)) == {3: "output", 5: "output"}
    assert pinned(session, pins=(rule.model_copy(update={"role": "user"}),)) == {}


def test_errors_can_be_pinned() -> None:
    session = tools("Bash")
    session.turn(Part("tool_result", "boom", "x", "Bash", is_error=True))
    session.turn(("Bash", "last"))
    session.turn()

    assert pinned(session, pins=(PinRule(is_error=True, reason="failure"),)) == {8: "failure"}


def test_where_rules_meet_the_first_one_gives_the_reason() -> None:
    session = tools("todo", "Bash")

    assert pinned(session, pins=(PinRule(tool="todo", reason="z"), PinRule(tool="*", reason="a")))[3] == "z"


def test_the_latest_prompt_is_pinned_and_an_injection_is_none() -> None:
    session = tools("Bash")
    session.user("and now this")
    session.user("context", "injected")
    session.turn(("Bash", "out"))
    session.turn(("Bash", "last"))
    session.turn()

    assert pinned(session, pin_latest_user=True) == {7: "latest user request"}


def test_a_system_message_after_the_head_is_pinned() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(400)))
    rules = session.system("from now on, no network")
    session.turn(("Bash", words(400)))
    session.turn()

    done = run(session, small_policy(recent_tokens=50, pin_latest_user=False))

    assert done.zones_at(2).pinned == {rules: "system message"}


def test_recalled_text_is_held_for_some_turns() -> None:
    session = tools("mcp__hermes__Recall", "Bash", "Bash", "Bash")

    held = [pinned(session, turn, recall_hold_turns=3) for turn in range(len(session.turns))]

    lately = {3: "recalled lately"}
    assert held == [{}, {}, {}, lately, lately, {}, {}]  # in turn 2 it is the newest message, recent anyway


def test_a_summary_without_originals_in_the_middle_is_pinned() -> None:
    session = tools("Bash")
    session.boundary("compact", summary_message=7, originals_in_file=False)
    session.user("summary", "compact_summary")
    session.turn(("Bash", "last"))
    session.turn()

    assert pinned(session) == {7: "summary of what is not in the file"}
