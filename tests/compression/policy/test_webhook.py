"""The webhook of a project: who sets it, what is sent when, what is kept of it, and that its secret stays one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from compression import policies, policy_webhook
from compression.engine.presets import PRESETS
from compression.models import PolicyDelivery, PolicyVersion, PolicyWebhook
from compression.policy_webhook_attempts import WAITS, claim, deliver, wait_after
from sessions.models import Membership, Project
from tests.compression.policy.receiver import Receiver, receiving

PAGE = "/projects/apollo/policy/webhook/"
SECRET = "correct horse battery"


@pytest.fixture(autouse=True)
def private_addresses(settings: Settings) -> None:
    settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def webhook(project: Project, receiver: Receiver) -> PolicyWebhook:
    return policy_webhook.set_webhook(project=project, url=receiver.url, secret=SECRET)


def version(project: Project, name: str = "chapter") -> PolicyVersion:
    return policies.save_version(project=project, policy=PRESETS[name], author=None)


def bodies(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(one.body) for one in receiver.received]


def test_adopting_is_told(
    project: Project, webhook: PolicyWebhook, receiver: Receiver,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:  # fmt: skip
    with django_capture_on_commit_callbacks(execute=True):
        adoption = policies.adopt(version=version(project), by=None)

    assert bodies(receiver) == [
        {
            "event": "policy.changed",
            "project": "apollo",
            "at": adoption.at.isoformat(),
            "is_undo": False,
            "policy": {"name": "chapter", "version": 1, "digest": PRESETS["chapter"].digest},
            "url": "http://127.0.0.1:8000/api/v1/projects/apollo/policy",
        }
    ]


def test_undoing_is_told_with_what_is_in_force_then(
    project: Project, user: User, webhook: PolicyWebhook, receiver: Receiver,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:  # fmt: skip
    policies.adopt(version=version(project), by=user)
    with django_capture_on_commit_callbacks(execute=True):
        policies.undo(project=project, by=user)

    [said] = bodies(receiver)
    assert said["is_undo"] is True
    assert said["policy"] == {"name": "hermes", "version": None, "digest": PRESETS["hermes"].digest}


def test_adopting_what_is_in_force_is_not_told(project: Project, webhook: PolicyWebhook) -> None:
    saved = version(project)
    policies.adopt(version=saved, by=None)
    policies.adopt(version=saved, by=None)

    assert PolicyDelivery.objects.count() == 1


def test_a_project_without_a_webhook_tells_nobody(project: Project) -> None:
    policies.adopt(version=version(project), by=None)

    assert not PolicyDelivery.objects.exists()


def queued(webhook: PolicyWebhook) -> PolicyDelivery:
    """A delivery that no task was run for."""
    return PolicyDelivery.objects.create(webhook=webhook, event="policy.changed", body="{}")


def attempted(delivery: PolicyDelivery, number: int) -> timedelta | None:
    """One attempt as the task makes it; how long after it the next one would come."""
    claimed = claim(delivery.pk, number)
    if claimed is None:
        return None
    wait = wait_after(claimed)
    deliver(claimed, is_last=wait is None)
    return wait


def test_a_failure_that_may_pass_is_tried_again_later_and_not_for_ever(
    webhook: PolicyWebhook, receiver: Receiver
) -> None:
    receiver.answers = [(503, {})] * 9
    delivery = queued(webhook)

    waits = [attempted(delivery, number) for number in range(1, len(WAITS) + 3)]

    delivery.refresh_from_db()
    assert waits == [*WAITS, None, None]
    assert len(receiver.received) == len(WAITS) + 1
    assert (delivery.state, delivery.status, delivery.error) == ("failed", 503, "answered 503")


def test_a_success_ends_the_tries(webhook: PolicyWebhook, receiver: Receiver) -> None:
    receiver.answers = [(500, {})]
    delivery = queued(webhook)

    for number in (1, 2, 3):
        attempted(delivery, number)

    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.status, delivery.error) == ("delivered", 2, 204, "")


def test_a_task_that_runs_twice_sends_once(webhook: PolicyWebhook, receiver: Receiver) -> None:
    receiver.answers = [(500, {})]
    delivery = queued(webhook)

    attempted(delivery, 1)
    attempted(delivery, 1)

    assert len(receiver.received) == 1


def test_what_will_not_pass_is_tried_once(webhook: PolicyWebhook, receiver: Receiver) -> None:
    receiver.answers = [(404, {})]
    delivery = queued(webhook)

    attempted(delivery, 1)
    attempted(delivery, 2)

    delivery.refresh_from_db()
    assert len(receiver.received) == 1
    assert (delivery.state, delivery.error) == ("failed", "answered 404: it does not take the message")


def test_old_deliveries_are_forgotten(webhook: PolicyWebhook) -> None:
    for _ in range(policy_webhook.KEPT + 5):
        policy_webhook.send_test(webhook)

    assert webhook.deliveries.count() == policy_webhook.KEPT


# the page


def test_an_owner_sets_it_and_nobody_sees_the_secret_again(signed_in: Client, project: Project) -> None:
    signed_in.post(f"{PAGE}set/", {"url": "https://agents.example.com/policy", "secret": SECRET})

    page = signed_in.get(PAGE).content.decode()
    assert "https://agents.example.com/policy" in page
    assert SECRET not in page
    assert PolicyWebhook.objects.get(project=project).secret == SECRET


def test_a_secret_that_was_refused_is_not_shown_either(signed_in: Client, project: Project) -> None:
    answer = signed_in.post(f"{PAGE}set/", {"url": "nonsense", "secret": SECRET})

    assert answer.status_code == 422
    assert SECRET not in answer.content.decode()


def test_an_empty_secret_keeps_the_one_that_was_set(signed_in: Client, webhook: PolicyWebhook) -> None:
    signed_in.post(f"{PAGE}set/", {"url": "https://agents.example.com/other", "secret": ""})

    webhook.refresh_from_db()
    assert (webhook.url, webhook.secret) == ("https://agents.example.com/other", SECRET)


def test_the_first_time_a_secret_is_needed(signed_in: Client, project: Project) -> None:
    answer = signed_in.post(f"{PAGE}set/", {"url": "https://agents.example.com/policy", "secret": ""})

    assert answer.status_code == 422
    assert "Give a secret: without it nobody can tell who is calling." in answer.content.decode()
    assert not PolicyWebhook.objects.exists()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "169.254.169.254", "[::1]", "10.0.0.8"])
def test_an_address_that_says_it_is_private_is_refused_at_once(
    signed_in: Client, project: Project, settings: Settings, host: str
) -> None:
    settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES = False

    answer = signed_in.post(f"{PAGE}set/", {"url": f"http://{host}/", "secret": SECRET})

    assert answer.status_code == 422
    assert f"{host.strip('[]')} is not on the Internet; it is not called." in answer.content.decode()


def test_a_test_is_sent_once_and_its_answer_is_shown(
    signed_in: Client, webhook: PolicyWebhook, receiver: Receiver,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:  # fmt: skip
    receiver.answers = [(500, {})]
    with django_capture_on_commit_callbacks(execute=True):
        signed_in.post(f"{PAGE}test/")

    assert [said["event"] for said in bodies(receiver)] == ["test"]
    assert "answered 500" in signed_in.get(PAGE).content.decode()


def test_a_member_sees_it_and_changes_nothing(client: Client, webhook: PolicyWebhook, project: Project) -> None:
    bob = User.objects.create_user("bob")
    Membership.objects.create(project=project, user=bob)
    client.force_login(bob)

    page = client.get(PAGE)

    assert '<form class="webhookform"' not in page.content.decode()
    for verb in ("set", "test", "remove"):
        assert client.post(f"{PAGE}{verb}/", {"url": "https://evil.example/", "secret": SECRET}).status_code == 403
    assert PolicyWebhook.objects.get().url == webhook.url


def test_removing_it_takes_its_deliveries_along(signed_in: Client, webhook: PolicyWebhook) -> None:
    policy_webhook.send_test(webhook)

    signed_in.post(f"{PAGE}remove/")

    assert not PolicyWebhook.objects.exists()
    assert not PolicyDelivery.objects.exists()
