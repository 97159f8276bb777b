"""Addresses of the policy page, under those of its project."""

from __future__ import annotations

from django.urls import path

from compression import policy_views as views
from compression import policy_webhook_views as webhook_views

policy_urls = [
    path("", views.policy_page, name="policy"),
    path("preview/", views.preview, name="policy-preview"),
    path("sample/", views.sample, name="policy-sample"),
    path("dry-run/", views.dry_run, name="policy-dry-run"),
    path("save/", views.save, name="policy-save"),
    path("undo/", views.undo, name="policy-undo"),
    path("diff/", views.diff, name="policy-diff"),
    path("import/", views.import_file, name="policy-import"),
    path("export/", views.export_draft, name="policy-export-draft"),
    path("export/<str:name>/", views.export, name="policy-export"),
    path("versions/<int:number>/adopt/", views.adopt, name="policy-adopt"),
    path("versions/<int:number>/restore/", views.restore, name="policy-restore"),
    path("webhook/", webhook_views.webhook, name="policy-webhook"),
    path("webhook/set/", webhook_views.webhook_set, name="policy-webhook-set"),
    path("webhook/test/", webhook_views.webhook_test, name="policy-webhook-test"),
    path("webhook/remove/", webhook_views.webhook_remove, name="policy-webhook-remove"),
]
