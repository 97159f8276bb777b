"""The policy page over HTTP: who may, what a preview leaves alone, and every verb with its way back."""

from __future__ import annotations

import hashlib
import json
import tomllib
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression import policies
from compression.engine.policy import Policy, parse
from compression.engine.presets import PRESETS
from compression.models import Adoption, PolicyVersion
from compression.policy_form import form_data
from sessions.models import Membership, Message, Original, Project, Session, Turn
from tests.compression.sessions import parsed, store, with_event

HERMES, CHAPTER = PRESETS["hermes"], PRESETS["chapter"]
PAGE = "/projects/apollo/policy/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def session(project: Project) -> Session:
    return with_event(project)


def typed(policy: Policy = HERMES, /, **changes: str) -> dict[str, str]:
    return {**form_data(policy), "seen": "0", **changes}


def saved(client: Client, **changes: str) -> PolicyVersion:
    seen = PolicyVersion.objects.count()
    response = client.post(f"{PAGE}save/", typed(**{"seen": str(seen), **changes}))
    assert response.status_code == 302
    return PolicyVersion.objects.latest("number")


def fingerprint() -> str:
    """sha256 over every stored row of every session."""
    found = hashlib.sha256()
    models: list[type[Model]] = [Session, Message, Turn, Original]
    for model in models:
        for row in model._default_manager.order_by("pk").values():
            found.update(repr(sorted(row.items())).encode())
    return found.hexdigest()


# who may


def test_anonymous_visitors_are_sent_to_sign_in(client: Client, project: Project) -> None:
    response = client.get(PAGE)

    assert response.status_code == 302
    assert response["Location"].startswith("/signin/")


ADDRESSES = [
    ("get", ""), ("post", "preview/"), ("post", "save/"), ("post", "undo/"), ("get", "diff/"), ("post", "import/"),
    ("post", "export/"), ("get", "export/in-force/"), ("post", "versions/1/adopt/"), ("post", "versions/1/restore/"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "address"), ADDRESSES)
def test_for_a_stranger_nothing_of_it_exists(
    client: Client, project: Project, user: User, stranger: User, method: str, address: str
) -> None:
    policies.save_version(project=project, policy=CHAPTER, author=user)
    client.force_login(stranger)

    response = getattr(client, method)(PAGE + address, typed() if method == "post" else {})

    assert response.status_code == 404
    assert (PolicyVersion.objects.count(), Adoption.objects.count()) == (1, 0)


@pytest.mark.parametrize("address", [address for method, address in ADDRESSES if method == "post"])
def test_a_link_changes_nothing(signed_in: Client, project: Project, address: str) -> None:
    assert signed_in.get(PAGE + address).status_code == 405


def test_a_form_without_its_token_is_refused(user: User, project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)

    assert client.post(f"{PAGE}save/", typed()).status_code == 403


def test_members_who_own_nothing_tune_as_well(client: Client, project: Project, stranger: User) -> None:
    Membership.objects.create(project=project, user=stranger, role=Membership.Role.MEMBER)
    client.force_login(stranger)

    assert saved(client, note="mine").author == stranger


def test_a_version_and_a_session_of_another_project_do_not_exist(
    signed_in: Client, project: Project, other_project: Project, session: Session, stranger: User
) -> None:
    foreign = store(parsed(2, key="foreign"), other_project)
    policies.save_version(project=other_project, policy=CHAPTER, author=stranger)

    assert signed_in.post(f"{PAGE}versions/1/adopt/").status_code == 404
    assert signed_in.get(f"{PAGE}?from=v1").status_code == 404
    assert signed_in.get(f"{PAGE}?session={foreign.pk}").context["session"] == session


# the page and its previews


def test_the_page_opens_on_the_session_with_the_highest_peak(
    signed_in: Client, project: Project, session: Session
) -> None:
    store(parsed(3, key="small"), project)

    response = signed_in.get(PAGE)

    assert response.status_code == 200
    assert response.context["session"] == session
    assert response.context["form"].policy == HERMES


def test_a_project_without_sessions_has_its_policy_too(signed_in: Client, project: Project) -> None:
    response = signed_in.get(PAGE)

    assert response.context["found"] is None
    assert "No session to try it on" in response.content.decode()


def test_a_preset_is_a_starting_point(signed_in: Client, project: Project, session: Session) -> None:
    response = signed_in.get(f"{PAGE}?from=chapter")

    assert response.context["form"].policy == CHAPTER
    assert response.context["origin"] == "preset chapter"
    assert PolicyVersion.objects.count() == 0


def test_previews_change_nothing_of_a_session(signed_in: Client, session: Session) -> None:
    before = fingerprint()

    for trigger in ("0.6", "0.55", "nonsense", "0.9"):
        signed_in.post(f"{PAGE}preview/", typed(trigger_ratio=trigger), headers=HTMX)
        signed_in.post(f"{PAGE}preview/", typed(trigger_ratio=trigger))

    assert fingerprint() == before
    assert (PolicyVersion.objects.count(), Adoption.objects.count()) == (0, 0)


def test_a_preview_redraws_fields_chart_and_table(signed_in: Client, session: Session) -> None:
    response = signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.6"), headers=HTMX)

    html = response.content.decode()
    assert response.status_code == 200
    assert "<!doctype html>" not in html
    assert '<p class="consequence" id="c-trigger_ratio" data-changed hx-swap-oob="true">' in html
    figure = json.loads(response.context["figure"])
    assert [line["name"] for line in figure["data"]] == ["none", "preset hermes", "draft"]
    assert figure["data"][2]["y"][-1] == response.context["found"].trial.replay.windows_after[-1]


def test_without_a_script_a_preview_is_the_page(signed_in: Client, session: Session) -> None:
    response = signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.6", note="why"))

    assert response.status_code == 200
    assert response.context["form"].raw("trigger_ratio") == "0.6"
    assert response.context["note"] == "why"


def test_an_impossible_draft_is_422_with_its_faults_and_stale_figures(signed_in: Client, session: Session) -> None:
    good = signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.6"), headers=HTMX).context["valid"]

    fragments = signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.4", valid=good), headers=HTMX)
    page = signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.4", valid=good))

    fault = "Target 0.5 must lie below Trigger 0.4: without a margin every call would be an event"
    assert (fragments.status_code, page.status_code) == (422, 422)
    assert fragments["HX-Reswap"] == "none"
    assert fragments.content.decode().count(fault) == 3
    assert page.context["found"].trial.draft.trigger_ratio == 0.6
    assert "Stale: the figures are those of the last draft that was valid." in page.content.decode()
    assert page.context["form"].raw("trigger_ratio") == "0.4"


def test_hostile_values_stay_text(signed_in: Client, session: Session) -> None:
    hostile = '"><script>alert(1)</script>'

    html = signed_in.post(
        f"{PAGE}preview/", typed(**{"recent_tokens": hostile, "pins-0-tool": hostile, "name": hostile, "note": hostile})
    ).content.decode()

    assert "<script>alert(1)</script>" not in html
    assert "&quot;&gt;&lt;script&gt;" in html


def test_a_preview_costs_the_same_queries_however_large_the_project(
    signed_in: Client, project: Project, session: Session, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        store(parsed(2, key=f"k{number}"), project)
    signed_in.post(f"{PAGE}preview/", typed(), headers=HTMX)

    # browser session, user, project, in force, the session, the project's state, a version that says the same
    with django_assert_num_queries(7):
        signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.6"), headers=HTMX)


def test_the_page_costs_the_same_queries_however_long_the_history(
    signed_in: Client, project: Project, session: Session, user: User
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            signed_in.get(PAGE)
        return len(found)

    policies.save_version(project=project, policy=CHAPTER, author=user)
    signed_in.get(PAGE)
    few = queries()
    for number in range(20):
        policies.save_version(project=project, policy=HERMES, author=user, note=str(number))

    assert queries() == few


# versions


def test_saving_appends_a_version_with_author_note_and_origin(signed_in: Client, project: Project, user: User) -> None:
    response = signed_in.post(
        f"{PAGE}save/", typed(CHAPTER, trigger_ratio="0.8", note="  less often", origin="preset chapter")
    )

    version = PolicyVersion.objects.get()
    assert response["Location"] == f"{PAGE}?from=v1"
    assert (version.number, version.author, version.note, version.origin) == (1, user, "  less often", "preset chapter")
    assert policies.policy_of(version) == CHAPTER.model_copy(update={"trigger_ratio": 0.8})


def test_pressing_save_twice_saves_once(signed_in: Client, project: Project) -> None:
    for _ in range(2):
        signed_in.post(f"{PAGE}save/", typed(trigger_ratio="0.8"))

    assert PolicyVersion.objects.count() == 1


def test_the_same_settings_may_be_saved_again_on_purpose(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")
    saved(signed_in, trigger_ratio="0.8")

    assert PolicyVersion.objects.count() == 2


def test_an_impossible_policy_is_not_saved(signed_in: Client, project: Project) -> None:
    response = signed_in.post(f"{PAGE}save/", typed(trigger_ratio="2", note="keep me"))

    assert response.status_code == 422
    assert PolicyVersion.objects.count() == 0
    assert response.context["note"] == "keep me"


def test_saving_puts_nothing_in_force(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")

    assert policies.in_force(project).policy == HERMES


def test_adopt_undo_and_restore_lead_back_and_forth(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")
    saved(signed_in, trigger_ratio="0.9")

    def undo() -> None:
        standing = policies.standing_adoptions(project)
        signed_in.post(f"{PAGE}undo/", {"seen": standing[0].pk if standing else 0})

    def trigger() -> float:
        return policies.in_force(project).policy.trigger_ratio

    found = []
    for number in (1, 2):
        signed_in.post(f"{PAGE}versions/{number}/adopt/")
        found.append(trigger())
    for _ in range(2):
        undo()
        found.append(trigger())
    signed_in.post(f"{PAGE}versions/1/restore/")

    assert found == [0.8, 0.9, 0.8, 0.75]
    assert [v.number for v in PolicyVersion.objects.all()] == [3, 2, 1]
    assert PolicyVersion.objects.get(number=3).origin == "version 1"
    assert trigger() == 0.75


def test_pressing_undo_twice_takes_back_one_adoption(signed_in: Client, project: Project) -> None:
    for trigger in ("0.8", "0.9"):
        number = saved(signed_in, trigger_ratio=trigger).number
        signed_in.post(f"{PAGE}versions/{number}/adopt/")
    seen = policies.standing_adoptions(project)[0].pk

    for _ in range(2):
        signed_in.post(f"{PAGE}undo/", {"seen": seen})

    assert policies.in_force(project).policy.trigger_ratio == 0.8


def test_pressing_adopt_and_restore_twice_does_each_once(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")
    saved(signed_in, trigger_ratio="0.9")

    for verb in ("adopt", "adopt", "restore", "restore"):
        signed_in.post(f"{PAGE}versions/1/{verb}/")

    assert Adoption.objects.count() == 1
    assert PolicyVersion.objects.count() == 3


def test_an_adoption_that_was_undone_stays_in_the_history(signed_in: Client, project: Project, user: User) -> None:
    saved(signed_in, trigger_ratio="0.8")
    signed_in.post(f"{PAGE}versions/1/adopt/")
    signed_in.post(f"{PAGE}undo/", {"seen": policies.standing_adoptions(project)[0].pk})
    signed_in.post(f"{PAGE}versions/1/adopt/")

    rows = signed_in.get(PAGE).context["adoptions"]

    assert [(row.adoption.version.number, row.adoption.by, row.undone and row.undone.by) for row in rows] == [
        (1, user, None), (1, user, user),
    ]  # fmt: skip


def test_a_saved_draft_says_so_and_can_be_adopted_at_once(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")

    shown = signed_in.get(f"{PAGE}?from=v1")
    edited = signed_in.post(f"{PAGE}preview/", typed(trigger_ratio="0.7"), headers=HTMX)
    signed_in.post(f"{PAGE}versions/1/adopt/")
    adopted = signed_in.get(f"{PAGE}?from=v1")

    found = [response.context["saved"] for response in (shown, edited, adopted)]
    assert [version and version.number for version in found] == [1, None, None]
    assert b'<span class="badge good">v1 saved, not in force</span>' in shown.content


def test_standard_pin_rules_that_hold_nothing_are_folded(signed_in: Client, project: Project, session: Session) -> None:
    context = signed_in.get(PAGE).context

    assert len(context["idle_pins"]) + len(context["shown_pins"]) == len(HERMES.pins) + 1
    assert {view.kept for view in context["idle_pins"]} == {False}
    assert [view.kept for view in context["shown_pins"] if not view.row.is_empty] == [True] * (
        len(context["shown_pins"]) - 1
    )


def test_the_history_says_what_each_version_changed(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")
    saved(signed_in, trigger_ratio="0.9", recent_tokens="12000", note="deeper")

    rows = signed_in.get(PAGE).context["history"].rows

    assert [(row.version.number, row.changed) for row in rows] == [
        (2, "Trigger 0.8 → 0.9, Recent 20,000 → 12,000"), (1, ""),
    ]  # fmt: skip


def test_a_diff_names_the_fields_that_differ(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8", **{"pins-0-remove": "on"})

    response = signed_in.get(f"{PAGE}diff/?old=in-force&new=v1")

    found = {row.label: (row.old, row.new, row.unit) for row in response.context["rows"]}
    assert found == {
        "Trigger": (["0.75"], ["0.8"], "of window"),
        "Pinned": (["tool *todo*, keep last 1 (latest task list)"], [], ""),
    }


def test_a_menu_tells_versions_by_their_notes_and_marks_what_is_in_force(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8", note="less often")
    saved(signed_in, trigger_ratio="0.9")
    signed_in.post(f"{PAGE}versions/2/adopt/")

    (_, versions), (_, presets), *_ = signed_in.get(f"{PAGE}diff/").context["choices"]

    assert [label for _, label, _ in versions] == ["v2 · hermes · in force", "v1 · less often"]
    assert presets[0][1] == f"preset {presets[0][0]}"


def test_a_diff_against_a_preset(signed_in: Client, project: Project) -> None:
    response = signed_in.get(f"{PAGE}diff/?old=hermes&new=chapter")

    assert [row.label for row in response.context["rows"]] == [
        "Context window", "Smallest result", "Superseded first", "Allocation", "Stub, at most", "Command output",
    ]  # fmt: skip


# files


@pytest.mark.parametrize("file_format", ["json", "toml"])
def test_an_exported_draft_comes_back_the_same(signed_in: Client, project: Project, file_format: str) -> None:
    draft = typed(
        trigger_ratio="0.8", arrival_limit_tokens="8,000", **{"pins-4-pattern": r"\d+ rows", "format": file_format}
    )
    body = signed_in.post(f"{PAGE}export/", draft)
    file = SimpleUploadedFile(f"mine.{file_format}", body.content)

    response = signed_in.post(f"{PAGE}import/", {"file": file})

    assert body["Content-Disposition"] == f'attachment; filename="apollo-hermes-draft.{file_format}"'
    expected = parse(body.content.decode(), f"mine.{file_format}")
    assert expected.trigger_ratio == 0.8
    assert response.context["form"].policy.digest == expected.digest
    assert response.context["origin"] == f"file mine.{file_format}"
    assert PolicyVersion.objects.count() == 0


def test_a_version_and_what_is_in_force_are_exported(signed_in: Client, project: Project) -> None:
    saved(signed_in, trigger_ratio="0.8")
    signed_in.post(f"{PAGE}versions/1/adopt/")
    saved(signed_in, trigger_ratio="0.9")

    version = json.loads(signed_in.get(f"{PAGE}export/v2/?format=json").content)
    in_force = tomllib.loads(signed_in.get(f"{PAGE}export/in-force/?format=toml").content.decode())

    assert (version["trigger_ratio"], in_force["trigger_ratio"]) == (0.9, 0.8)


def test_a_file_names_itself_and_every_fault(signed_in: Client, project: Project) -> None:
    file = SimpleUploadedFile("mine.json", b'{"trigger_ratio": 2, "colour": "red"}')

    response = signed_in.post(f"{PAGE}import/", {"file": file})

    assert response.status_code == 422
    assert response.context["file_faults"] == [
        "mine.json: trigger_ratio: Input should be less than or equal to 1", "mine.json: unknown field colour",
    ]  # fmt: skip
    assert response.context["form"].policy == HERMES


def test_a_bad_file_leaves_the_draft_as_it_was_typed(signed_in: Client, project: Project) -> None:
    file = SimpleUploadedFile("mine.json", b"[]")

    response = signed_in.post(
        f"{PAGE}import/", {**typed(trigger_ratio="0.6"), "note": "half done", "origin": "v3", "file": file}
    )

    form = response.context["form"]
    assert (form.raw("trigger_ratio"), response.context["note"], response.context["origin"]) == (
        "0.6",
        "half done",
        "v3",
    )


@pytest.mark.parametrize(
    ("name", "body", "fault"),
    [
        ("mine.yaml", b"a: 1", "mine.yaml: a policy file ends in .json or .toml"),
        ("mine.json", b"\xff\xfe", "mine.json: is not UTF-8 text"),
        ("mine.json", b"[]", "mine.json: a policy file is one object of fields"),
        ("big.toml", b"#" * 300_000, "big.toml: is larger than 256 KB: no policy file is"),
    ],
)
def test_what_is_no_policy_file_is_refused(
    signed_in: Client, project: Project, name: str, body: bytes, fault: str
) -> None:
    response = signed_in.post(f"{PAGE}import/", {"file": SimpleUploadedFile(name, body)})

    assert response.status_code == 422
    assert response.context["file_faults"] == [fault]


def test_an_unknown_format_does_not_exist(signed_in: Client, project: Project) -> None:
    assert signed_in.get(f"{PAGE}export/in-force/?format=yaml").status_code == 404
