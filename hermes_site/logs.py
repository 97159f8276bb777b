"""Keeps sign-in links out of every log line, whoever writes it."""

from __future__ import annotations

import logging
import re

SIGN_IN_TOKEN = re.compile(r"(/signin/)[A-Za-z0-9_-]{16,}")


class WithoutSignInLinks(logging.Filter):
    """Replaces the token of a sign-in link by ``***``; the record itself is always let through."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if "/signin/" in message:
            record.msg = SIGN_IN_TOKEN.sub(r"\1***", message)
            record.args = ()
        return True
