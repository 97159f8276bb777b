"""What went wrong with the files of one command: one bad file, or a defect that it wakes, never costs the others."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.core.management.base import CommandError
from django.db import DatabaseError

from sessions.importers.parsed import ImportFailure
from sessions.terminal import shown, shown_path

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Failed:
    """``error`` is empty while nothing went wrong."""

    error: str = ""


class Failures:
    def __init__(self) -> None:
        self.unreadable = 0
        self.defects = 0

    @contextmanager
    def of(self, path: Path) -> Iterator[Failed]:
        """Takes every complaint about the file; a database that does not answer is no file's fault and goes on."""
        failed = Failed()
        try:
            yield failed
        except ImportFailure as failure:
            self.unreadable += 1
            failed.error = failure.sentences
        except DatabaseError:
            raise
        except Exception as defect:
            self.defects += 1
            logger.exception("%s woke a defect", shown(shown_path(path)))
            failed.error = f"a defect of Hermes: {type(defect).__name__}: {shown(str(defect), 300)}"

    def conclude(self) -> None:
        """Exit status 1 when there was a defect, else 2 when a file could not be read."""
        if self.defects:
            message = f"{self.defects} of the files woke a defect of Hermes; please report what stands above."
            raise CommandError(message, returncode=1)
        if self.unreadable:
            raise CommandError(f"{self.unreadable} of the files could not be read as sessions.", returncode=2)
