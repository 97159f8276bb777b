"""Who may reach what: every page, every operation of the API, every socket, asked as everybody.

A route that is not in a table below fails the first test of its kind: whoever adds one writes down who may
use it. What belongs to another project does not exist (404) for everybody who is not its member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from asgiref.sync import async_to_sync
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from ninja import NinjaAPI

from compression import policies, runs, sweeps
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion, Run, Sweep
from compression.sweep_space import space_of
from hermes_site.api import api
from hermes_site.asgi import application, sockets
from sessions.import_file import import_file
from sessions.models import ApiToken, Membership, Project, SavedFilter, Session
from sessions.tokens import create_token

pytestmark = pytest.mark.django_db

LOG = Path(__file__).parent / "fixtures" / "logs" / "claude-code.jsonl"
REFUSED = {401, 403, 404, 405}


@dataclass(frozen=True)
class World:
    """One project with one of everything, and the people around it."""

    project: Project
    owner: User
    member: User
    stranger: User
    strangers_project: Project
    session: Session
    run: Run
    sweep: Sweep
    version: PolicyVersion
    token: ApiToken
    membership: Membership
    saved_filter: SavedFilter
    original: str

    def value(self, wanted: str) -> Any:
        """What a parameter of an address holds: ``session`` is its key, anything else a literal."""
        found = getattr(self, wanted, None) if wanted.isidentifier() else None
        if isinstance(found, str):
            return found
        return wanted if found is None else found.pk


@pytest.fixture
def world(project: Project, user: User, stranger: User, other_project: Project) -> World:
    import_file(LOG, project=project)
    session = Session.objects.filter(project=project, tool_result_count__gt=0).first()
    assert session is not None
    member = User.objects.create_user("bob")
    membership = Membership.objects.create(project=project, user=member)
    original = session.messages.exclude(original=None).values_list("original", flat=True).first()
    version = policies.save_version(project=project, policy=PRESETS["hermes"], author=user, note="first")
    run = runs.start(project=project, policy=PRESETS["hermes"], label="hermes", version=version, by=user)
    space = space_of({"trigger_ratio": [0.8]}, is_grid=True)
    sweep = sweeps.start(project=project, base=PRESETS["hermes"], label="hermes", space=space, by=user)
    saved = SavedFilter.objects.create(user=member, project=project, name="Mine", query="q=a")
    token, _text = create_token(project=project, scope="read")
    return World(
        project, user, member, stranger, other_project, session, run, sweep, version, token, membership, saved,
        original or "",
    )  # fmt: skip


def as_user(who: User | None) -> Client:
    client = Client()
    if who is not None:
        client.force_login(who)
    return client


# Pages -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Page:
    """``who`` = the least that one has to be: anybody, signed in, member, owner."""

    who: str
    method: str = "GET"
    at: dict[str, str] = field(default_factory=dict)
    query: str = ""
    may_lack: bool = False  # whether a member, too, finds nothing: this session has nothing of the kind


SESSION = {"pk": "session"}
RUN = {"pk": "run"}
SWEEP = {"pk": "sweep"}
TRIAL = {"pk": "sweep", "number": "0"}
RESULT = {"pk": "run", "session_pk": "session"}
VERSION = {"number": "1"}
PAGES: dict[str, Page] = {
    "signin:needed": Page("anybody"),
    "signin:confirm": Page("anybody", at={"token": "x"}),
    "signout": Page("signed in", "POST"),
    "api:openapi-json": Page("signed in"),
    "api:openapi-view": Page("signed in"),
    "sessions:login": Page("anybody"),
    "sessions:projects": Page("signed in"),
    "sessions:project-create": Page("signed in"),
    "sessions:upload-first": Page("signed in", "POST"),
    "sessions:project": Page("member"),
    "sessions:upload": Page("member", "POST"),
    "sessions:sessions-delete": Page("owner"),
    "sessions:sessions-move": Page("owner"),
    "sessions:filter-save": Page("member", "POST"),
    "sessions:filter-delete": Page("member", "POST", {"pk": "saved_filter"}),
    "sessions:project-settings": Page("member"),
    "sessions:member-add": Page("owner", "POST"),
    "sessions:member-remove": Page("owner", "POST", {"pk": "membership"}),
    "sessions:token-create": Page("owner", "POST"),
    "sessions:token-revoke": Page("owner", "POST", {"pk": "token"}),
    "compression:metrics": Page("anybody"),
    "compression:session": Page("member", at=SESSION),
    "compression:timeline": Page("member", at=SESSION),
    "compression:turns": Page("member", at=SESSION),
    "compression:events": Page("member", at=SESSION),
    "compression:composition": Page("member", at=SESSION),
    "compression:cost": Page("member", at=SESSION),
    "compression:cost-figure": Page("member", at=SESSION),
    "compression:search": Page("member", at=SESSION, query="q=a"),
    "compression:kind": Page("member", at=SESSION | {"index": "2"}, may_lack=True),
    "compression:message-text": Page("member", at=SESSION | {"index": "0", "part": "0"}),
    "compression:recall": Page("member", at=SESSION | {"address": "original"}, may_lack=True),
    "compression:compactions": Page("member", at=SESSION),
    "compression:compaction": Page("member", at=SESSION | {"number": "1"}, may_lack=True),
    "compression:lab": Page("member"),
    "compression:losses": Page("member", at=SESSION),
    "compression:lifeline": Page("member", at=SESSION, query="name=a"),
    "compression:what-if": Page("member", at=SESSION | {"message": "2"}, may_lack=True),
    "compression:policy": Page("member"),
    "compression:policy-preview": Page("member", "POST"),
    "compression:policy-sample": Page("member", "POST"),
    "compression:policy-dry-run": Page("member", "POST"),
    "compression:policy-save": Page("member", "POST"),
    "compression:policy-undo": Page("member", "POST"),
    "compression:policy-diff": Page("member"),
    "compression:policy-import": Page("member", "POST"),
    "compression:policy-export-draft": Page("member", "POST"),
    "compression:policy-export": Page("member", at={"name": "hermes"}),
    "compression:policy-adopt": Page("member", "POST", VERSION),
    "compression:policy-restore": Page("member", "POST", VERSION),
    "compression:policy-webhook": Page("member"),
    "compression:policy-webhook-set": Page("owner", "POST"),
    "compression:policy-webhook-test": Page("owner", "POST", may_lack=True),
    "compression:policy-webhook-remove": Page("owner", "POST"),
    "compression:compare": Page("member"),
    "compression:compare-timeline": Page("member"),
    "compression:compare-dollars": Page("member"),
    "compression:prices": Page("member"),
    "compression:prices-set": Page("owner", "POST"),
    "compression:prices-remove": Page("owner", "POST"),
    "compression:worst": Page("member"),
    "compression:worst-run": Page("member", "POST"),
    "compression:runs": Page("member"),
    "compression:run": Page("member", at=RUN),
    "compression:run-progress": Page("member", at=RUN),
    "compression:run-cancel": Page("member", "POST", RUN),
    "compression:run-csv": Page("member", at=RUN),
    "compression:run-json": Page("member", at=RUN),
    "compression:run-log": Page("member", at=RESULT),
    "compression:run-log-csv": Page("member", at=RESULT),
    "compression:sweeps": Page("member"),
    "compression:sweep": Page("member", at=SWEEP),
    "compression:sweep-progress": Page("member", at=SWEEP),
    "compression:sweep-scatter": Page("member", at=SWEEP),
    "compression:sweep-heat": Page("member", at=SWEEP),
    "compression:sweep-cancel": Page("member", "POST", SWEEP),
    "compression:sweep-resume": Page("member", "POST", SWEEP),
    "compression:trial": Page("member", at=TRIAL),
    "compression:trial-adopt": Page("member", "POST", TRIAL),
}
OF_PROJECTS = [name for name, page in PAGES.items() if page.who in {"member", "owner"}]
WITH_OBJECTS = [name for name in OF_PROJECTS if {"pk", "number"} & set(PAGES[name].at)]


def patterns(resolver: URLResolver, names: tuple[str, ...] = ()) -> Iterator[tuple[str, URLPattern]]:
    names = (*names, resolver.namespace) if resolver.namespace else names
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield ":".join((*names, pattern.name or f"nameless {pattern.pattern}")), pattern
        else:
            yield from patterns(pattern, names)


def is_operation(name: str) -> bool:
    return name.startswith("api:") and name not in {"api:openapi-json", "api:openapi-view"}


def test_every_page_is_listed() -> None:
    found = {name for name, _ in patterns(get_resolver()) if not name.startswith("admin:") and not is_operation(name)}

    assert found == set(PAGES)


def address(name: str, world: World, *, slug: str = "apollo") -> str:
    page = PAGES[name]
    values = {parameter: world.value(wanted) for parameter, wanted in page.at.items()}
    if page.who in {"member", "owner"}:
        values["slug"] = slug
    return reverse(name, kwargs=values) + (f"?{page.query}" if page.query else "")


def answer(world: World, who: User | None, name: str, *, method: str = "", slug: str = "apollo") -> HttpResponse:
    """What a page answers; whatever it did is undone, so that the world is whole for the next one."""
    with transaction.atomic():
        response: Any = as_user(who).generic(method or PAGES[name].method, address(name, world, slug=slug))
        transaction.set_rollback(True)
    return cast("HttpResponse", response)


def other(method: str) -> str:
    return "POST" if method == "GET" else "GET"


def test_nobody_sees_anything_without_signing_in(world: World) -> None:
    for name, page in PAGES.items():
        for method in ("GET", "POST"):
            response = answer(world, None, name, method=method)
            if page.who == "anybody":
                assert response.status_code in {200, 405, 410}, (method, name)
            else:
                where = response.headers.get("Location", "")
                assert (response.status_code, where[:14]) == (302, "/signin/?next="), (method, name)


def test_a_project_of_others_does_not_exist(world: World) -> None:
    for name in OF_PROJECTS:
        assert answer(world, world.stranger, name).status_code == 404, name
        refusal = answer(world, world.stranger, name, method=other(PAGES[name].method))
        assert refusal.status_code in {404, 405}, name


def test_objects_of_others_do_not_exist_in_a_project_of_ones_own(world: World) -> None:
    found = {name: answer(world, world.stranger, name, slug="zeus").status_code for name in WITH_OBJECTS}

    assert found == dict.fromkeys(WITH_OBJECTS, 404)


def assert_answered(world: World, who: User, name: str) -> None:
    status = answer(world, who, name).status_code
    assert status < 500, name
    assert status not in (REFUSED - {404} if PAGES[name].may_lack else REFUSED), name


def test_members_may_use_what_is_not_for_owners(world: World) -> None:
    for name, page in PAGES.items():
        if page.who == "owner":
            assert answer(world, world.member, name).status_code == 403, name
        else:
            assert_answered(world, world.member, name)


def test_owners_may_use_all_of_it(world: World) -> None:
    for name in PAGES:
        if name != "sessions:filter-delete":
            assert_answered(world, world.owner, name)


def test_an_owner_does_not_touch_the_filter_of_a_member(world: World) -> None:
    assert as_user(world.owner).post(address("sessions:filter-delete", world)).status_code == 404


def test_somebody_who_left_is_a_stranger(world: World) -> None:
    world.membership.delete()

    assert as_user(world.member).get(address("compression:session", world)).status_code == 404


def test_a_user_who_was_switched_off_is_nobody(world: World) -> None:
    client = as_user(world.member)
    User.objects.filter(pk=world.member.pk).update(is_active=False)

    assert client.get(address("compression:session", world)).status_code == 302


OPEN_IN_ADMIN = {"admin:login", "admin:logout"}


def test_every_page_of_the_administration_is_for_staff(world: World) -> None:
    client = as_user(world.owner)
    asked = 0
    for name, pattern in patterns(get_resolver()):
        if not name.startswith("admin:") or name in OPEN_IN_ADMIN or "nameless" in name:
            continue
        values = {group: "auth" if group == "app_label" else "1" for group in pattern.pattern.regex.groupindex}
        where = reverse(name, kwargs=values or None, args=["1"] * (0 if values else pattern.pattern.regex.groups))
        response = client.get(where)
        assert (response.status_code, response["Location"].startswith("/admin/login/")) == (302, True), where
        asked += 1
    assert asked > 20


# The API -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operation:
    """``scope`` = what a token must be good for; ``body`` = something that the operation takes."""

    scope: str
    at: dict[str, str]
    body: str = ""
    query: str = ""


OF_SESSION = {"session_id": "session"}
OF_RUN = {"run_id": "run"}
OF_SWEEP = {"sweep_id": "sweep"}
OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "send_sessions"): Operation("ingest", {"slug": "apollo"}, body="[]"),
    ("GET", "read_session"): Operation("read", OF_SESSION),
    ("GET", "read_turns"): Operation("read", OF_SESSION),
    ("GET", "read_window"): Operation("read", OF_SESSION, query="turn=0"),
    ("POST", "replay_session"): Operation("read", OF_SESSION, body="{}"),
    ("POST", "start_run"): Operation("write", {"slug": "apollo"}, body='{"policy": "hermes"}'),
    ("GET", "read_run"): Operation("read", OF_RUN),
    ("GET", "read_results"): Operation("read", OF_RUN),
    ("POST", "start_sweep"): Operation("write", {}, body='{"project": "apollo", "trials": 3}'),
    ("GET", "read_sweep"): Operation("read", OF_SWEEP),
    ("POST", "cancel_sweep"): Operation("write", OF_SWEEP),
    ("POST", "resume_sweep"): Operation("write", OF_SWEEP),
    ("POST", "compress"): Operation(
        "write", {}, body='{"project": "apollo", "messages": [{"role": "user", "content": "Go"}]}'
    ),
    ("GET", "read_policy"): Operation("read", {"slug": "apollo"}),
    ("PUT", "set_policy"): Operation("write", {"slug": "apollo"}, body='{"policy": "hermes"}'),
    ("GET", "read_snapshot"): Operation("read", {"address": "original"}),
}


def operations_of(ninja: NinjaAPI) -> set[tuple[str, str]]:
    return {
        (method, operation.view_func.__name__)
        for _, router in ninja._routers
        for view in router.path_operations.values()
        for operation in view.operations
        for method in operation.methods
    }


def ask(world: World, method: str, name: str, token: str) -> int:
    operation = OPERATIONS[method, name]
    values = {parameter: world.value(wanted) for parameter, wanted in operation.at.items()}
    where = reverse(f"api:{name}", kwargs=values) + (f"?{operation.query}" if operation.query else "")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return Client().generic(method, where, operation.body, "application/json", headers=headers).status_code


def test_every_operation_of_the_api_is_listed() -> None:
    assert operations_of(api) == set(OPERATIONS)
    assert {name for name, _ in patterns(get_resolver()) if is_operation(name)} == {
        "api:api-root",
        *(f"api:{name}" for _, name in OPERATIONS),
    }


@pytest.mark.parametrize("token", ["", "hermes_made_up"])
def test_the_api_answers_nobody_without_a_token(world: World, token: str) -> None:
    assert {key: ask(world, *key, token) for key in OPERATIONS} == dict.fromkeys(OPERATIONS, 401)


def test_a_token_of_another_project_finds_nothing(world: World) -> None:
    _, text = create_token(project=world.strangers_project, scope="write")

    assert {key: ask(world, *key, text) for key in OPERATIONS} == dict.fromkeys(OPERATIONS, 404)


@pytest.mark.parametrize("scope", ["ingest", "read", "write"])
def test_a_token_may_do_what_its_scope_says_and_no_more(world: World, scope: str) -> None:
    _, text = create_token(project=world.project, scope=scope)
    for key, operation in OPERATIONS.items():
        status = ask(world, *key, text)
        if scope in {operation.scope, "write"}:
            assert status < 500, key
            assert status not in REFUSED, key
        else:
            assert status == 403, key


def test_being_signed_in_opens_no_operation(world: World) -> None:
    where = reverse("api:read_session", args=[world.session.pk])

    assert as_user(world.owner).get(where).status_code == 401


# Sockets -----------------------------------------------------------------------------------------------------

NOT_SIGNED_IN, NOT_FOUND = 4401, 4404
SOCKETS: dict[str, Callable[[World], str]] = {
    "ws/runs/<int:run_id>/": lambda world: f"/ws/runs/{world.run.pk}/",
    "": lambda world: "/ws/nothing/",
}
real_sockets = pytest.mark.parametrize("route", [route for route in SOCKETS if route])


def knock(where: str, who: User | None) -> tuple[bool, int | None]:
    """Whether the socket opened, and if not, with which code it closed. Ends the test's use of the database."""
    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
    if who is not None:
        cookie = as_user(who).cookies[settings.SESSION_COOKIE_NAME].value
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()))

    async def go() -> tuple[bool, int | None]:
        socket = WebsocketCommunicator(application, where, headers=headers)
        try:
            is_open, code = await socket.connect(timeout=20)
            return is_open, None if is_open else code
        finally:
            await socket.disconnect()

    return async_to_sync(go)()


def test_every_socket_is_listed() -> None:
    assert {str(pattern.pattern) for pattern in sockets} == set(SOCKETS)


@real_sockets
@pytest.mark.parametrize(
    ("who", "answer"),
    [("", (False, NOT_SIGNED_IN)), ("stranger", (False, NOT_FOUND)), ("member", (True, None)), ("owner", (True, None))],
)
def test_a_socket_is_open_to_members_only(world: World, route: str, who: str, answer: tuple[bool, int | None]) -> None:
    assert knock(SOCKETS[route](world), getattr(world, who) if who else None) == answer
