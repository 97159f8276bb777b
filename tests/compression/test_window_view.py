"""The window that a page shows against the window that the engine gives."""

from __future__ import annotations

import pytest

from compression.engine.blocks import window_blocks
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.forms import PageState, Side
from compression.replay_document import ReplayDocument, document_of
from compression.transcripts import from_session
from compression.window_strip import strip
from compression.window_view import Fold, Row, WindowView, window_view
from sessions.models import Project, Session
from tests.compression.sessions import with_event

LOOKS = {"head": "sacred", "recent": "sacred", "pinned": "pinned", "compressible": "compressible"}
TURNS = [0, 1, 20, 40, 59]


@pytest.fixture
def session(project: Project) -> Session:
    return with_event(project)


@pytest.fixture
def replayed(session: Session) -> Replay:
    subject = from_session(session)
    found = replay(subject.transcript, PRESETS["chapter"], subject.calibration)
    assert found.events
    return found


@pytest.fixture
def document(replayed: Replay) -> ReplayDocument:
    return document_of(replayed)


def shown(session: Session, document: ReplayDocument, turn: int, side: Side, opened: int | None = None) -> WindowView:
    state = PageState(path="/", turn=turn, policy_name="chapter", side=side, open=opened)
    return window_view(session, document, state)


@pytest.mark.parametrize("turn", TURNS)
def test_blocks_and_folds_add_up_to_the_engines_window_before(
    session: Session, document: ReplayDocument, replayed: Replay, turn: int
) -> None:
    window = shown(session, document, turn, "before")

    blocks = sum(row.before.tokens for row in window.rows if isinstance(row, Row) and row.before)
    folds = sum(row.tokens_before for row in window.rows if isinstance(row, Fold))
    engine = sum(b.tokens for b in window_blocks(replayed, turn, "before") if b.message is not None)
    assert blocks + folds == engine == document.table.counted[turn]


@pytest.mark.parametrize("turn", TURNS)
def test_blocks_and_folds_add_up_to_the_engines_window_after(
    session: Session, document: ReplayDocument, replayed: Replay, turn: int
) -> None:
    window = shown(session, document, turn, "after")

    blocks = sum(row.after.tokens for row in window.rows if isinstance(row, Row) and row.after)
    folds = sum(row.tokens_after for row in window.rows if isinstance(row, Fold))
    engine = sum(b.tokens for b in window_blocks(replayed, turn, "after") if b.message is not None)
    assert blocks + folds == engine == document.table.counted_after[turn]


@pytest.mark.parametrize("turn", TURNS)
def test_every_block_has_the_engines_tokens_and_zone(
    session: Session, document: ReplayDocument, replayed: Replay, turn: int
) -> None:
    window = shown(session, document, turn, "after")

    tokens: dict[int, int] = {}
    zones: dict[int, str] = {}
    for block in window_blocks(replayed, turn, "after"):
        if block.message is not None:
            tokens[block.message] = tokens.get(block.message, 0) + block.tokens
            zones[block.message] = "compressed" if block.edit else LOOKS[block.zone]
    blocks = [row.after for row in window.rows if isinstance(row, Row) and row.after]
    assert [(b.message.index, b.tokens, b.look) for b in blocks] == [
        (b.message.index, tokens[b.message.index], zones[b.message.index]) for b in blocks
    ]


def test_every_message_is_shown_or_folded_exactly_once(session: Session, document: ReplayDocument) -> None:
    window = shown(session, document, 59, "both", opened=40)

    rows = sum(1 for row in window.rows if isinstance(row, Row))
    folded = sum(row.unchanged + row.changed + row.left for row in window.rows if isinstance(row, Fold))
    assert rows + folded == document.table.request_end[59]


def test_a_fold_opens_at_the_message_of_its_address(session: Session, document: ReplayDocument) -> None:
    closed = shown(session, document, 20, "before")
    fold = next(row for row in closed.rows if isinstance(row, Fold))
    first = int(fold.url.rpartition("=")[2])

    opened = shown(session, document, 20, "before", opened=first)

    assert first not in [row.index for row in closed.rows if isinstance(row, Row)]
    assert first in [row.index for row in opened.rows if isinstance(row, Row)]


def test_an_opened_address_outside_the_window_changes_nothing(session: Session, document: ReplayDocument) -> None:
    assert shown(session, document, 5, "both", opened=10_000).shown == shown(session, document, 5, "both").shown


@pytest.mark.parametrize("turn", TURNS)
def test_the_strip_is_as_long_as_the_window(document: ReplayDocument, turn: int) -> None:
    for after in (False, True):
        one = strip(document, turn, after=after)

        assert abs(sum(piece.tokens for piece in one.pieces) - one.tokens) <= len(one.pieces)


def test_the_diff_of_a_changed_block_ends_in_its_stub(session: Session, document: ReplayDocument) -> None:
    window = shown(session, document, 59, "diff")

    blocks = (row.alike for row in window.rows if isinstance(row, Row) and row.alike)
    part = next(part for block in blocks for part in block.parts if part.diff)
    assert part.change is not None
    added = [line for run in part.diff if run.kind in ("added", "same") for line in run.text.split("\n")]
    assert added[0] == part.change.edit.text.split("\n")[0]
