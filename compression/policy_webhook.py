"""Telling a project's webhook that another policy came into force: what is said, and to whom.

The message names the change; what is in force stands at the API, which is asked afterwards. Sends nothing itself
but through a task, and keeps of each project the newest deliveries only.
"""

from __future__ import annotations

from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from compression.engine.policy import Policy
from compression.models import Adoption, PolicyDelivery, PolicyVersion, PolicyWebhook
from compression.policy_webhook_attempts import CHANGED, TEST
from compression.policy_webhook_tasks import queue_attempt
from sessions.models import Project
from sessions.site_address import site_url

KEPT = 50


def set_webhook(*, project: Project, url: str, secret: str) -> PolicyWebhook:
    """An empty secret leaves the one that was set."""
    changes = {"url": url} | ({"secret": secret} if secret else {})
    return PolicyWebhook.objects.update_or_create(project=project, defaults=changes)[0]


def announce(adoption: Adoption, policy: Policy, version: PolicyVersion | None) -> PolicyDelivery | None:
    """Say that this policy is in force now; nothing where the project has no webhook."""
    webhook = PolicyWebhook.objects.filter(project=adoption.project_id).first()
    if webhook is None:
        return None
    slug = adoption.project.slug
    said = {
        "project": slug,
        "at": adoption.at.isoformat(),
        "is_undo": adoption.undoes_id is not None,
        "policy": {"name": policy.name, "version": version.number if version else None, "digest": policy.digest},
        "url": f"{site_url()}/api/v1/projects/{slug}/policy",
    }
    return _queue(webhook, CHANGED, said)


def send_test(webhook: PolicyWebhook) -> PolicyDelivery:
    """A message that says it is a test; nothing changed."""
    said = {"project": webhook.project.slug, "at": timezone.now().isoformat()}
    return _queue(webhook, TEST, said)


def _queue(webhook: PolicyWebhook, event: str, said: dict[str, Any]) -> PolicyDelivery:
    body = orjson.dumps({"event": event, **said}).decode()
    with transaction.atomic():
        delivery = PolicyDelivery.objects.create(webhook=webhook, event=event, body=body)
        kept = webhook.deliveries.values_list("pk", flat=True)[:KEPT]
        webhook.deliveries.exclude(pk__in=list(kept)).delete()
        queue_attempt(delivery.pk, 1)
    return delivery
