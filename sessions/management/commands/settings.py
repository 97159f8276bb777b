"""Prints the settings in force, with where each comes from; secrets are masked."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from sessions.terminal import TerminalCommand


def effective_settings() -> dict[str, Any]:
    """Under the names of the environment variables that change them."""
    return {
        "DATABASE_URL": settings.SHOWN_DATABASE_URL,
        "REDIS_URL": settings.SHOWN_REDIS_URL,
        "HOST": settings.HERMES_HOST,
        "PORT": settings.HERMES_PORT,
        "HERMES_ALLOWED_HOSTS": settings.ALLOWED_HOSTS,
        "HERMES_BEHIND_PROXY": settings.HERMES_BEHIND_PROXY,
        "HERMES_DATA_DIR": str(settings.HERMES_DATA_DIR),
        "HERMES_DEBUG": settings.DEBUG,
        "HERMES_LOG_LEVEL": settings.HERMES_LOG_LEVEL,
        "HERMES_MAX_UPLOAD_BYTES": settings.HERMES_MAX_UPLOAD_BYTES,
        "HERMES_METRICS_DIR": str(settings.HERMES_METRICS_DIR),
        "HERMES_METRICS_TOKEN": "***" if settings.HERMES_METRICS_TOKEN else "",
        "HERMES_PUBLIC_URL": settings.HERMES_PUBLIC_URL,
        "HERMES_RUN_LEASE_SECONDS": settings.HERMES_RUN_LEASE_SECONDS,
        "HERMES_SECRET_KEY": "***",
        "HERMES_SUMMARIZER": settings.HERMES_SUMMARIZER,
        "HERMES_SUMMARIZER_API_KEY": "***" if settings.HERMES_SUMMARIZER_API_KEY else "",
        "HERMES_SUMMARIZER_BASE_URL": settings.SHOWN_SUMMARIZER_BASE_URL,
        "HERMES_SUMMARIZER_MODEL": settings.HERMES_SUMMARIZER_MODEL,
        "HERMES_SUMMARIZER_TIMEOUT": settings.HERMES_SUMMARIZER_TIMEOUT,
        "HERMES_TIME_ZONE": settings.TIME_ZONE,
        "HERMES_UPLOAD_DIR": str(settings.FILE_UPLOAD_TEMP_DIR),
        "HERMES_WEBHOOK_PRIVATE_ADDRESSES": settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES,
    }


class Command(TerminalCommand):
    help = "Print the effective settings; they come from the environment."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        effective = effective_settings()
        if options["json"]:
            self.stdout.write(json.dumps(effective))
            return
        for name, value in effective.items():
            self.stdout.write(f"{name}={','.join(value) if isinstance(value, list) else value}")
