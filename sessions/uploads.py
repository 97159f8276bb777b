"""One uploaded file becomes sessions, or words about why it did not.

All sessions of a file are stored, or none. Nothing that a file holds can make this raise: what
cannot be read says so with its remedy, and a defect of ours is logged and admitted.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from sessions.import_file import import_file
from sessions.importers import FORMATS
from sessions.importers.parsed import Detection, ImportFailure
from sessions.models import Project

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file: ``stored`` has a row per session, as ``import_file`` tells of it.

    ``status`` is the HTTP status that says the same.
    """

    file_name: str
    status: int
    stored: Sequence[dict[str, Any]] = ()
    message: str = ""
    hint: str = ""
    guesses: Sequence[Detection] = ()


def receive(file: TemporaryUploadedFile, *, project: Project, format_name: str = "") -> Outcome:
    """``format_name`` overrides the detection; empty means detect."""
    name = file.name or _("file without a name")
    path = Path(file.temporary_file_path())
    try:
        rows = import_file(path, project=project, file_name=name, format_name=format_name or None)
        return Outcome(name, 200, stored=rows)
    except ImportFailure as failure:
        return Outcome(name, 422, message=failure.message, hint=failure.hint, guesses=failure.guesses)
    except Exception:  # whatever a file triggers, its sender gets words and the log gets the traceback
        logger.exception("Upload of a file to project %s failed", project.slug)
        return Outcome(
            name,
            422,
            message=_("Hermes failed on this file; nothing of it was stored."),
            hint=_("This is a defect of Hermes. The server's log holds the details; please report them."),
        )


def too_large(limit_bytes: int) -> Outcome:
    return Outcome(
        "",
        413,
        message=_("A file is larger than %(limit)s, the limit here.") % {"limit": filesizeformat(limit_bytes)},
        hint=_("Send one session per file, or raise HERMES_MAX_UPLOAD_BYTES."),
    )


def nothing_chosen() -> Outcome:
    return Outcome(
        "", 422, message=_("No file was chosen."), hint=_("Choose one or several session files, then send the form.")
    )


def unknown_format() -> Outcome:
    return Outcome(
        "",
        422,
        message=_("There is no format of that name."),
        hint=_("Choose one of: %s.") % ", ".join(sorted(FORMATS)),
    )
