"""The verb of live agents: compress the request that is about to be sent, keep its originals, say what was done.

Takes the body of ``POST compress`` as bytes, because what is not edited has to stay byte for byte. Nothing is stored
for a request that is refused, rolled back or below its trigger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import orjson

from compression import metrics, policies
from compression.dialects.bodies import document, read_messages
from compression.dialects.raw_json import Value
from compression.dialects.request import DIALECTS, Dialect, Request, Unreadable
from compression.engine.document import event_fields
from compression.engine.edits import Event
from compression.engine.planner import Known
from compression.engine.policy import Policy, build
from compression.engine.proposals import Proposals
from compression.engine.snapshots import digest
from compression.engine.stubs import Stubber
from compression.engine.tokens import default_counter, part_texts
from compression.live_store import KnownOriginals, changed_as_before, keep, known_stubs, taken_addresses
from compression.live_summaries import model_summaries
from compression.live_window import Outcome, compress_request, edit_place
from compression.policy_keys import chosen
from compression.summarizers import Outcome as Asked
from sessions.models import Project

MOST_BYTES = 32 * 1024 * 1024
"""As large a request as a provider takes."""

LONGEST_NAME = 200
MOST_HIDDEN = 10_000_000
_FIELDS = (
    "project", "session", "policy", "model", "hidden_tokens", "dialect", "system", "tools", "messages", "force",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the body of a call asks for. ``project``: its slug, or empty for the token's own. ``policy``: a key, the
    fields of one, or None for the one in force."""

    request: Request
    project: str
    session: str = ""
    policy: str | dict[str, Any] | None = None
    model: str = ""
    hidden_tokens: int = 0
    force: bool = False


def wanted(body: bytes) -> Wanted:
    """What a body asks for; Unreadable names the field and what it should be."""
    top = document(body)
    if top.kind != "object":
        raise Unreadable("body", "is not an object", 'send {"project": ..., "messages": [...]}')
    members = top.members()
    unknown = sorted(set(members) - set(_FIELDS))
    if unknown:
        raise Unreadable(unknown[0][:80], "is no field of this operation", f"fields: {', '.join(_FIELDS)}")
    given = {name: value for name, value in members.items() if value.source != b"null"}
    return Wanted(
        request=read_messages(body, members.get("messages"), _dialect(given), given.get("system"), given.get("tools")),
        project=_text(given, "project"),
        session=_text(given, "session"),
        policy=_policy(given),
        model=_text(given, "model"),
        hidden_tokens=_hidden(given),
        force=_flag(given, "force"),
    )


def _text(given: Mapping[str, Value], name: str) -> str:
    if name not in given:
        return ""
    text = given[name].text()
    if text is None or len(text) > LONGEST_NAME or not text.isprintable():
        raise Unreadable(name, f"is not a text of at most {LONGEST_NAME} printable characters")
    return text


def _dialect(given: Mapping[str, Value]) -> Dialect | None:
    name = _text(given, "dialect")
    for dialect in DIALECTS:
        if name == dialect:
            return dialect
    if name:
        raise Unreadable("dialect", f"{name[:40]!r} is none", f"use {' or '.join(DIALECTS)}, or leave it out")
    return None


def _policy(given: Mapping[str, Value]) -> str | dict[str, Any] | None:
    if "policy" not in given:
        return None
    if given["policy"].kind == "object":
        fields: dict[str, Any] = given["policy"].decoded()
        return fields
    if given["policy"].kind != "string":
        raise Unreadable("policy", "is neither a name nor an object", "send a preset, a version (v3) or fields")
    return _text(given, "policy")


def _hidden(given: Mapping[str, Value]) -> int:
    value = given["hidden_tokens"].decoded() if "hidden_tokens" in given else 0
    if type(value) is not int or not 0 <= value <= MOST_HIDDEN:
        raise Unreadable("hidden_tokens", "is not a number of tokens", f"send a whole number, 0 to {MOST_HIDDEN:,}")
    return value


def _flag(given: Mapping[str, Value], name: str) -> bool:
    value = given[name].decoded() if name in given else False
    if not isinstance(value, bool):
        raise Unreadable(name, "is neither true nor false")
    return value


def policy_for(project: Project, given: str | dict[str, Any] | None) -> Policy:
    """The policy of a call: the project's own unless it names one. UnknownKey and InvalidPolicy say what is wrong."""
    if given is None:
        return policies.in_force(project).policy
    return chosen(project, given).policy if isinstance(given, str) else build(given, "policy")


def compress(*, project: Project, call: Wanted) -> bytes:
    """The answer as JSON; its ``messages`` are what the agent sends. Originals are stored before this returns."""
    began = perf_counter()
    policy = policy_for(project, call.policy)
    request, applied = changed_as_before(project, call.session, call.request) if call.session else (call.request, 0)
    outcome, asked = _outcome(project, request, policy, call)
    if outcome.stubs or outcome.snapshots or outcome.change.left:
        keep(
            project=project,
            snapshots=outcome.snapshots,
            stubs=outcome.stubs,
            session=call.session,
            request=request,
            change=outcome.change,
        )
    metrics.count("live", outcome.events, perf_counter() - began)
    return answer(request, outcome, policy, applied, asked)


@lru_cache(maxsize=1)
def _prepared() -> Proposals:
    """What was worked out of results as they came, for all agents of this process; bounded by itself."""
    return Proposals(default_counter())


def _outcome(project: Project, request: Request, policy: Policy, call: Wanted) -> tuple[Outcome, list[Asked]]:
    texts = {text for message in request.messages for part in message.parts for text in part_texts(part)[-1:]}
    known = known_stubs(project, {digest(text) for text in texts})
    originals = KnownOriginals(project, known.values())

    def run(stubber: Stubber) -> Outcome:
        return compress_request(
            request,
            policy,
            model=call.model,
            hidden_tokens=call.hidden_tokens,
            force=call.force,
            known=Known(known, originals.get),
            stubber=stubber,
        )

    outcome = run(Stubber(proposals=_prepared()))
    asked = model_summaries(outcome, policy)
    clear = taken_addresses(project, outcome.snapshots) if outcome.snapshots else None
    if clear is not None or asked.texts:
        outcome = run(Stubber(addresses=clear, summaries=asked.texts, proposals=_prepared()))
    return outcome, asked.outcomes


def answer(request: Request, outcome: Outcome, policy: Policy, applied: int, asked: Sequence[Asked] = ()) -> bytes:
    """The answer's JSON around the very bytes of the messages."""

    def published(event: Event) -> dict[str, Any]:
        return {**event_fields(event), "edits": [edit_place(request, edit) for edit in event.edits]}

    event = outcome.event
    rest = orjson.dumps(
        {
            "event": published(event) if event else None,
            "events": [published(event) for event in outcome.events],
            "addresses": outcome.addresses,
            "alarms": outcome.alarms,
            "memory_note": outcome.memory_note,
            "summaries": [asdict(one) for one in asked],
            "usage": {
                "before": outcome.before,
                "after": outcome.after,
                "context_window": outcome.context_window,
                "fits": outcome.fits,
                "changed_as_before": applied,
                "policy": {"name": policy.name, "digest": policy.digest},
            },
        }
    )
    return b'{"messages":' + outcome.body + b"," + rest[1:]
