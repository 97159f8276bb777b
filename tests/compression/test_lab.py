"""The lab's page: pasted and picked outputs, what it shows of them, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compression.engine.presets import PRESETS
from compression.lab_page import DROPPED_SHOWN, KEPT_SHOWN, LINE_CHARS, ROWS_SHOWN, runs
from compression.models import Snapshot
from compression.policies import adopt, save_version
from compression.recall import stored_original
from sessions.importers.parsed import Part
from sessions.models import Message, Project, Session
from tests.compression.sessions import parsed, store, with_event

pytestmark = pytest.mark.django_db

TABLE = "name,age\n" + "\n".join(f"person_{n},{n}" for n in range(300))
HTMX = {"HX-Request": "true"}


@pytest.fixture
def session(project: Project) -> Session:
    """Three results, of which the second (message 4) is the largest."""
    recorded = parsed(3)
    recorded.messages[4].parts = [Part("tool_result", TABLE, call_id="call-1", name="Bash")]
    return store(recorded, project)


def address(project: Project) -> str:
    return reverse("compression:lab", args=[project.slug])


def pick(session: Session, message: int = 4, **more: Any) -> dict[str, Any]:
    return {"session": session.pk, "message": message, **more}


# -- a pasted output


def test_a_pasted_output_is_compressed_and_stored_nowhere(signed_in: Client, project: Project) -> None:
    response = signed_in.post(address(project), {"text": TABLE, "budget": "120", "others": "1"})

    page = response.content.decode()
    assert response.status_code == 200
    assert "[compressed table · 301 lines" in page
    assert "pasted text is stored nowhere" in page
    assert "manage.py recall" not in page
    assert not Message.objects.exists()
    assert not Snapshot.objects.exists()


def test_a_paste_needs_a_token_against_forgery(user: User, project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)

    assert client.post(address(project), {"text": TABLE}).status_code == 403


def test_hostile_text_is_shown_as_text(signed_in: Client, project: Project) -> None:
    hostile = "<script>alert(1)</script>\u202e\x1b]0;x\x07</textarea>\n" * 200

    response = signed_in.post(
        address(project), {"text": hostile, "tool": "<b>", "arguments": "<i>", "kind": "prose", "others": "1"}
    )

    page = response.content.decode()
    assert "<script>alert" not in page
    assert page.count("</textarea>") == 1
    assert 'value="&lt;b&gt;"' in page
    assert "‹U+202E›" in page


@pytest.mark.parametrize(
    ("given", "label", "why"),
    [
        ({"text": TABLE, "kind": "poem"}, "Kind", "poem is not one of the available choices"),
        ({"text": TABLE, "budget": "5"}, "Budget", "greater than or equal to 40"),
        ({"text": TABLE, "policy": "nonsense"}, "Policy", "there is no policy"),
        ({"text": TABLE, "policy": "codex"}, "Policy", "codex makes no stubs of its own"),
        ({"text": TABLE, "kind": "log", "allocation": "novelty"}, "Allocation", "leave the kind open"),
        (
            {"text": "é" * 500_001},
            "Tool output",
            "It has 1\u202f000\u202f002 bytes, the lab takes 1\u202f000\u202f000.",
        ),
    ],
)
def test_what_makes_no_sense_is_named(
    signed_in: Client, project: Project, given: dict[str, str], label: str, why: str
) -> None:
    response = signed_in.post(address(project), given)

    page = response.content.decode()
    assert response.status_code == 422
    assert f"<b>{label}</b>" in page
    assert why in page


def test_a_megabyte_is_taken(signed_in: Client, project: Project) -> None:
    response = signed_in.post(address(project), {"text": "word " * 200_000})

    assert response.status_code == 200
    assert response.context["tried"].stub is not None


def test_a_text_that_fits_says_why_nothing_is_saved(signed_in: Client, project: Project) -> None:
    page = signed_in.post(address(project), {"text": "all is well"}).content.decode()

    assert "Nothing is saved: it stays as it is" in page
    assert "fit the budget of 150" in page


def test_kind_budget_allocation_and_policy_are_obeyed(signed_in: Client, project: Project) -> None:
    given = {"text": TABLE, "kind": "log", "budget": "90", "allocation": "per_result", "policy": "chapter"}

    tried = signed_in.post(address(project), given).context["tried"]

    assert (tried.content.kind, tried.budget, tried.allocation) == ("log", 90, "per_result")


def test_where_the_policy_in_force_makes_no_stubs_hermes_does(signed_in: Client, project: Project, user: User) -> None:
    adopt(version=save_version(project=project, policy=PRESETS["codex"], author=user), by=user)

    response = signed_in.post(address(project), {"text": TABLE})

    assert response.context["form"].choice.key == "hermes"


def test_references_are_not_offered_where_a_stub_is_made(signed_in: Client, project: Project) -> None:
    groups = signed_in.get(address(project)).context["form"].policy_groups()

    offered = [option.key for _heading, options in groups for option in options]
    assert offered == ["hermes", "chapter", "cache-first", "recall-first", "sliding-window"]


# -- a picked output


def test_a_result_of_a_session_is_picked_with_its_call(signed_in: Client, project: Project, session: Session) -> None:
    response = signed_in.get(address(project), pick(session, budget=100))

    output = response.context["output"]
    assert (output.text, output.tool, output.arguments) == (TABLE, "Bash", '{"command":"cat var/log/1.log"}')
    assert response.context["tried"].budget == 100


def test_the_recall_command_of_a_stored_original_leads_back(
    signed_in: Client, project: Project, session: Session
) -> None:
    response = signed_in.get(address(project), pick(session))

    stub = response.context["tried"].stub
    assert f"python manage.py recall {stub.address} --project apollo" in response.content.decode()
    assert stored_original("apollo", stub.address) == (stub.sha256, TABLE.encode())


def test_the_address_of_a_picked_output_holds_all_that_was_chosen(
    signed_in: Client, project: Project, session: Session
) -> None:
    query = pick(session, kind="log", budget=90, allocation="per_result", policy="chapter")

    page = signed_in.get(address(project), query).content.decode()

    for chosen in ('value="log" selected', 'value="90"', 'value="per_result" selected', 'value="chapter" selected'):
        assert chosen in page


def test_a_message_of_another_projects_session_is_not_there(
    signed_in: Client, project: Project, other_project: Project
) -> None:
    theirs = with_event(other_project, exchanges=3)

    assert signed_in.get(address(project), pick(theirs, 2)).status_code == 404
    assert signed_in.get(address(project), {"session": theirs.pk}).status_code == 404


@pytest.mark.parametrize("message", [0, 1, 999])
def test_a_message_that_is_no_result_is_not_there(
    signed_in: Client, project: Project, session: Session, message: int
) -> None:
    assert signed_in.get(address(project), pick(session, message)).status_code == 404


def test_a_session_offers_its_largest_results_first(signed_in: Client, project: Project, session: Session) -> None:
    response = signed_in.get(address(project), {"session": str(session.pk), "budget": "90"})

    picks = response.context["picks"]
    assert [pick.message for pick in picks] == [4, 6, 2]
    assert picks[0].url == f"{address(project)}?session={session.pk}&budget=90&message=4"


def test_without_an_output_the_sessions_with_results_are_offered(
    signed_in: Client, project: Project, session: Session
) -> None:
    response = signed_in.get(address(project))

    assert [one.pk for one in response.context["sessions"]] == [session.pk]


def test_an_empty_project_says_what_to_do(signed_in: Client, project: Project) -> None:
    page = signed_in.get(address(project)).content.decode()

    assert "No session with tool results yet" in page
    assert "Upload one to the project" in page


# -- elsewhere


def test_the_table_is_fetched_after_the_page(signed_in: Client, project: Project, session: Session) -> None:
    response = signed_in.get(address(project), pick(session, budget=90))

    link = f"{address(project)}?session={session.pk}&message=4&budget=90&others=1"
    assert "rows" not in response.context
    assert f'hx-get="{link.replace("&", "&amp;")}"' in response.content.decode()


def test_htmx_gets_the_table_alone(signed_in: Client, project: Project, session: Session) -> None:
    response = signed_in.get(address(project), pick(session, others=1), headers=HTMX)

    assert response.content.decode().startswith('<section id="lab-others"')


def test_without_htmx_the_table_stands_in_the_page(signed_in: Client, project: Project, session: Session) -> None:
    page = signed_in.get(address(project), pick(session, others=1)).content.decode()

    assert page.startswith("<!doctype html>")
    assert '<table class="list labothers">' in page


def test_the_table_has_a_line_for_every_policy_that_acts(signed_in: Client, project: Project, session: Session) -> None:
    rows = signed_in.get(address(project), pick(session, others=1)).context["rows"]

    acting = [name for name, policy in PRESETS.items() if policy.strategy not in ("none", "recorded")]
    assert [row.label for row in rows] == acting


def test_a_version_that_was_chosen_comes_first(
    signed_in: Client, project: Project, session: Session, user: User
) -> None:
    policy = PRESETS["chapter"].model_copy(update={"name": "tight"})
    version = save_version(project=project, policy=policy, author=user, note="first try")

    rows = signed_in.get(address(project), pick(session, policy="v1", others=1)).context["rows"]

    assert [row.label for row in rows[:2]] == [str(version), "hermes"]


def test_what_is_saved_is_a_share_of_the_output(signed_in: Client, project: Project, session: Session) -> None:
    response = signed_in.get(address(project), pick(session, others=1))

    tokens = response.context["tried"].tokens
    by = {row.label: row for row in response.context["rows"]}
    assert by["chapter"].saved == 1 - by["chapter"].found.tokens / tokens
    assert (by["codex"].found.fate, by["codex"].saved) == ("left", 1.0)
    assert (by["deepagents-eviction"].found.fate, by["deepagents-eviction"].saved) == ("whole", 0.0)


# -- lines


def test_dropped_lines_fold() -> None:
    shown, rest = runs([("kept", True), *[(f"line {n}", False) for n in range(1_204)], ("end", True)])

    assert [(run.is_kept, run.lines[0], len(run.lines), run.more) for run in shown] == [
        (True, (1, "kept"), 1, 0),
        (False, (2, "line 0"), DROPPED_SHOWN, 1_204 - DROPPED_SHOWN),
        (True, (1_206, "end"), 1, 0),
    ]
    assert rest == 0


def test_a_fold_of_one_line_is_not_worth_it() -> None:
    [run], _rest = runs([(f"line {n}", False) for n in range(DROPPED_SHOWN + 1)])

    assert (len(run.lines), run.more) == (DROPPED_SHOWN + 1, 0)


def test_many_kept_lines_fold_too() -> None:
    [run], _rest = runs([(f"line {n}", True) for n in range(5_000)])

    assert (len(run.lines), run.more) == (KEPT_SHOWN, 5_000 - KEPT_SHOWN)


def test_no_more_rows_are_shown_than_a_page_bears() -> None:
    shown, rest = runs([(f"line {n}", n % 2 == 0) for n in range(10_000)])

    assert sum(len(run.lines) for run in shown) == ROWS_SHOWN
    assert rest == 10_000 - ROWS_SHOWN


def test_a_long_line_is_cut() -> None:
    [run], _rest = runs([("x" * (LINE_CHARS + 1_500), False)])

    assert run.lines == ((1, f"{'x' * LINE_CHARS} … 1,500 more characters"),)
