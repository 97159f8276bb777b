"""Django's settings. Every choice of the operator comes from the environment, through ``env``.

``manage.py settings`` prints the effective ones. Nothing here reaches for a network.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from hermes_site import env
from hermes_site.secret_key import kept_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

HERMES_DATA_DIR = env.directory("HERMES_DATA_DIR", BASE_DIR / ".data")
HERMES_HOST = env.text("HOST", "127.0.0.1")
HERMES_PORT = env.integer("PORT", 8000, at_least=1, at_most=65535)
HERMES_PUBLIC_URL = env.url("HERMES_PUBLIC_URL", schemes=("http", "https")).rstrip("/")
HERMES_MAX_UPLOAD_BYTES = env.size("HERMES_MAX_UPLOAD_BYTES", 200 * 1024 * 1024)
HERMES_SUMMARIZER = env.choice("HERMES_SUMMARIZER", "extractive", among=("extractive", "anthropic", "openai"))
HERMES_SUMMARIZER_MODEL = env.text("HERMES_SUMMARIZER_MODEL")
HERMES_SUMMARIZER_BASE_URL = env.url("HERMES_SUMMARIZER_BASE_URL", schemes=("http", "https"))
SHOWN_SUMMARIZER_BASE_URL = env.mask_url(HERMES_SUMMARIZER_BASE_URL)
HERMES_SUMMARIZER_API_KEY = env.text("HERMES_SUMMARIZER_API_KEY")
HERMES_SUMMARIZER_TIMEOUT = env.integer("HERMES_SUMMARIZER_TIMEOUT", 20, at_least=1, at_most=600)
# Whether webhooks may call hosts of private networks, this one included: anybody who owns a project sets one.
HERMES_WEBHOOK_PRIVATE_ADDRESSES = env.flag("HERMES_WEBHOOK_PRIVATE_ADDRESSES", False)
# Without a token only this host reads /metrics.
HERMES_METRICS_TOKEN = env.text("HERMES_METRICS_TOKEN")
HERMES_METRICS_DIR = env.directory("HERMES_METRICS_DIR", HERMES_DATA_DIR / "metrics")
# Its library looks for the folder here, once, when it is imported.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(HERMES_METRICS_DIR)
# How long a worker may take over one session before it counts as dead.
HERMES_RUN_LEASE_SECONDS = env.integer("HERMES_RUN_LEASE_SECONDS", 60, at_least=1, at_most=86_400)

DEBUG = env.flag("HERMES_DEBUG", False)
SECRET_KEY = env.text("HERMES_SECRET_KEY") or kept_secret_key(HERMES_DATA_DIR / "secret_key")
if len(SECRET_KEY) < 32:
    raise env.BadSetting("HERMES_SECRET_KEY", "***", "write at least 32 characters that nobody can guess")
ALLOWED_HOSTS = env.host_names("HERMES_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])

INSTALLED_APPS = [
    # The admin without its search for modules, which hermes_site.admin_urls makes up for.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_tasks_db",
    "sessions.apps.SessionsConfig",
    "compression.apps.CompressionConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "hermes_site.refusals.readable_refusals",
    "hermes_site.upload_limit.upload_limit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "hermes_site.urls"
ASGI_APPLICATION = "hermes_site.asgi.application"
AUTHENTICATION_BACKENDS = ["sessions.slow_guessing.SlowedBackend"]
LOGIN_URL = "signin:needed"
LOGIN_REDIRECT_URL = "/"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASE_URL = env.url(
    "DATABASE_URL",
    f"sqlite:///{HERMES_DATA_DIR / 'hermes.sqlite3'}",
    schemes=("sqlite", "postgres", "postgresql"),
)


SHOWN_DATABASE_URL = env.mask_url(DATABASE_URL)


def database(address: str) -> dict[str, Any]:
    """SQLite writers queue up (IMMEDIATE, and a minute of patience in a minute-long import) instead of failing.

    PostgreSQL's connections end with their request: each request has a thread of its own here, which would leave
    one behind that nobody uses again.
    """
    try:
        settings: dict[str, Any] = {**dj_database_url.parse(address)}
    except ValueError as error:
        raise env.BadSetting("DATABASE_URL", env.mask_url(address), str(error)) from error
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        settings["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 60,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=60000; "
                "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;"
            ),
        }
    return settings


DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.url("REDIS_URL", schemes=("redis", "rediss", "unix"))
SHOWN_REDIS_URL = env.mask_url(REDIS_URL)
# A socket without news waits in calls of 5 seconds, which is also when Redis's client would give the line up.
REDIS_HOST = {"address": REDIS_URL, "socket_connect_timeout": 5, "socket_timeout": 30}
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": (
        {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_HOST], "prefix": "hermes"}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}

# plotly 4 and later set style attributes and draw exported pictures from data: and blob: URLs;
# its own style sheet is replaced by a static one, so that no inline <style> is needed.
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF],
    "style-src-attr": [CSP.UNSAFE_INLINE],
    "img-src": [CSP.SELF, "data:", "blob:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "worker-src": [CSP.SELF, "blob:"],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
IS_SERVED_OVER_HTTPS = HERMES_PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_SERVED_OVER_HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Another program on the same host, on another port, shares the cookie jar: names of our own keep them apart.
SESSION_COOKIE_NAME = "hermes_session"
CSRF_COOKIE_NAME = "hermes_csrf"
CSRF_TRUSTED_ORIGINS = [HERMES_PUBLIC_URL] if HERMES_PUBLIC_URL else []
# Without a proxy nobody else's word counts for how and from where a request came.
HERMES_BEHIND_PROXY = env.flag("HERMES_BEHIND_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HERMES_BEHIND_PROXY else None
SECURE_SSL_REDIRECT = IS_SERVED_OVER_HTTPS and HERMES_BEHIND_PROXY
# Prometheus on this host asks past the proxy.
SECURE_REDIRECT_EXEMPT = [r"^metrics$"]
# Whether other hosts of the domain are HTTPS only, and for good, is for the domain's owner to say.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_HSTS_SECONDS = 31_536_000 if IS_SERVED_OVER_HTTPS else 0

FILE_UPLOAD_HANDLERS = ["hermes_site.upload_limit.BoundedTemporaryFileUploadHandler"]
FILE_UPLOAD_TEMP_DIR = env.directory("HERMES_UPLOAD_DIR", HERMES_DATA_DIR / "uploads")
# What is not a file (form fields, htmx values) stays small.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
DATA_UPLOAD_MAX_NUMBER_FILES = 100

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = env.text("HERMES_TIME_ZONE", "UTC")
try:
    ZoneInfo(TIME_ZONE)
except (ValueError, OSError, ZoneInfoNotFoundError):
    allowed = "write a name of the IANA list, such as UTC or Europe/Berlin"
    raise env.BadSetting("HERMES_TIME_ZONE", TIME_ZONE, allowed) from None
USE_THOUSAND_SEPARATOR = False


def package_folder(package: str, folder: str) -> Path:
    """Scripts as an installed package ships them; no page loads them from elsewhere."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(f"The package {package} is not installed: run `make setup`")
    return Path(spec.origin).parent / folder


STATIC_URL = "static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("plotly", package_folder("plotly", "package_data")),
    ("ninja", package_folder("ninja", "static/ninja")),
]

# The bridge that counts tokens lives in an app that this one must not import.
AGENT_SESSIONS_MEASURE = "compression.transcripts.measure"
# So do policies, and with them what they save of the dollars of sessions.
AGENT_SESSIONS_OUTCOMES = "compression.session_outcomes.session_outcomes"
# So does the policy that the example project tells its story under.
AGENT_SESSIONS_EXAMPLE_LOADED = "compression.example_policy.adopt_chapter"

HERMES_LOG_LEVEL = env.choice("HERMES_LOG_LEVEL", "WARNING", among=("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"without_links": {"()": "hermes_site.logs.WithoutSignInLinks"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "filters": ["without_links"], "formatter": "line"},
    },
    "root": {"handlers": ["stderr"], "level": HERMES_LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "level": "NOTSET", "propagate": True},
        # It warns whenever it is told to stop, which is no news.
        "django_tasks_db": {"level": "ERROR"},
    },
}
