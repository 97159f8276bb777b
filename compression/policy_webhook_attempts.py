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


def attempt(delivery_id: int, number: int, *, may_wait: bool) -> timedelta | None:
    """Try for the ``number``-th time; gives after how long to try again, None when that is all.

    Does nothing when this attempt was made already, so that a task which ran twice sends once.
    """
    mine = PolicyDelivery.objects.filter(pk=delivery_id, state=PolicyDelivery.State.WAITING, attempts=number - 1)
    if not mine.update(attempts=number, tried_at=timezone.now()):
        return None
    delivery = PolicyDelivery.objects.select_related("webhook").get(pk=delivery_id)
    answer = _sent(delivery)
    is_last = not may_wait or delivery.event == TEST or number > len(WAITS)
    again = WAITS[number - 1] if answer.error and answer.may_retry and not is_last else None
    state = (
        PolicyDelivery.State.WAITING
        if again
        else PolicyDelivery.State.FAILED
        if answer.error
        else PolicyDelivery.State.DELIVERED
    )
    PolicyDelivery.objects.filter(pk=delivery_id).update(
        state=state, status=answer.status, error=answer.error[:300], tried_at=timezone.now()
    )
    return again


def _sent(delivery: PolicyDelivery) -> Answer:
    body, webhook = delivery.body.encode(), delivery.webhook
    timestamp = int(timezone.now().timestamp())
    named = headers(secret=webhook.secret, timestamp=timestamp, body=body, event=delivery.event, delivery=delivery.pk)
    return send(webhook.url, body, named, allow_private=settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES)
