"""Background tasks of the policy webhook: fetch by id, call the verb, come back later where it says so."""

from __future__ import annotations

from django.db import transaction
from django.tasks import task
from django.utils import timezone

from compression import policy_webhook_attempts


@task()
def attempt_delivery(delivery_id: int, number: int) -> None:
    """One attempt. Where tasks cannot wait, the first one is the last."""
    may_wait = attempt_delivery.get_backend().supports_defer
    wait = policy_webhook_attempts.attempt(delivery_id, number, may_wait=may_wait)
    if wait is not None:
        attempt_delivery.using(run_after=timezone.now() + wait).enqueue(delivery_id, number + 1)


def queue_attempt(delivery_id: int, number: int) -> None:
    """Once the transaction is through, so that the worker finds the delivery."""
    transaction.on_commit(lambda: attempt_delivery.enqueue(delivery_id, number))
