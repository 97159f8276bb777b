"""Recorded and live agent sessions. The label keeps clear of ``django.contrib.sessions``."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SessionsConfig(AppConfig):
    name = "sessions"
    label = "agent_sessions"
    verbose_name = _("Agent sessions")

    def ready(self) -> None:
        import sessions.row_ids  # noqa: F401  # its import makes ``<id:pk>`` known to every list of addresses
