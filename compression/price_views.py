"""The page of a project's prices: members see what its models cost, owners say what no table knows."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from compression.engine.pricing import Prices, prices_for
from compression.models import ProjectPrices
from compression.price_forms import PricesForm
from compression.project_prices import forget_prices, prices_of, set_prices, set_prices_of
from sessions import projects
from sessions.models import Project, Session
from sessions.views import SignedInRequest, owned_project, visible_project

MODELS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of the project's sessions. ``prices`` are today's; ``is_own``: those that the project set."""

    name: str
    sessions: int
    prices: Prices | None
    is_own: bool


def model_rows(project: Project) -> list[ModelRow]:
    """The models that most sessions begin with. Two queries."""
    own, row = prices_of(project), set_prices_of(project)
    counted = Session.objects.filter(project=project).values("model").annotate(n=Count("pk")).order_by("-n", "model")
    found = []
    for name, sessions in counted.values_list("model", "n")[:MODELS_SHOWN]:
        known = prices_for(name, None)
        is_own = row is not None and (known is None or row.scope == ProjectPrices.Scope.ALL)
        found.append(ModelRow(name, sessions, own if is_own else known, is_own))
    return found


@require_GET
def prices(request: SignedInRequest, slug: str) -> HttpResponse:
    return page(request, visible_project(request, slug))


@require_POST
def prices_set(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    form = PricesForm(request.POST)
    if not form.is_valid():
        return page(request, project, form=form, status=422)
    set_prices(project, form.cleaned_data)
    messages.success(request, _("The prices are set. Figures in dollars are worked out again as they are looked at."))
    return redirect("compression:prices", project.slug)


@require_POST
def prices_remove(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    forget_prices(project)
    messages.success(request, _("The prices are gone; the table's count again."))
    return redirect("compression:prices", project.slug)


def page(
    request: SignedInRequest, project: Project, *, form: PricesForm | None = None, status: int = 200
) -> HttpResponse:
    row = set_prices_of(project)
    context = {
        "project": project,
        "set_prices": row,
        "is_owner": projects.owns(request.user, project),
        "form": form or PricesForm(instance=row),
        "models": model_rows(project),
    }
    return render(request, "compression/prices.html", context, status=status)
