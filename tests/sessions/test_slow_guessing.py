"""Signing in with a password: a few tries, then nothing for a while."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client, RequestFactory
from pytest_django.fixtures import Settings

from sessions import slow_guessing
from sessions.models import PasswordTries
from sessions.slow_guessing import TRIES_OF_A_NAME, address_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_hashes(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ada(user: User, quick_hashes: None) -> User:
    user.set_password("correct horse")
    user.save()
    return user


def tries(
    client: Client, password: str, *, name: str = "ada", address: str = "192.0.2.1", where: str = "/login/"
) -> bool:
    """Whether it signed in."""
    client.post(where, {"username": name, "password": password}, REMOTE_ADDR=address)
    return "_auth_user_id" in client.session


def guess_until_refused(client: Client) -> None:
    for _ in range(TRIES_OF_A_NAME):
        tries(client, "guess")


def test_after_a_few_guesses_the_right_password_is_refused_with_the_same_words(client: Client, ada: User) -> None:
    guess_until_refused(client)

    response = client.post("/login/", {"username": "ada", "password": "correct horse"}, REMOTE_ADDR="192.0.2.1")

    assert "_auth_user_id" not in client.session
    assert "do not go together" in response.text


def test_the_admins_form_counts_too(client: Client, ada: User) -> None:
    User.objects.update(is_staff=True)
    guess_until_refused(client)

    assert not tries(client, "correct horse", where="/admin/login/")


def test_another_address_and_another_name_are_not_concerned(client: Client, ada: User) -> None:
    other = User.objects.create_user("bob", password="battery staple")
    guess_until_refused(client)

    assert tries(client, "correct horse", address="192.0.2.2")
    client.logout()
    assert tries(client, "battery staple", name=other.username)


def test_a_quarter_of_an_hour_later_it_works_again(client: Client, ada: User) -> None:
    guess_until_refused(client)
    PasswordTries.objects.update(since=F("since") - slow_guessing.WINDOW - timedelta(seconds=1))

    assert tries(client, "correct horse")


def test_a_success_forgets_the_mistakes_before_it(client: Client, ada: User) -> None:
    for _ in range(3):
        for _ in range(TRIES_OF_A_NAME - 1):
            tries(client, "typo")
        assert tries(client, "correct horse")
        client.logout()


def test_an_address_may_not_walk_through_the_names(client: Client, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_guessing, "TRIES_OF_AN_ADDRESS", 10)
    for number in range(10):
        tries(client, "guess", name=f"user{number}")

    assert not tries(client, "correct horse")
    assert tries(client, "correct horse", address="192.0.2.2")


def test_tries_that_were_refused_do_not_prolong_the_wait(client: Client, ada: User) -> None:
    guess_until_refused(client)
    before = list(PasswordTries.objects.order_by("pk").values_list("pk", "since"))

    tries(client, "guess")

    assert list(PasswordTries.objects.order_by("pk").values_list("pk", "since")) == before


@pytest.mark.parametrize(
    ("behind_proxy", "remote", "forwarded", "address"),
    [
        (False, "192.0.2.1", "198.51.100.7", "192.0.2.1"),
        (True, "127.0.0.1", "198.51.100.7", "198.51.100.7"),
        (True, "127.0.0.1", "made up, 198.51.100.7", "198.51.100.7"),
        (True, "127.0.0.1", "", "127.0.0.1"),
        (False, "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
    ],
)
def test_the_address_is_the_one_that_nobody_can_make_up(
    settings: Settings, behind_proxy: bool, remote: str, forwarded: str, address: str
) -> None:
    settings.HERMES_BEHIND_PROXY = behind_proxy
    request = RequestFactory().get("/", REMOTE_ADDR=remote, headers={"x-forwarded-for": forwarded})

    assert address_of(request) == address
