"""The site's own settings over a data folder that lives as long as the tests."""

import atexit
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

DATA_DIR = Path(mkdtemp(prefix="hermes-tests-"))
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)

# Tests neither see nor touch what belongs to an installation.
os.environ["HERMES_DATA_DIR"] = str(DATA_DIR)
for name in (
    "REDIS_URL", "HOST", "PORT", "HERMES_PUBLIC_URL", "HERMES_ALLOWED_HOSTS", "HERMES_DEBUG", "HERMES_SECRET_KEY",
    "HERMES_BEHIND_PROXY", "HERMES_MAX_UPLOAD_BYTES", "HERMES_RUN_LEASE_SECONDS", "HERMES_UPLOAD_DIR",
    "HERMES_SUMMARIZER", "HERMES_SUMMARIZER_MODEL", "HERMES_SUMMARIZER_BASE_URL", "HERMES_SUMMARIZER_API_KEY",
    "HERMES_SUMMARIZER_TIMEOUT",
    "HERMES_TIME_ZONE", "HERMES_LOG_LEVEL",
    "HERMES_METRICS_DIR", "HERMES_METRICS_TOKEN", "HERMES_WEBHOOK_PRIVATE_ADDRESSES",
):  # fmt: skip
    os.environ.pop(name, None)
# Playwright's synchronous API runs an event loop in the very thread that makes the rows.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

from hermes_site.settings import *  # noqa: E402, F403  # the environment had to be set first
from hermes_site.settings import DATABASES  # noqa: E402  # ditto

# A file, because several threads and a live server share it.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "tests.sqlite3"}
TASKS = {"default": {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}}
