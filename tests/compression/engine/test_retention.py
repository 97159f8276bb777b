"""Retention worked out by hand. Results are small; which of them an event stubs is said by their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from compression.engine.edits import Edit, Event
from compression.engine.history import course_of
from compression.engine.lifeline import lifeline
from compression.engine.occurrences import View, occurrences_of
from compression.engine.replay import Replay
from compression.engine.retention import Loss, common, kept, losses, retention_fields, tally, truncated
from tests.compression.engine.builders import SessionBuilder, Words, run, small_policy, words


def session() -> SessionBuilder:
    """Message 2 says four names, message 4 one of them again; the answers after turn 2 use three of the four."""
    built = SessionBuilder()
    built.user("start with main_module")
    built.turn(("Bash", "kept_name src/lost/file.py never_used main_module again_said\n" + words(60)))
    built.turn(("Bash", "again_said is here"))
    built.turn(text="now kept_name and again_said")
    built.turn(text="open src/lost/file.py and main_module", arguments='{"path": "src/lost/file.py"}')
    built.turn(text="nothing")
    return built


def changed(built: SessionBuilder, turn: int, message: int, text: str, address: str = "hermes:0123456789ab") -> Replay:
    """A replay of what was built in which one event put ``text`` in place of a result."""
    done = run(built, small_policy(strategy="none"))
    tokens = done.transcript.counts[message][0]
    edit = Edit(message, 0, "stub", f"[first line]\n{text}", tokens, len(text.split()), address=address)
    event = Event(turn, "compress", 900, 800, (edit,))
    return Replay(
        done.transcript, done.policy, done.calibration, done.course, done.base, done.context_window,
        done.window_basis, (event,), done.windows_before, done.windows_after, (), done.budgets, done.stubber,
    )  # fmt: skip


def only(found: Sequence[Loss]) -> Loss:
    (loss,) = found
    return loss


def test_what_is_needed_are_the_names_that_were_used_and_stand_nowhere_else() -> None:
    # main_module stood in the request, again_said still stands in message 4, never_used was not used.
    loss = only(losses(changed(session(), 2, 2, "kept_name")))

    assert [(n.name, n.kind, n.holder, n.use, n.after) for n in loss.needed] == [
        ("kept_name", "snake", 2, 5, 0),
        ("src/lost/file.py", "path", 2, 6, 1),
    ]
    assert [n.in_view for n in loss.needed] == [True, False]
    assert [n.in_reach for n in loss.needed] == [True, True]


def test_a_horizon_counts_assistant_messages() -> None:
    loss = only(losses(changed(session(), 2, 2, "kept_name")))

    assert [n.name for n in loss.within(1)] == ["kept_name"]
    assert tally(loss.within(1)).fields()["view"] == 1.0
    assert tally(loss.within(None)).fields() == {"n": 2, "view": 0.5, "reach": 1.0, "truncated": 0.0, "lift": 0.5}


def test_what_has_no_address_is_out_of_reach() -> None:
    figures = retention_fields(losses(changed(session(), 2, 2, "kept_name", address="")))

    assert (figures["rlr_n"], figures["rlr_view"], figures["rlr_reach"]) == (2, 0.5, 0.5)


def test_classes_are_counted_apart() -> None:
    classes = retention_fields(losses(changed(session(), 2, 2, "kept_name")))["rlr_classes"]

    assert {kind: (row["n"], row["view"]) for kind, row in classes.items()} == {"path": (1, 0.0), "snake": (1, 1.0)}


def test_forced_rereads_are_the_turns_that_use_what_the_view_lost() -> None:
    loss = only(losses(changed(session(), 2, 2, "kept_name")))

    assert (loss.forced, loss.turns_after) == ((3,), 3)
    assert retention_fields([loss])["forced_rereads"] == pytest.approx(1 / 3, abs=1e-6)


def test_the_recall_tax_is_the_line_that_brings_the_name_back() -> None:
    # The first line of the original has five words; the others hold nothing that was lost.
    assert only(losses(changed(session(), 2, 2, "kept_name"))).recall_tax == 5


def test_nothing_needed_is_no_evidence() -> None:
    figures = retention_fields(losses(changed(session(), 4, 2, "nothing")))

    assert (figures["rlr_n"], figures["rlr_view"], figures["rlr_lift"]) == (0, None, None)


def test_averages_are_sums_over_sums() -> None:
    one = only(losses(changed(session(), 2, 2, "kept_name")))
    two = only(losses(changed(session(), 3, 2, "src/lost/file.py")))

    assert [len(one.needed), len(two.needed)] == [2, 1]
    assert retention_fields([one, two])["rlr_view"] == pytest.approx(2 / 3, abs=1e-6)


def test_a_stub_that_is_made_shorter_is_changed_and_its_names_count_again() -> None:
    done = changed(session(), 2, 2, "kept_name")
    (event,) = done.events
    (edit,) = event.edits
    shorter = replace(event, turn=3, kind="aggressive", edits=(replace(edit, text="[first line]\n"),))

    _, again = losses(replace(done, events=(event, shorter)))

    assert [(n.name, n.in_view) for n in again.needed] == [("src/lost/file.py", False)]


def test_what_an_agent_compacted_itself_is_counted_by_its_summary() -> None:
    built = SessionBuilder()
    built.user()
    built.turn(("Bash", "told_name lost_name"))
    built.user("earlier: told_name", "compact_summary")
    built.boundary("compact", position=3, summary_message=3)
    built.turn(text="told_name lost_name")

    loss = only(losses(run(built, small_policy(strategy="recorded"))))

    assert [(n.name, n.in_view, n.in_reach) for n in loss.needed] == [
        ("told_name", True, True),
        ("lost_name", False, False),
    ]


def test_the_common_denominator_holds_what_only_tools_had_said() -> None:
    course = course_of(session().build(), "uncompacted")
    texts = ["kept_name", "again_said is here"]

    assert [one.name for one in common(course, 2)] == ["kept_name", "src/lost/file.py", "again_said"]
    assert [one.name for one in kept(common(course, 2), texts)] == ["kept_name", "again_said"]
    assert [one.name for one in common(course, 2, horizon=1)] == ["kept_name", "again_said"]


def test_keys_and_tool_names_are_no_text_of_a_message() -> None:
    built = SessionBuilder()
    built.user()
    built.turn(("some_tool", "x"), arguments='{"some_key": {"deep": ["leaf_one", 1234]}}')

    assert occurrences_of(course_of(built.build(), "uncompacted")).texts[1] == "ok\nleaf_one\n1234"


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("foo_bar", "see foo_bar.", True),
        ("foo_bar", "see foo_bar_baz", False),
        ("src/app.py", "in lib/src/app.py:3", True),
        ("/src/app.py", "in lib/src/app.py", False),
        ("a.b", "a b", False),
        ("line_two", "line_one\\nline_two", True),
    ],
)
def test_a_name_occurs_as_a_whole_word(name: str, text: str, holds: bool) -> None:
    assert View([text]).holds(name) is holds


def test_a_truncation_is_head_and_tail_within_the_budget() -> None:
    text = words(300)

    cut = truncated(text, 300, 30, Words().count_many)

    assert 20 <= len(cut.split()) <= 30
    assert cut.startswith("word0 word1 ")
    assert cut.endswith("word299")


def test_a_lifeline_tells_where_a_name_went() -> None:
    stubbed = changed(session(), 2, 2, "kept_name")

    def states(name: str) -> list[tuple[int, str, int | None]]:
        return [(moment.turn, moment.state, moment.message) for moment in lifeline(stubbed, name)]

    assert states("kept_name") == [(1, "seen", 2), (2, "stubbed", 2), (2, "used", 5)]
    assert states("src/lost/file.py") == [(1, "seen", 2), (2, "gone", 2), (3, "used", 6)]
    assert states("again_said") == [(1, "seen", 2), (2, "seen", 4), (2, "stubbed", 2), (2, "used", 5)]
    assert states("unheard_of") == []


def test_a_lifeline_tells_what_was_recalled() -> None:
    built = session()
    built.turn(("recall", "src/lost/file.py"))
    built.turn()

    found = lifeline(changed(built, 2, 2, "kept_name"), "src/lost/file.py")

    assert [(moment.turn, moment.state) for moment in found][-1] == (6, "recalled")
