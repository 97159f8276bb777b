"""The key that signs cookies: given by the environment, or made once and kept for its owner only."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def kept_secret_key(path: Path) -> str:
    """Read the key in ``path``; when there is none yet, make it with mode 0600.

    Two processes may start at once: the one that loses the race reads what the other wrote,
    because the file appears under its name only when it is complete.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
