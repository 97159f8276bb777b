"""Addresses of runs, comparisons and prices, below the address of their project."""

from __future__ import annotations

from django.urls import path

from compression import compare_views, price_views, run_views

run_urls = [
    path("compare/", compare_views.compare, name="compare"),
    path("compare/timeline/", compare_views.timeline, name="compare-timeline"),
    path("compare/dollars/", compare_views.dollars, name="compare-dollars"),
    path("prices/", price_views.prices, name="prices"),
    path("prices/set/", price_views.prices_set, name="prices-set"),
    path("prices/remove/", price_views.prices_remove, name="prices-remove"),
    path("runs/", run_views.project_runs, name="runs"),
    path("runs/<id:pk>/", run_views.run_detail, name="run"),
    path("runs/<id:pk>/progress/", run_views.run_progress, name="run-progress"),
    path("runs/<id:pk>/cancel/", run_views.run_cancel, name="run-cancel"),
    path("runs/<id:pk>/results.csv", run_views.run_csv, name="run-csv"),
    path("runs/<id:pk>/results.json", run_views.run_json, name="run-json"),
    path("runs/<id:pk>/sessions/<id:session_pk>/log/", run_views.run_log, name="run-log"),
    path("runs/<id:pk>/sessions/<id:session_pk>/log.csv", run_views.run_log_csv, name="run-log-csv"),
]
