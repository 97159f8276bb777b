"""The API of replays: what a policy would have done with a stored session, and one window of it.

A policy is a preset's name or its fields. Everything is looked up inside the token's project.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Field, Router, Schema
from pydantic import ConfigDict

from compression.engine.document import replay_document, window_document
from compression.engine.history import History
from compression.engine.policy import InvalidPolicy, Policy, build
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.transcripts import from_session
from sessions.api import session_of
from sessions.api_auth import ApiRequest, Bearer
from sessions.api_errors import ApiError
from sessions.models import Session

router = Router(tags=["replays"])


class ReplayRequest(Schema):
    """What to replay: the name of a preset, or the fields of a policy (``extends`` names what it starts from)."""

    model_config = ConfigDict(extra="forbid")

    policy: str | dict[str, Any] = "hermes"
    history: Literal["uncompacted", "as-recorded"] = "uncompacted"
    turn: int | None = Field(default=None, ge=0, description="Only this turn's row.")


def policy_named(name: str) -> Policy:
    """A preset; a file is no policy of the API's."""
    if name not in PRESETS:
        raise ApiError(422, "unknown_policy", f"There is no policy {name!r}.", f"Presets: {', '.join(PRESETS)}.")
    return PRESETS[name]


def policy_from(given: str | dict[str, Any]) -> Policy:
    """A preset by its name, or a policy of its own by its fields."""
    if isinstance(given, str):
        return policy_named(given)
    try:
        return build(given, "policy")
    except InvalidPolicy as error:
        hint = "`manage.py policy schema` prints the fields."
        raise ApiError(422, "invalid_policy", "; ".join(error.faults), hint) from None


def replayed(session: Session, policy: Policy, history: History) -> Replay:
    """The replay of a stored session."""
    subject = from_session(session)
    return replay(subject.transcript, policy, subject.calibration, history=history, prices=subject.prices)


def existing_turn(done: Replay, turn: int) -> int:
    """A turn of this session, or 404."""
    turns = len(done.transcript.turns)
    if turn >= turns:
        hint = f"It has turns 0-{turns - 1}." if turns else "It has no turns."
        raise ApiError(404, "no_such_turn", f"This session has no turn {turn}.", hint)
    return turn


@router.get("sessions/{id:session_id}/window", auth=Bearer("read"), summary="The window at a turn")
def read_window(
    request: ApiRequest,
    session_id: int,
    turn: Annotated[int, Field(ge=0, le=1_000_000_000)],
    policy: str = "hermes",
    side: Literal["before", "after", "both"] = "both",
    history: Literal["uncompacted", "as-recorded"] = "uncompacted",
) -> dict[str, Any]:
    """Every block of the window, as it was and as the policy would have left it."""
    done = replayed(session_of(request, session_id), policy_named(policy), history)
    return window_document(done, existing_turn(done, turn), side)


@router.post("sessions/{id:session_id}/replay", auth=Bearer("read"), summary="Replay a policy")
def replay_session(request: ApiRequest, session_id: int, wanted: ReplayRequest) -> dict[str, Any]:
    """What `manage.py replay --json` prints. Nothing is stored."""
    session = session_of(request, session_id)
    done = replayed(session, policy_from(wanted.policy), wanted.history)
    turn = None if wanted.turn is None else existing_turn(done, wanted.turn)
    return replay_document(done, session=str(session.pk), counter=done.stubber.counter.name, turn=turn)
