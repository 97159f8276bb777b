"""Prints this host's figures for Prometheus: for hosts that run workers and no web server."""

from __future__ import annotations

from typing import Any

from compression.metrics import exposition
from sessions.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Print the figures of compression in the format of Prometheus."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(exposition().decode(), ending="")
