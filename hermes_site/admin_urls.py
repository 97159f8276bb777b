"""The admin's pages; its modules are looked for here and not when Django starts."""

from __future__ import annotations

from django.contrib import admin

admin.autodiscover()

urlpatterns = admin.site.urls[0]
