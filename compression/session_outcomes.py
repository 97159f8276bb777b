"""What the policy in force does to sessions in dollars, read off the newest results of its runs.

Answers the setting AGENT_SESSIONS_OUTCOMES. Only results of the session's present revision, by this engine and at the
project's present prices count; nothing is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, FloatField, Max, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce

from compression.engine import ENGINE_VERSION
from compression.models import Adoption, ProjectPrices, RunResult
from compression.policies import InForce, in_force, in_force_after
from compression.project_prices import digest_of, row_digest
from sessions.models import Project, Session
from sessions.outcomes import Outcome, ProjectOutcome

SMALLEST, LARGEST = -1_000_000_000.0, 1_000_000_000.0


class SessionOutcomes:
    """``sessions.outcomes.Outcomes`` over the results of runs."""

    def of_sessions(self, project: Project, sessions: Iterable[Session]) -> Mapping[int, Outcome]:
        """Two queries, and one for the project's prices."""
        rows = fitting(project, in_force(project)).filter(session__in=[session.pk for session in sessions])
        found = rows.order_by("pk").values_list("session", "cost_usd", "cost_usd_none")
        return {session: Outcome(cost, without) for session, cost, without in found}

    def of_projects(self, projects: Iterable[Project]) -> Mapping[int, ProjectOutcome]:
        """Three queries, however many projects."""
        listed = list(projects)
        policies = policies_in_force(listed)
        prices = {row.project_id: row_digest(row) for row in ProjectPrices.objects.filter(project__in=listed)}
        wanted = Q(pk__in=[])
        for project in listed:
            wanted |= Q(
                session__project=project.pk,
                run__policy_digest=policies[project.pk].policy.digest,
                run__prices_digest=prices.get(project.pk, ""),
            )
        newest = _present(RunResult.objects.filter(wanted)).order_by().values("session").annotate(newest=Max("pk"))
        sums = RunResult.objects.filter(pk__in=newest.values("newest")).order_by().values("session__project").annotate(
            sessions=Count("pk"),
            priced=Count("pk", filter=_priced),
            cost=Sum("cost_usd", filter=_priced),
            without=Sum("cost_usd_none", filter=_priced),
        )  # fmt: skip
        known = {row["session__project"]: row for row in sums}
        nothing: dict[str, Any] = {"sessions": 0, "priced": 0, "cost": None, "without": None}
        return {project.pk: _of_project(policies[project.pk], known.get(project.pk, nothing)) for project in listed}

    def sorts(self, project: Project) -> Mapping[str, Any]:
        """Sessions without dollars come last in the order that a heading sorts first."""
        mine = fitting(project, in_force(project))
        newest = mine.filter(session=OuterRef("pk"), session_revision=OuterRef("revision")).order_by("-pk")

        def value(expression: Any, absent: float) -> Any:
            found = Subquery(newest.annotate(value=expression).values("value")[:1], output_field=FloatField())
            return Coalesce(found, Value(absent), output_field=FloatField())

        cost, without = Cast("cost_usd", FloatField()), Cast("cost_usd_none", FloatField())
        return {"cost": value(cost, SMALLEST), "dollars": value(without - cost, LARGEST)}


_priced = Q(cost_usd__isnull=False, cost_usd_none__isnull=False)


def _present(results: QuerySet[RunResult]) -> QuerySet[RunResult]:
    return results.filter(
        run__engine_version=ENGINE_VERSION, state=RunResult.State.DONE, session_revision=F("session__revision")
    ).filter(cache_read__isnull=False)


def fitting(project: Project, policy: InForce) -> QuerySet[RunResult]:
    """The results that say what a policy does to the present state of a project's sessions."""
    return _present(
        RunResult.objects.filter(
            session__project=project,
            run__policy_digest=policy.policy.digest,
            run__prices_digest=digest_of(project),
        )
    )


def policies_in_force(projects: Iterable[Project]) -> Mapping[int, InForce]:
    """By the projects' keys. One query."""
    listed = [project.pk for project in projects]
    newest = Adoption.objects.filter(project__in=listed).order_by().values("project").annotate(last=Max("pk"))
    adoptions = Adoption.objects.filter(pk__in=newest.values("last")).select_related("version")
    by_project = {adoption.project_id: adoption for adoption in adoptions}
    return {pk: in_force_after(by_project.get(pk)) for pk in listed}


def _of_project(policy: InForce, row: Mapping[str, Any]) -> ProjectOutcome:
    cost: Decimal | None = row["cost"]
    return ProjectOutcome(policy.label, row["sessions"], row["priced"], Outcome(cost, row["without"]))


session_outcomes = SessionOutcomes()
