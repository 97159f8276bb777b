"""Background tasks of the policy webhook: claim an attempt, queue the next one, call the verb."""

from __future__ import annotations

from django.db import transaction
from django.tasks import task
from django.utils import timezone

from compression.policy_webhook_attempts import claim, deliver, wait_after


@task()
def attempt_delivery(delivery_id: int, number: int) -> None:
    """One attempt. Where tasks cannot wait, the first one is the last."""
    delivery = claim(delivery_id, number)
    if delivery is None:
        return
    wait = wait_after(delivery) if attempt_delivery.get_backend().supports_defer else None
    if wait is not None:
        # Queued before this attempt is made, so that a worker that dies in it leaves a next one.
        attempt_delivery.using(run_after=timezone.now() + wait).enqueue(delivery_id, number + 1)
    deliver(delivery, is_last=wait is None)


def queue_attempt(delivery_id: int, number: int) -> None:
    """Once the transaction is through, so that the worker finds the delivery."""
    transaction.on_commit(lambda: attempt_delivery.enqueue(delivery_id, number))
