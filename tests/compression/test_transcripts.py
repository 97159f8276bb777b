"""The bridge between files, rows and the engine: the same session whichever way it came."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from compression.engine.calibration import Calibration, Fall, Segment
from compression.transcripts import calibration_of, from_parsed, from_session, measure
from sessions.importers import read_sessions
from sessions.importers.parsed import ParsedBoundary, ParsedSession, Usage
from sessions.models import Project, Session
from tests.compression.session_files import LOGS
from tests.sessions import recorded


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["claude-code.jsonl", "claude-code-compacted.jsonl", "codex.jsonl", "anthropic.json"])
def test_a_stored_session_is_the_same_as_its_file(project: Project, name: str) -> None:
    call_command("ingest", str(LOGS / name), "--project", project.slug, "--json")

    stored = {session.key: from_session(session) for session in Session.objects.all()}
    from_file = {parsed.key: from_parsed(parsed) for parsed in read_sessions(LOGS / name)}

    assert stored.keys() == from_file.keys()
    for key, subject in from_file.items():
        one, other = stored[key].transcript, subject.transcript
        assert stored[key].calibration == subject.calibration
        assert (one.turns, one.counts, one.boundaries) == (other.turns, other.counts, other.boundaries)
        assert (one.model, one.context_window) == (other.model, other.context_window)
        texts = [[(m.role, m.flags, p.kind, p.text) for m in side.messages for p in m.parts] for side in (one, other)]
        assert texts[0] == texts[1]


def test_a_calibration_survives_being_stored() -> None:
    stored = {
        "k": 1.2, "hidden": 9, "segments": [{"turn": 0, "offset": 9}], "silent": [{"turn": 3, "tokens_left": 2_000}],
        "from a later version": 1,
    }  # fmt: skip

    assert calibration_of(stored) == Calibration(k=1.2, hidden=9, segments=(Segment(0, 9),), silent=(Fall(3, 2_000),))
    assert calibration_of({}) == Calibration()


def with_usage(contexts: list[int]) -> ParsedSession:
    parsed = recorded.session(len(contexts))
    for number, context in enumerate(contexts):
        turn = parsed.turns[number]
        parsed.turns[number] = type(turn)(
            turn.request_end, turn.response_end, turn.results_end, Usage(uncached=context), turn.model, turn.time
        )
    return parsed


def test_a_silent_clearing_becomes_a_boundary_of_its_turn() -> None:
    parsed = with_usage([50_000, 50_100, 50_200, 50_300, 20_000])

    (boundary,) = from_parsed(parsed).transcript.boundaries

    assert (boundary.turn, boundary.kind, boundary.position) == (4, "silent", parsed.turns[4].request_end)
    assert boundary.tokens_left is not None
    assert boundary.tokens_left >= 30_300


def test_a_continued_session_is_fitted_over_all_of_its_calls() -> None:
    parsed = with_usage([50_000, 50_020, 50_040, 50_060])
    parsed.messages[0].flags.add("compact_summary")
    parsed.boundaries.append(ParsedBoundary(0, "compact", 0, originals_in_file=False))

    calibration = calibration_of(measure(parsed).calibration)

    assert (calibration.basis, calibration.points) == ("usage", 4)
    assert calibration.hidden > 49_000


def test_a_boundary_that_no_call_felt_is_left_out() -> None:
    parsed = recorded.session(2)
    parsed.boundaries.append(ParsedBoundary(len(parsed.messages), "compact"))

    assert from_parsed(parsed).transcript.boundaries == ()
