"""What the form says of a draft is what the engine says of it."""

from __future__ import annotations

import pytest

from compression.consequences import Consequences, consequences
from compression.engine.invariants import prove
from compression.engine.policy import PinRule, Policy
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.engine.summary import summarize
from compression.engine.turns import tabulate
from compression.policy_fields import SETTINGS
from compression.policy_table import rows
from compression.project_peaks import project_peaks
from compression.replays import stored_replay
from compression.transcripts import from_session
from compression.warm_sessions import warm_session
from sessions.models import Project, Session
from sessions.templatetags.figures import grouped, percent, short
from tests.compression.sessions import parsed, store, with_event

pytestmark = pytest.mark.django_db
HERMES = PRESETS["hermes"]


@pytest.fixture
def session(project: Project) -> Session:
    return with_event(project)


def draft(**changes: object) -> Policy:
    return Policy.model_validate({**HERMES.model_dump(), **changes})


def tried(session: Session, policy: Policy, in_force: Policy = HERMES) -> Consequences:
    return consequences(
        warm_session(session),
        policy,
        in_force=in_force,
        before=stored_replay(session, in_force),
        none=stored_replay(session, PRESETS["none"]),
        peaks=project_peaks(session.project),
    )


def engine(session: Session, policy: Policy) -> Replay:
    subject = from_session(session)
    return replay(subject.transcript, policy, subject.calibration)


def said(found: Consequences, name: str) -> list[str]:
    return [line.text for line in found.fields[name]]


def test_every_field_has_a_consequence(session: Session) -> None:
    found = tried(session, HERMES)

    assert set(found.fields) == {*SETTINGS, "pins"}
    assert all(found.fields.values())


def test_the_draft_is_replayed_as_the_engine_does_it(session: Session) -> None:
    policy = draft(trigger_ratio=0.6, target_ratio=0.3, recent_tokens=5_000)

    found = tried(session, policy)

    raw = engine(session, policy)
    assert list(found.trial.replay.windows_after) == list(raw.windows_after)
    unread = prove(raw, claims_too=False)  # no stub is read again while one types
    assert found.trial.summary == summarize(raw, tabulate(raw), lost=(), proof=unread)


def test_the_table_holds_the_engines_figures_for_all_three(session: Session) -> None:
    policy = draft(trigger_ratio=0.6, target_ratio=0.3)

    found = {row.name: row.cells for row in rows(tried(session, policy).trial)}

    done = [engine(session, one) for one in (PRESETS["none"], HERMES, policy)]
    summaries = [summarize(one, tabulate(one)) for one in done]
    assert [cell.text for cell in found["tokens sent"]] == [short(s["sent_after"]) for s in summaries]
    assert [cell.text for cell in found["events"]] == [grouped(s["events"]) for s in summaries]
    assert [cell.text for cell in found["peak"]] == [short(s["peak_after"]) for s in summaries]
    assert [cell.text for cell in found["saved of all tokens sent"]] == [percent(s["session_saved"]) for s in summaries]
    assert [cell.text for cell in found["violations"]] == ["0", "0", "0"]
    first = next(event.turn for event in done[2].events if event.kind == "compress")
    assert found["events"][2].small.endswith(f"turn {first}")


def test_fewer_tokens_are_better_and_more_events_are_worse(session: Session) -> None:
    marks = {
        row.name: row.cells[2].mark for row in rows(tried(session, draft(trigger_ratio=0.4, target_ratio=0.3)).trial)
    }

    assert (marks["tokens sent"], marks["events"], marks["violations"]) == ("better", "worse", "")


def test_the_trigger_is_said_in_tokens_with_the_turn_that_passes_it(session: Session) -> None:
    policy = draft(trigger_ratio=0.6)

    found = tried(session, policy)

    raw = engine(session, policy)
    turn = next(t for t, tokens in enumerate(raw.windows_before) if tokens > 0.6 * raw.context_window)
    assert said(found, "trigger_ratio") == [
        "was 0.75", f"= {grouped(round(0.6 * raw.context_window))} tokens · first passed at turn {turn}",
    ]  # fmt: skip


def test_how_many_sessions_pass_the_trigger_is_about_all_of_the_project(project: Project, session: Session) -> None:
    store(parsed(3, key="small"), project)

    assert said(tried(session, HERMES), "trigger_ratio")[1] == "~1 of 2 sessions ever pass it"


def test_results_that_a_new_limit_moves_are_counted(session: Session) -> None:
    transcript = from_session(session).transcript
    sizes = [counts[0] for m, counts in zip(transcript.messages, transcript.counts, strict=True) if m.role == "tool"]
    high = max(sizes)

    found = tried(session, draft(min_result_tokens=high))

    between = sum(150 < size <= high for size in sizes)
    assert between > 1
    assert said(found, "min_result_tokens") == [
        "was 150", f"0 of {len(sizes)} results are longer",
        f"{between} results lie between 150 and {grouped(high)} tokens",
    ]  # fmt: skip


def test_a_limit_that_moves_no_result_says_so(session: Session) -> None:
    found = tried(session, draft(min_result_tokens=300))

    assert said(found, "min_result_tokens")[-1] == "no result lies between 150 and 300 tokens: nothing changes"


def test_a_pin_rule_says_how_many_messages_it_keeps(session: Session) -> None:
    found = tried(session, draft(pins=[PinRule(pattern="worker-[3-6] "), PinRule(tool="no such tool")]))

    kept = {i for _, pins in found.trial.table.pinned for i, reason in pins.items() if reason == "rule 0"}
    tokens = short(found.trial.tokens_of(sorted(kept)))
    assert len(kept) == 4
    assert found.pins[0].text == f"keeps 4 messages, {tokens} tokens"
    assert found.pins[1].text == "holds nothing here that would not stay anyway: nothing changes"


def test_two_rules_with_one_reason_are_told_apart(session: Session) -> None:
    found = tried(session, draft(pins=[PinRule(tool="bash", reason="same"), PinRule(role="user", reason="same")]))

    assert found.pins[0].text.startswith("keeps ")
    assert found.pins[1].text.startswith("holds nothing")


def test_what_a_strategy_does_not_use_says_so(session: Session) -> None:
    found = tried(session, draft(strategy="none"))

    unused = ["strategy none: nothing is compressed, this field has no effect"]
    assert said(found, "trigger_ratio") == said(found, "recent_tokens") == said(found, "min_result_tokens") == unused


def test_a_target_below_hidden_and_recent_is_noted(project: Project) -> None:
    session = store(parsed(60, lines=76, with_usage=True), project)
    found = tried(session, draft(context_window=100_000, target_ratio=0.1))

    assert found.notes[0].mood == "warn"
    trial = found.trial
    recent, hidden = short(trial.zone("recent", trial.fullest)), short(trial.calibration.hidden)
    assert found.notes[0].text == (
        f"recent {recent} + hidden {hidden} already exceed the target of 10.0K: events cannot reach it"
    )


def test_one_result_larger_than_the_target_is_noted(project: Project) -> None:
    session = store(parsed(3, lines=3_000, key="huge"), project)

    found = tried(session, draft(context_window=100_000, target_ratio=0.2, recent_tokens=100))

    largest = short(found.trial.calibration.k * found.trial.results[-1])
    assert f"one result of {largest} tokens alone passes the target" in [note.text for note in found.notes]


def test_a_trigger_that_nothing_reaches_is_noted(project: Project) -> None:
    session = store(parsed(2), project)
    store(parsed(3, key="other"), project)

    found = tried(session, HERMES)

    assert "no session of this project ever reaches the trigger" in [note.text for note in found.notes]


def test_a_draft_that_does_the_same_says_so(session: Session) -> None:
    found = tried(session, draft(recall_hold_turns=3))

    same = "on this session the draft does exactly what the policy in force does: nothing changes"
    assert found.notes[-1].text == same


def test_a_draft_that_was_tried_before_gives_the_same_again(session: Session) -> None:
    policy = draft(trigger_ratio=0.6)
    first = tried(session, policy)
    tried(session, draft(trigger_ratio=0.9))

    assert tried(session, policy).fields == first.fields


def test_a_margin_smaller_than_the_smallest_reclaim_is_noted(session: Session) -> None:
    found = tried(session, draft(context_window=100_000, min_reclaim_tokens=30_000))

    text = (
        "from trigger to target lie 25.0K, fewer than the smallest reclaim of 30.0K: events are skipped until the "
        "window is at risk"
    )
    assert text in [note.text for note in found.notes]


def test_a_reserve_that_reaches_the_trigger_is_noted(session: Session) -> None:
    found = tried(session, draft(context_window=100_000, reserve_output=75_000))

    assert "the reserve alone reaches the trigger: every call is over it" in [note.text for note in found.notes]


def test_the_reserve_is_taken_off_the_trigger_and_the_target(session: Session) -> None:
    found = tried(session, draft(context_window=100_000, reserve_output=5_000))

    assert said(found, "trigger_ratio")[0].startswith(f"= {grouped(75_000)} tokens, {grouped(70_000)} less the reserve")
    assert said(found, "target_ratio")[0].startswith(f"= {grouped(50_000)} tokens, {grouped(45_000)} less the reserve")
