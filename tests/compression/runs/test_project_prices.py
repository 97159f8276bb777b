"""Prices that a project sets: which models they are for, what is worked out again, and the page that takes them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from compression import execution
from compression.engine.policy import build
from compression.engine.presets import PRESETS
from compression.engine.pricing import Prices, prices_for
from compression.models import ProjectPrices, RunResult, StoredReplay
from compression.project_prices import digest_of, forget_prices, own_prices, prices_of
from compression.replays import stored_replay
from compression.transcripts import from_session
from sessions.models import Membership, Project, Session
from tests.compression.runs.pricing import PRICES, priced
from tests.compression.runs.starting import SMALL_WINDOW, queued, results, three_sessions
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.django_db

KNOWN = "claude-sonnet-4-5"


def again(session: Session) -> Session:
    """As another request finds it."""
    return Session.objects.select_related("project__prices").get(pk=session.pk)


def known_session(project: Project) -> Session:
    session = parsed(3, key="known")
    session.models = [KNOWN]
    return store(session, project)


def test_a_project_without_prices_has_none(project: Project) -> None:
    assert (prices_of(project), digest_of(project)) == (None, "")


def test_prices_are_taken_as_they_were_set(project: Project) -> None:
    found = prices_of(priced(project, note="the contract"))

    today = datetime.now(UTC).date().isoformat()
    assert found == Prices("", **PRICES, source="set by the project: the contract", as_of=today)


def test_without_a_price_there_are_no_dollars_and_a_warning_says_so(project: Project) -> None:
    summary = stored_replay(store(parsed(3), project), PRESETS["none"]).summary

    assert (summary["cost_usd"], summary["cost_usd_none"]) == (None, None)
    assert any("no price is known for the model m-1" in warning for warning in summary["price_warnings"])


def test_a_price_for_unknown_models_leaves_known_ones_to_the_table(project: Project) -> None:
    known, unknown = known_session(project), store(parsed(3), project)
    mine = priced(project)

    assert own_prices(mine, from_session(again(known)).transcript) is None
    assert own_prices(mine, from_session(again(unknown)).transcript) == {"m-1": prices_of(mine)}


def test_a_price_for_all_models_takes_the_place_of_the_table(project: Project) -> None:
    session = known_session(project)
    mine = priced(project, scope="all")

    assert prices_for(KNOWN, None) is not None
    assert own_prices(mine, from_session(again(session)).transcript) == prices_of(mine)


def test_other_prices_give_other_dollars_and_the_earlier_replay_goes(project: Project) -> None:
    session = store(parsed(4), project)
    assert stored_replay(session, PRESETS["none"]).summary["cost_usd"] is None

    priced(project)
    first = Decimal(stored_replay(again(session), PRESETS["none"]).summary["cost_usd"])
    priced(project, **{name: 2 * amount for name, amount in PRICES.items()})
    second = Decimal(stored_replay(again(session), PRESETS["none"]).summary["cost_usd"])

    assert first > 0
    assert second == 2 * first
    assert StoredReplay.objects.get(session=session).prices_digest == digest_of(again(session).project)


def test_the_same_prices_work_nothing_out_again(project: Project) -> None:
    session = store(parsed(4), project)
    priced(project)
    stored_replay(again(session), PRESETS["none"])
    before = StoredReplay.objects.get(session=session).created_at

    priced(project)
    stored_replay(again(session), PRESETS["none"])

    assert StoredReplay.objects.get(session=session).created_at == before


def test_what_no_policy_costs_stands_beside_what_the_policy_costs(project: Project) -> None:
    session = store(parsed(14, lines=60), project)
    priced(project)

    policy = stored_replay(again(session), build(SMALL_WINDOW, "test")).summary
    none = stored_replay(again(session), PRESETS["none"]).summary

    assert policy["cost_usd_none"] == none["cost_usd"] == none["cost_usd_none"]
    assert policy["cost_usd"] != none["cost_usd"]


def test_the_command_charges_a_stored_session_at_its_projects_prices(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    session = store(parsed(4), project)
    priced(project)

    call_command("replay", str(session.pk), "--policy", "none", "--json")

    summary = orjson.loads(capsys.readouterr().out)["summary"]
    assert summary["cost_usd"] == stored_replay(again(session), PRESETS["none"]).summary["cost_usd"]


def test_a_run_whose_prices_changed_meanwhile_says_so_and_mixes_nothing(project: Project) -> None:
    three_sessions(project)
    run = queued(project)
    priced(project)

    execution.work(run.pk)

    assert {result.state for result in results(run)} == {RunResult.State.FAILED}
    assert "the project's prices have changed since it was started" in results(run)[0].error


GIVEN = {"scope": "unknown", "input": "3", "output": "15", "cache_read": "0.30", "cache_write": "3.75",
         "cache_write_long": "6", "note": "the contract"}  # fmt: skip


def test_an_owner_sets_and_removes_prices(signed_in: Client, project: Project) -> None:
    response = signed_in.post("/projects/apollo/prices/set/", GIVEN)

    assert response["Location"] == "/projects/apollo/prices/"
    row = ProjectPrices.objects.get(project=project)
    assert (row.scope, row.input, row.cache_read, row.note) == ("unknown", Decimal(3), Decimal("0.3"), "the contract")

    signed_in.post("/projects/apollo/prices/remove/")
    assert not ProjectPrices.objects.exists()


@pytest.mark.parametrize(
    ("field", "given", "fault"),
    [
        ("input", "", "Give a price; 0 if it costs nothing."),
        ("input", "three", "Give a number of dollars, such as 3 or 0.30."),
        ("input", "NaN", "Give a number of dollars, such as 3 or 0.30."),
        ("output", "-1", "A price is never below 0."),
        ("output", "10001", "This is dollars for a million tokens: more than 10000 is not taken."),
        ("input", "0.1234567", "Six digits after the point are kept, no more."),
        ("cache_read", "4", "A read from the cache costs no more than plain input."),
    ],
)
def test_a_price_that_makes_no_sense_is_refused_in_words(
    signed_in: Client, project: Project, field: str, given: str, fault: str
) -> None:
    response = signed_in.post("/projects/apollo/prices/set/", {**GIVEN, field: given})

    assert response.status_code == 422
    assert response.context["form"].errors == {field: [fault]}
    assert not ProjectPrices.objects.exists()


def test_the_page_says_which_models_have_no_price(signed_in: Client, project: Project) -> None:
    known_session(project)
    store(parsed(2), project)

    rows = {row.name: row for row in signed_in.get("/projects/apollo/prices/").context["models"]}

    assert (rows["m-1"].prices, rows["m-1"].is_own, rows["m-1"].sessions) == (None, False, 1)
    assert rows[KNOWN].prices == prices_for(KNOWN, None)


def test_a_member_sees_prices_and_cannot_set_them(client: Client, project: Project, stranger: User) -> None:
    Membership.objects.create(project=project, user=stranger, role=Membership.Role.MEMBER)
    priced(project)
    client.force_login(stranger)

    page: Any = client.get("/projects/apollo/prices/")

    assert page.status_code == 200
    assert '<form class="priceform"' not in page.text
    assert client.post("/projects/apollo/prices/set/", GIVEN).status_code == 403


def test_prices_that_are_forgotten_leave_no_dollars(project: Project) -> None:
    session = store(parsed(3), project)
    forget_prices(priced(project))

    assert stored_replay(again(session), PRESETS["none"]).summary["cost_usd"] is None
