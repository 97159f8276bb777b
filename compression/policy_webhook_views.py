"""The page of a project's policy webhook: members see how deliveries went, owners set it, test it and take it away.

The secret is written, never read: no page and no log holds it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from compression import policy_webhook
from compression.models import PolicyDelivery, PolicyWebhook
from compression.policy_webhook_form import WebhookForm
from sessions import projects
from sessions.models import Project
from sessions.views import SignedInRequest, owned_project, visible_project

SHOWN = 20
WATCHED = timedelta(minutes=1)
"""So long after it was queued a delivery is looked at again and again."""


@require_GET
def webhook(request: SignedInRequest, slug: str) -> HttpResponse:
    """The page; with HX-Request only the deliveries."""
    project = visible_project(request, slug)
    return page(request, project, part="#deliveries" if request.htmx else "")


@require_POST
def webhook_set(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    form = WebhookForm(request.POST, has_secret=webhook_of(project) is not None)
    if not form.is_valid():
        return page(request, project, form=form, status=422)
    policy_webhook.set_webhook(project=project, url=form.cleaned_data["url"], secret=form.cleaned_data["secret"])
    messages.success(request, _("The webhook is set. Send a test to see whether it arrives."))
    return redirect("compression:policy-webhook", project.slug)


@require_POST
def webhook_test(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    found = webhook_of(project)
    if found is None:
        raise Http404
    policy_webhook.send_test(found)
    return redirect("compression:policy-webhook", project.slug)


@require_POST
def webhook_remove(request: SignedInRequest, slug: str) -> HttpResponse:
    """With its secret and its deliveries."""
    project = owned_project(request, slug)
    PolicyWebhook.objects.filter(project=project).delete()
    messages.success(request, _("The webhook is gone."))
    return redirect("compression:policy-webhook", project.slug)


def webhook_of(project: Project) -> PolicyWebhook | None:
    return PolicyWebhook.objects.filter(project=project).select_related("project").defer("secret").first()


def page(
    request: SignedInRequest, project: Project, *, form: WebhookForm | None = None, status: int = 200, part: str = ""
) -> HttpResponse:
    found = webhook_of(project)
    deliveries = list(found.deliveries.defer("body")[:SHOWN]) if found else []
    since = timezone.now() - WATCHED
    context: dict[str, Any] = {
        "project": project,
        "webhook": found,
        "is_owner": projects.owns(request.user, project),
        "form": form or WebhookForm(initial={"url": found.url if found else ""}, has_secret=found is not None),
        "deliveries": deliveries,
        "is_moving": any(d.state == PolicyDelivery.State.WAITING and d.created_at > since for d in deliveries),
        "may_be_private": settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES,
    }
    return render(request, f"compression/policy_webhook.html{part}", context, status=status)
