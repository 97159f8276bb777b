"""Every number on a compare page, worked out again from what ``replay --json`` says of turns and events.

Own arithmetic by the definitions of the figures: no summary, no ledger and no sum of the product is asked. The prices
are the tests' own, so that dollars can be added up here, exactly.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from statistics import median
from typing import Any

import pytest
from django.test import Client

from compression.compare import FIGURES
from compression.engine.document import replay_document
from compression.engine.policy import Policy, build
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.policies import save_version
from compression.transcripts import from_session
from sessions.models import Project, Session
from tests.compression.runs.pricing import PRICES, priced
from tests.compression.runs.starting import SMALL_WINDOW, finished, three_sessions

pytestmark = pytest.mark.django_db

SLIDING = {"extends": "sliding-window", "context_window": 12_000, "recent_tokens": 2_000, "name": "slides"}
POLICIES = (PRESETS["none"], build(SMALL_WINDOW, "test"), build(SLIDING, "test"))
LADDER = ("aggressive", "truncate", "archive", "rezone", "incompressible")
OWN = ("compress", "arrival", "aggressive", "truncate", "archive", "rezone")


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    found = three_sessions(project)
    priced(project)
    for policy in POLICIES[1:]:
        save_version(project=project, policy=policy, author=None)
    return found


def raw(session: Session, policy: Policy) -> tuple[dict[str, Any], Replay]:
    """The document of a replay, which says everything turn by turn and event by event; its summary is thrown away."""
    subject = from_session(Session.objects.get(pk=session.pk))
    done = replay(subject.transcript, policy, subject.calibration, prices=subject.prices)
    document = replay_document(done, session="s", counter="c")
    del document["summary"]
    return document, done


def part(of: float, whole: float) -> float | None:
    return round(of / whole, 6) if whole else None


def dollars(turn: Mapping[str, Any], lifetime_s: int) -> Decimal:
    write = PRICES["cache_write_long"] if lifetime_s > 600 else PRICES["cache_write"]
    cache = turn["cache"]
    paid: Decimal = (
        cache["read"] * PRICES["cache_read"]
        + cache["write"] * write
        + cache["uncached"] * PRICES["input"]
        + turn["output"]["tokens"] * PRICES["output"]
    )
    return paid / 1_000_000


def calls_to_break_even(document: Mapping[str, Any], event: Mapping[str, Any]) -> float | None:
    """n = (w rho - r) / (r (1 - rho)); 0 on a cold cache, and where nothing that was cached changes."""
    lifetime = document["cost"]["lifetime"]["seconds"]
    turn = event["turn"]
    if not event["edits"] and not event["left"]:
        return None
    kept = round(event["cache_prefix_survival"] * event["before"])
    idle = document["turns"][turn]["idle_s"]
    cached = document["turns"][turn - 1]["tokens"]["after"] if turn else 0
    if (idle is not None and idle > lifetime) or kept >= cached:
        return 0.0
    read = float(PRICES["cache_read"] / PRICES["input"])
    write = float((PRICES["cache_write_long"] if lifetime > 600 else PRICES["cache_write"]) / PRICES["input"])
    rho = (event["after"] - kept) / (event["before"] - kept)
    return None if rho >= 1 else max(0.0, (write * rho - read) / (read * (1 - rho)))


def first_that_does_not_fit(document: Mapping[str, Any], done: Replay) -> int | None:
    limit = done.context_window - done.policy.reserve_output
    return next((t["index"] for t in document["turns"] if t["tokens"]["after"] > limit), None)


def addresses(done: Replay) -> tuple[int, int]:
    """(addresses that lead to the very original, addresses)."""
    kept = good = 0
    for event in done.events:
        for edit in event.edits:
            if edit.address:
                body = done.transcript.messages[edit.message].parts[edit.part].text.encode(errors="surrogatepass")
                kept += 1
                good += hashlib.sha256(body).hexdigest().startswith(edit.address.rpartition(":")[2].rpartition("/")[2])
        if event.note is not None and event.note.address:
            kept += 1
            good += event.note.sha256.startswith(event.note.address.rpartition(":")[2].rpartition("/")[2])
    return good, kept


def figures(document: Mapping[str, Any], done: Replay) -> dict[str, Any]:
    """Every figure of the table, but the share of tool results and of true claims, from turns and events."""
    turns, events = document["turns"], document["events"]
    changes = [event for event in events if event["kind"] in OWN and event["reclaimed"]]
    lifetime = document["cost"]["lifetime"]["seconds"]
    caches = [turn["cache"] for turn in turns]
    read, whole = sum(c["read"] for c in caches), sum(c["read"] + c["write"] + c["uncached"] for c in caches)
    busts = [c["bust"]["cause"] for c in caches if c["bust"]]
    paid = [calls for event in events if (calls := calls_to_break_even(document, event)) is not None]
    needed = [event["retention"]["all"] for event in events if event["retention"]]
    names = sum(one["n"] for one in needed)
    before, after = (sum(turn["tokens"][side] for turn in turns) for side in ("before", "after"))
    overflow = first_that_does_not_fit(document, done)
    own = [event for event in events if event["kind"] == "compress"]
    close = sum(
        (n > 0 and event["turn"] - own[n - 1]["turn"] <= 3) or event["reclaimed"] < 0.1 * event["before"]
        for n, event in enumerate(own)
    )
    good, all_addresses = addresses(done)
    hidden = turns[0]["tokens"]["hidden"]
    return {
        "session_saved": part(before - after, before),
        "request_saved": part(
            sum(e["before"] - e["after"] for e in changes), sum(e["before"] - hidden for e in changes)
        ),
        "cost_usd": sum((dollars(turn, lifetime) for turn in turns), Decimal(0)),
        "hit_rate": part(read, whole),
        "rewrites": sum(cause != "expiry" for cause in busts),
        "expiries": sum(cause == "expiry" for cause in busts),
        "unforced_breaks": sum(finding["turn"] is not None for finding in document["stability"]),
        "break_even": round(median(paid), 2) if paid else None,
        "rlr_view": part(sum(round((one["view"] or 0) * one["n"]) for one in needed), names),
        "sent_after": after,
        "peak_after": max(turn["tokens"]["after"] for turn in turns),
        "overflow_turn": overflow,
        "turns_lost": 0 if overflow is None else len(turns) - overflow,
        "events": len(changes),
        "thrash": part(100 * close, len(turns)),
        "ladder": sum(event["kind"] in LADDER for event in events),
        "stubs": len({(e["message"], e["part"]) for event in changes for e in event["edits"] if e["address"]}),
        "skipped_events": sum(1 + event["repeats"] for event in events if event["kind"] == "skip"),
        "target_unreachable": sum(event["target_unreachable"] is not None for event in events),
        "violations": 0,
        "recall_integrity": part(good, all_addresses) if all_addresses else 1.0,
    }


def tool_saved(done: Replay) -> float | None:
    """Share of the tool results of the windows at the events that were freed, but for events that took messages out."""
    transcript = done.transcript
    sizes = {
        (message.index, j): transcript.counts[message.index][j]
        for message in transcript.messages
        for j, part in enumerate(message.parts)
        if part.kind == "tool_result"
    }
    gone, before, after = set[int](), 0, 0
    for event in done.events:
        if event.kind not in OWN or not event.reclaimed:
            continue
        end = transcript.turns[event.turn].request_end
        held = [place for place in sizes if place[0] < end and place[0] not in gone]
        around = MESSAGE_OVERHEAD * len(held)
        earlier = around + sum(sizes[place] for place in held)
        sizes |= {(e.message, e.part): e.tokens_after for e in event.edits if (e.message, e.part) in sizes}
        if event.left:
            gone.update(event.left)
            continue
        before, after = before + earlier, after + around + sum(sizes[place] for place in held)
    return part(before - after, before)


def untrue_numbers(done: Replay) -> list[str]:
    """Numbers of six digits and more in stubs that stand nowhere in what they replace."""
    found = []
    for event in done.events:
        for edit in event.edits:
            original = done.transcript.messages[edit.message].parts[edit.part].text
            kept = edit.text.partition(edit.address)[0] if edit.address else edit.text
            found += [number for number in re.findall(r"\b\d{6,}\b", kept) if number not in original]
    return found


def asked(client: Client, **query: Any) -> Any:
    return client.get("/projects/apollo/compare/", {"a": "none", "b": "v1", "c": "v2", **query}).context


@pytest.mark.parametrize("at", [0, 1, 2])
def test_every_number_of_a_session_under_three_policies(signed_in: Client, sessions: list[Session], at: int) -> None:
    wanted = [figures(*raw(sessions[at], policy)) for policy in POLICIES]

    context = asked(signed_in, session=sessions[at].pk)

    shown = {row.figure.name: row.values for row in context["figures"]}
    assert set(shown) == {figure.name for figure in FIGURES} == {*wanted[0], "tool_saved", "fidelity"}
    for name in wanted[0]:
        assert shown[name] == tuple(one[name] for one in wanted), name
    assert shown["tool_saved"] == pytest.approx(
        [tool_saved(raw(sessions[at], policy)[1]) for policy in POLICIES], abs=5e-4
    )
    assert shown["fidelity"] == (1.0, 1.0, 1.0)
    assert [untrue_numbers(raw(sessions[at], policy)[1]) for policy in POLICIES] == [[], [], []]


def test_every_mark_says_what_a_figure_is_against_the_first_policys(signed_in: Client, sessions: list[Session]) -> None:
    wanted = [figures(*raw(sessions[2], policy)) for policy in POLICIES]

    context = asked(signed_in, session=sessions[2].pk)

    for row in context["figures"]:
        name, direction = row.figure.name, row.figure.direction
        if name not in wanted[0] or direction == "none":
            continue
        first, others = wanted[0][name], [one[name] for one in wanted[1:]]
        assert row.marks == ("", *(mark(direction, first, other) for other in others)), name


def mark(direction: str, a: Any, b: Any) -> str:
    if direction == "later":
        a, b = (10**9 if value is None else value for value in (a, b))
    if a is None or b is None:
        return ""
    if a == b:
        return "same"
    return "better" if (b > a) == (direction != "less") else "worse"


def test_the_dollars_so_far_are_those_of_the_calls_up_to_each_turn(signed_in: Client, sessions: list[Session]) -> None:
    query = {"a": "none", "b": "v1", "c": "v2", "session": str(sessions[2].pk)}

    figure = json.loads(signed_in.get("/projects/apollo/compare/dollars/", query).content)

    lines = {line["name"]: line["y"] for line in figure["data"]}
    names = ("A: preset none", "B: v1 small", "C: v2 slides")
    assert lines == {name: so_far(raw(sessions[2], policy)[0]) for name, policy in zip(names, POLICIES, strict=True)}


def so_far(document: Mapping[str, Any]) -> list[float]:
    lifetime = document["cost"]["lifetime"]["seconds"]
    return [round(float(sum_), 6) for sum_ in accumulate(dollars(turn, lifetime) for turn in document["turns"])]


def runs_of(project: Project) -> None:
    fresh = Project.objects.get(pk=project.pk)
    finished(fresh, extends="none", name="none")
    finished(fresh)
    finished(fresh, **SLIDING)


def test_every_number_of_a_project_under_three_policies(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    save_version(project=project, policy=build({**SMALL_WINDOW, "extends": "none", "name": "none"}, "t"), author=None)
    policies = (build({**SMALL_WINDOW, "extends": "none", "name": "none"}, "t"), *POLICIES[1:])
    runs_of(project)
    documents = [[raw(session, policy) for session in sessions] for policy in policies]
    wanted = [[figures(*one) for one in rows] for rows in documents]

    context = asked(signed_in, a="v3")

    comparison = context["comparison"]
    shown = {row.figure.name: row.values for row in comparison.figures}
    assert (comparison.sessions, comparison.priced, comparison.computed) == (3, 3, 3)

    def sums(name: str) -> tuple[Any, ...]:
        return tuple(sum(one[name] for one in rows) for rows in wanted)

    for name in ("sent_after", "events", "ladder", "violations", "rewrites", "expiries", "unforced_breaks"):
        assert shown[name] == sums(name), name
    assert [round(cost, 9) for cost in shown["cost_usd"]] == [round(cost, 9) for cost in sums("cost_usd")]
    assert shown["session_saved"] == tuple(saved_of_all(rows) for rows in documents)
    assert shown["hit_rate"] == tuple(hits_of_all(rows) for rows in documents)
    assert shown["rlr_view"] == tuple(kept_of_all(rows) for rows in documents)
    assert shown["break_even"] == tuple(median_of([one["break_even"] for one in rows]) for rows in wanted)
    assert shown["overflows"] == tuple(sum(one["overflow_turn"] is not None for one in rows) for rows in wanted)


def saved_of_all(rows: Sequence[tuple[dict[str, Any], Replay]]) -> float | None:
    before, after = (
        sum(turn["tokens"][side] for document, _ in rows for turn in document["turns"]) for side in ("before", "after")
    )
    return part(before - after, before)


def hits_of_all(rows: Sequence[tuple[dict[str, Any], Replay]]) -> float | None:
    caches = [turn["cache"] for document, _ in rows for turn in document["turns"]]
    return part(sum(c["read"] for c in caches), sum(c["read"] + c["write"] + c["uncached"] for c in caches))


def kept_of_all(rows: Sequence[tuple[dict[str, Any], Replay]]) -> float | None:
    needed = [e["retention"]["all"] for document, _ in rows for e in document["events"] if e["retention"]]
    return part(sum(round((one["view"] or 0) * one["n"]) for one in needed), sum(one["n"] for one in needed))


def median_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 2) if known else None


@pytest.mark.parametrize(
    "by", ["session_saved", "cost_usd", "hit_rate", "rewrites", "break_even", "rlr_view", "overflow_turn", "events",
           "ladder", "violations"]
)  # fmt: skip
def test_every_number_of_the_table_of_sessions(
    signed_in: Client, project: Project, sessions: list[Session], by: str
) -> None:
    save_version(project=project, policy=build({**SMALL_WINDOW, "extends": "none", "name": "none"}, "t"), author=None)
    policies = (build({**SMALL_WINDOW, "extends": "none", "name": "none"}, "t"), *POLICIES[1:])
    runs_of(project)

    context = asked(signed_in, a="v3", by=by)

    shown = {row.session.pk: [cell.value for cell in row.cells] for row, _ in context["rows"]}
    wanted = {one.pk: [figures(*raw(one, policy))[by] for policy in policies] for one in sessions}
    assert shown == wanted
    losses = [worst_gain(by, wanted[row.session.pk]) for row, _ in context["rows"]]
    assert losses == sorted(losses)


def worst_gain(by: str, values: Sequence[Any]) -> float:
    direction = next(figure.direction for figure in FIGURES if figure.name == by)
    if direction == "later":
        values = [2_000_000_000 if value is None else value for value in values]
    first, *others = values
    sign = -1 if direction == "less" else 1
    return min(0.0 if None in (first, other) else sign * (float(other) - float(first)) for other in others)
