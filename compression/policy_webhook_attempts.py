"""Attempts to deliver a message of a policy webhook: one at a time, each written down, bounded in number."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from compression.models import PolicyDelivery
from compression.policy_webhook_send import Answer, headers, send

CHANGED, TEST = "policy.changed", "test"
WAITS = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10), timedelta(hours=1))
"""Between attempts; a test is tried once."""


def claim(delivery_id: int, number: int) -> PolicyDelivery | None:
    """Take the ``number``-th attempt of a delivery; None when somebody made it already or none is needed any more."""
    waiting = PolicyDelivery.objects.filter(pk=delivery_id, state=PolicyDelivery.State.WAITING, attempts=number - 1)
    if not waiting.update(attempts=number, tried_at=timezone.now()):
        return None
    return PolicyDelivery.objects.select_related("webhook").get(pk=delivery_id)


def wait_after(delivery: PolicyDelivery) -> timedelta | None:
    """How long after the present attempt the next one would come; None when it is the last."""
    if delivery.event == TEST or delivery.attempts > len(WAITS):
        return None
    return WAITS[delivery.attempts - 1]


def deliver(delivery: PolicyDelivery, *, is_last: bool) -> None:
    """Make the attempt that was claimed and write down how it went."""
    answer = _sent(delivery)
    state = PolicyDelivery.State.FAILED
    if not answer.error:
        state = PolicyDelivery.State.DELIVERED
    elif answer.may_retry and not is_last:
        state = PolicyDelivery.State.WAITING
    PolicyDelivery.objects.filter(pk=delivery.pk).update(
        state=state, status=answer.status, error=answer.error[:300], tried_at=timezone.now()
    )


def _sent(delivery: PolicyDelivery) -> Answer:
    body, webhook = delivery.body.encode(), delivery.webhook
    timestamp = int(timezone.now().timestamp())
    named = headers(secret=webhook.secret, timestamp=timestamp, body=body, event=delivery.event, delivery=delivery.pk)
    return send(webhook.url, body, named, allow_private=settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES)
