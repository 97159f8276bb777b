"""Sign-in links: ten minutes, one use, never on GET, never seen by anybody else."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from sessions.models import SignInLink
from sessions.signin import create_link


def path_of(user: User) -> str:
    return urlsplit(create_link(user)).path


def press(client: Client, path: str) -> int:
    check = client.get(path).context["check"]
    return client.post(path, {"check": check}).status_code


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_opening_a_link_signs_nobody_in(user: User, client: Client) -> None:
    path = path_of(user)

    response = client.get(path)

    assert response.templates[0].name == "signin/confirm.html"
    assert not is_signed_in(client)
    assert SignInLink.objects.get().used_at is None


def test_the_form_signs_in_and_leads_to_the_first_page(user: User, client: Client) -> None:
    path = path_of(user)
    check = client.get(path).context["check"]

    response = client.post(path, {"check": check})

    assert (response.status_code, response["Location"]) == (302, "/")
    assert client.session["_auth_user_id"] == str(user.pk)


def test_a_browser_that_hides_the_origin_may_sign_in(user: User) -> None:
    client = Client(enforce_csrf_checks=True, headers={"Origin": "null"})

    assert press(client, path_of(user)) == 302


def test_a_link_works_once(user: User) -> None:
    path = path_of(user)
    press(Client(), path)

    second = Client()
    assert press(second, path) == 410
    assert not is_signed_in(second)


def test_a_link_dies_after_ten_minutes(user: User, client: Client) -> None:
    path = path_of(user)
    link = SignInLink.objects.get()
    assert timedelta(minutes=9) < link.expires_at - timezone.now() <= timedelta(minutes=10)
    SignInLink.objects.update(expires_at=timezone.now())

    assert press(client, path) == 410
    assert not is_signed_in(client)


def test_a_form_of_another_site_cannot_use_a_link_up(user: User, client: Client) -> None:
    path = path_of(user)

    response = client.post(path, {"check": "guessed"})

    assert response.status_code == 410
    assert SignInLink.objects.get().used_at is None


def test_a_link_of_somebody_who_left_does_not_work(user: User, client: Client) -> None:
    path = path_of(user)
    User.objects.update(is_active=False)

    assert press(client, path) == 410


@pytest.mark.parametrize("method", ["get", "post"])
def test_nothing_about_a_link_is_kept_or_passed_on(user: User, client: Client, method: str) -> None:
    response = getattr(client, method)(path_of(user))

    assert (response["Referrer-Policy"], response["Cache-Control"]) == ("no-referrer", "no-store")


def test_only_the_hash_of_a_link_is_stored(user: User) -> None:
    token = path_of(user).split("/")[2]

    link = SignInLink.objects.get()
    assert re.fullmatch("[0-9a-f]{64}", link.token)
    assert link.token != token


def test_a_link_is_masked_in_every_log_line(capsys: pytest.CaptureFixture[str], user: User) -> None:
    from hermes_site.logs import WithoutSignInLinks

    token = path_of(user).split("/")[2]
    record = logging.LogRecord("django.request", logging.WARNING, "", 0, "Gone: %s", (f"/signin/{token}/",), None)

    assert WithoutSignInLinks().filter(record) is True
    assert record.getMessage() == "Gone: /signin/***/"


def test_whoever_is_not_signed_in_is_told_how(client: Client, db: None) -> None:
    response = client.get("/admin/", follow=True)

    assert response.redirect_chain == [("/admin/login/?next=/admin/", 302)]


def test_the_page_for_strangers_names_the_command(client: Client, db: None) -> None:
    assert "manage.py signin-url" in client.get("/signin/").content.decode()


def test_signing_out_needs_a_post(signed_in: Client) -> None:
    assert signed_in.get("/signout/").status_code == 405
    assert is_signed_in(signed_in)

    assert signed_in.post("/signout/")["Location"] == "/signin/"
    assert not is_signed_in(signed_in)


def test_the_command_prints_one_link_for_the_first_administrator(db: None, settings: Settings) -> None:
    settings.HERMES_PORT = 8123
    User.objects.create_user("ada")
    boss = User.objects.create_superuser("boss")
    out = StringIO()

    call_command("signin-url", stdout=out)

    assert re.fullmatch(r"http://127\.0\.0\.1:8123/signin/[\w-]{43}/\n", out.getvalue())
    assert SignInLink.objects.get().user == boss


def test_a_public_address_stands_in_the_link(user: User, settings: Settings) -> None:
    settings.HERMES_PUBLIC_URL = "https://hermes.example"

    assert create_link(user).startswith("https://hermes.example/signin/")


def test_the_command_says_what_to_do_when_there_is_nobody(db: None) -> None:
    with pytest.raises(CommandError, match=r"There is no user yet; `manage\.py bootstrap` makes the first one"):
        call_command("signin-url")
