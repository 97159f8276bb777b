"""Every number of a result table and of a comparison, worked out again from the raw replay.

Independent of the summary: windows, events and edits of the engine are added up here, by the definitions of
the figures, and held against what the pages hand to their templates and exports.
"""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import pytest
from django.test import Client

from compression.engine.edits import LADDER
from compression.engine.policy import Policy, build
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.models import Run
from compression.policies import save_version
from compression.transcripts import from_session
from sessions.models import Project, Session
from tests.compression.runs.starting import SMALL_WINDOW, finished, results, three_sessions

pytestmark = pytest.mark.django_db


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


def raw(session: Session, policy: Policy) -> Replay:
    subject = from_session(session)
    return replay(subject.transcript, policy, subject.calibration)


def share(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole else None


def first_over(windows: Any, done: Replay) -> int | None:
    reserve = done.policy.reserve_output
    return next((t for t, tokens in enumerate(windows) if tokens + reserve > done.context_window), None)


def figures(done: Replay) -> dict[str, Any]:
    """The figures of one session, from windows and events alone."""
    before, after, hidden = list(done.windows_before), list(done.windows_after), done.calibration.hidden
    events = [event for event in done.events if event.kind in ("compress", "arrival", *LADDER) and event.changes]
    recorded = [
        (window - turn.recorded.context_tokens) / turn.recorded.context_tokens
        for window, turn in zip(before, done.transcript.turns, strict=True)
        if turn.recorded and turn.recorded.context_tokens
    ]
    own = [event for event in events if event.kind == "compress"]
    close = sum(
        (n > 0 and event.turn - own[n - 1].turn <= 3) or event.before - event.after < 0.1 * event.before
        for n, event in enumerate(own)
    )
    return {
        "turns": len(before),
        "sent_before": sum(before),
        "sent_after": sum(after),
        "session_saved": share(sum(before) - sum(after), sum(before)),
        "request_tokens": sum(event.before - hidden for event in events),
        "request_freed": sum(event.before - event.after for event in events),
        "request_saved": share(
            sum(event.before - event.after for event in events), sum(event.before - hidden for event in events)
        ),
        "overflow_turn": first_over(after, done),
        "overflow_turn_none": first_over(before, done),
        "events": len(events),
        "ladder": sum(event.kind in (*LADDER, "incompressible") for event in done.events),
        "thrash": share(100 * close, len(before)),
        "violations": 0,
        "counter_error": round(median(recorded), 6) if recorded else None,
    }


def results_in_windows(done: Replay) -> tuple[int, int]:
    """Calibrated tokens of the tool results of the window before and after each event, added up message by message."""
    k, messages = done.calibration.k, done.transcript.messages
    whole = {
        i: done.transcript.counts[i][j] + MESSAGE_OVERHEAD
        for i, message in enumerate(messages)
        for j, part in enumerate(message.parts)
        if part.kind == "tool_result"
    }
    standing, stands = dict(whole), dict[tuple[int, int], int]()
    before = after = 0.0
    for event in done.events:
        for i in event.left:
            standing.pop(i, None)
        if not event.edits or event.left:
            continue
        end = done.transcript.turns[event.turn].request_end
        before += k * sum(tokens for i, tokens in standing.items() if i < end)
        for edit in event.edits:
            place = edit.message, edit.part
            freed = stands.get(place, edit.tokens_before) - edit.tokens_after
            stands[place] = edit.tokens_after
            if edit.message in standing:  # a result
                standing[edit.message] -= freed
        after += k * sum(tokens for i, tokens in standing.items() if i < end)
    return round(before), round(after)


def test_every_number_of_a_result_table_follows_from_the_replays(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    run = finished(project)
    policy = build(run.fields, "run")

    response = signed_in.get(f"/projects/apollo/runs/{run.pk}/")

    rows = {row["result"].session_id: row["result"] for row in response.context["rows"]}
    wanted = {session.pk: figures(raw(session, policy)) for session in sessions}
    for pk, expected in wanted.items():
        assert {name: getattr(rows[pk], name) for name in expected} == expected
    assert sum(one["events"] for one in wanted.values()) > 0
    for session in sessions:
        before, after = results_in_windows(raw(session, policy))
        # Rounded once for each window there, once for all of them here.
        assert rows[session.pk].tool_before == pytest.approx(before, abs=2)
        assert rows[session.pk].tool_after == pytest.approx(after, abs=2)
        assert rows[session.pk].tool_saved == share(
            rows[session.pk].tool_before - rows[session.pk].tool_after, rows[session.pk].tool_before
        )


def test_every_number_above_a_result_table_follows_from_the_replays(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    run = finished(project)
    wanted = [figures(raw(session, build(run.fields, "run"))) for session in sessions]

    totals = signed_in.get(f"/projects/apollo/runs/{run.pk}/").context["totals"]

    def added(name: str) -> int:
        return sum(one[name] for one in wanted)

    session, request, tool = totals.saved
    assert (session.part, session.whole) == (added("sent_before") - added("sent_after"), added("sent_before"))
    assert session.share == share(added("sent_before") - added("sent_after"), added("sent_before"))
    assert request.share == share(added("request_freed"), added("request_tokens"))
    stored = results(run)
    assert tool.share == share(
        sum(one.tool_before - one.tool_after for one in stored), sum(one.tool_before for one in stored)
    )
    assert (totals.sessions, totals.turns, totals.events) == (3, added("turns"), added("events"))
    assert totals.overflow == sum(one["overflow_turn"] is not None for one in wanted)
    assert totals.overflow_none == sum(one["overflow_turn_none"] is not None for one in wanted)
    assert session.spread.median == median(one["session_saved"] for one in wanted)
    assert session.worst.value == min(one["session_saved"] for one in wanted)
    assert totals.counter_error.median == median(one["counter_error"] for one in wanted)


def test_every_number_of_a_comparison_follows_from_the_replays(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    save_version(project=project, policy=build(SMALL_WINDOW, "test"), author=None)
    session = sessions[2]

    response = signed_in.get("/projects/apollo/compare/", {"a": "none", "b": "v1", "session": str(session.pk)})

    shown = {row.figure.name: row.values for row in response.context["figures"]}
    done = [raw(session, PRESETS["none"]), raw(session, build(SMALL_WINDOW, "test"))]
    wanted = [figures(one) for one in done]
    for name in ("session_saved", "request_saved", "sent_after", "overflow_turn", "events", "thrash", "violations"):
        assert shown[name] == tuple(one[name] for one in wanted), name
    assert shown["peak_after"] == tuple(max(one.windows_after) for one in done)
    assert shown["turns_lost"] == tuple(
        0 if one["overflow_turn"] is None else one["turns"] - one["overflow_turn"] for one in wanted
    )
    changed = [{(e.message, e.part) for event in one.events for e in event.edits} for one in done]
    assert shown["stubs"] == tuple(len(one) for one in changed)
    skips = [sum(1 + event.repeats for event in one.events if event.kind == "skip") for one in done]
    assert shown["skipped_events"] == tuple(skips)
    assert shown["target_unreachable"] == tuple(
        sum(event.target_unreachable is not None for event in one.events) for one in done
    )
    assert [row.event.turn for row in response.context["events"]] == [
        event.turn for event in done[1].events if event.changes
    ]


def test_the_figure_of_a_comparison_draws_the_windows_of_the_replays(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    session = sessions[2]

    response = signed_in.get(
        "/projects/apollo/compare/timeline/", {"a": "none", "b": "chapter", "session": str(session.pk)}
    )

    lines = {line["name"]: line["y"] for line in json.loads(response.content)["data"] if line["mode"] == "lines"}
    none, chapter = raw(session, PRESETS["none"]), raw(session, PRESETS["chapter"])
    assert lines == {
        "without compression": list(none.windows_before),
        "A: preset none": list(none.windows_after),
        "B: preset chapter": list(chapter.windows_after),
    }


def test_every_number_of_a_compression_log_follows_from_the_replay(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    run: Run = finished(project)
    session = sessions[2]

    log = signed_in.get(f"/projects/apollo/runs/{run.pk}/sessions/{session.pk}/log/").context["log"]

    done = raw(session, build(run.fields, "run"))
    events = [event for event in done.events if event.changes]
    assert [(row.turn, row.before, row.after, row.blocks) for row in log.rows] == [
        (event.turn, done_before(done, event), done.windows_after[event.turn], len(event.edits)) for event in events
    ]
    assert [row.reason for row in log.rows] == [event.reason for event in events]
    assert log.ratio == sum(event.after for event in events) / sum(event.before for event in events)
    assert (log.before - log.after, log.blocks) == (log.reclaimed, sum(len(event.edits) for event in events))


def done_before(done: Replay, event: Any) -> int:
    """The window that the event found: what it left, and what its own edits freed, calibrated."""
    return int(done.windows_after[event.turn] + event.reclaimed)


def test_every_number_of_a_projects_comparison_follows_from_the_replays(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    save_version(project=project, policy=build(SMALL_WINDOW, "test"), author=None)
    finished(project)
    finished(project, target_ratio=0.3, name="deeper")
    save_version(project=project, policy=build({**SMALL_WINDOW, "target_ratio": 0.3}, "test"), author=None)

    context = signed_in.get("/projects/apollo/compare/", {"a": "v1", "b": "v2"}).context

    pairs = [
        (
            figures(raw(one, build(SMALL_WINDOW, "a"))),
            figures(raw(one, build({**SMALL_WINDOW, "target_ratio": 0.3}, "b"))),
        )
        for one in sessions
    ]
    shown = {row.figure.name: row.values for row in context["comparison"].figures}

    def added(side: int, name: str) -> int:
        return sum(pair[side][name] for pair in pairs)

    for side in (0, 1):
        sent = added(side, "sent_before")
        assert shown["session_saved"][side] == share(sent - added(side, "sent_after"), sent)
        assert shown["request_saved"][side] == share(added(side, "request_freed"), added(side, "request_tokens"))
    for name in ("sent_after", "events", "ladder", "violations"):
        assert shown[name] == tuple(sum(pair[side][name] for pair in pairs) for side in (0, 1))
    rows = {row.session.pk: tuple(cell.value for cell in row.cells) for row, _ in context["rows"]}
    assert rows == {
        one.pk: (a["session_saved"], b["session_saved"]) for one, (a, b) in zip(sessions, pairs, strict=True)
    }
    better = sum(b["session_saved"] > a["session_saved"] for a, b in pairs)
    worse = sum(b["session_saved"] < a["session_saved"] for a, b in pairs)
    assert context["comparison"].against == [("B", better, worse)]
