"""Addresses of the session page and its fragments."""

from __future__ import annotations

from django.urls import include, path

from compression import cost_views, kind_views, lab_views, metrics_views, retention_views, views, worst_views
from compression.policy_urls import policy_urls
from compression.run_urls import run_urls
from compression.sweep_urls import sweep_urls

app_name = "compression"

session_urls = [
    path("", views.session_detail, name="session"),
    path("timeline/", views.timeline, name="timeline"),
    path("turns/", views.turns, name="turns"),
    path("events/", views.events, name="events"),
    path("composition/", views.window_composition, name="composition"),
    path("cost/", cost_views.cost, name="cost"),
    path("cost/figure/", cost_views.cost_figure, name="cost-figure"),
    path("compactions/", views.compactions, name="compactions"),
    path("compactions/<int:number>/", views.compaction, name="compaction"),
    path("losses/", retention_views.losses, name="losses"),
    path("lifeline/", retention_views.lifeline, name="lifeline"),
    path("eaters/<int:message>/", views.eater_what_if, name="what-if"),
    path("search/", views.search_hits, name="search"),
    path("messages/<int:index>/kind/", kind_views.kind, name="kind"),
    path("messages/<int:index>/<int:part>/", views.message_text, name="message-text"),
    path("originals/<str:address>/", views.recall, name="recall"),
]

urlpatterns = [
    path("metrics", metrics_views.metrics, name="metrics"),
    path("projects/<slug:slug>/policy/", include(policy_urls)),
    path("projects/<slug:slug>/sessions/<int:pk>/", include(session_urls)),
    path("projects/<slug:slug>/lab/", lab_views.lab, name="lab"),
    path("projects/<slug:slug>/worst/", worst_views.worst, name="worst"),
    path("projects/<slug:slug>/worst/run/", worst_views.worst_run, name="worst-run"),
    path("projects/<slug:slug>/", include(run_urls)),
    path("projects/<slug:slug>/sweeps/", include(sweep_urls)),
]
