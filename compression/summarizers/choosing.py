"""The summarizer that the operator's settings name.

Keys, addresses and models come from there or from the variables of the SDKs, never from a session or a
policy. A complaint names the setting and the remedy, never the value of a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from compression.summarizers.extractive import ExtractiveSummarizer
from compression.summarizers.protocol import Summarizer

CHOICES = ("extractive", "anthropic", "openai")
EXTRA = "requirements/summaries.txt"

_MODULES = {"anthropic": "anthropic_messages", "openai": "openai_chat"}
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


class BadChoice(ValueError):
    """The settings name a summarizer that cannot be used as they stand."""


def summarizer_from(settings: Mapping[str, object]) -> Summarizer:
    """The summarizer of HERMES_SUMMARIZER with HERMES_SUMMARIZER_MODEL, _BASE_URL and _API_KEY.

    Nothing is sent. BadChoice when a setting or the extra is missing. What is made holds open connections and
    may be kept for the life of a process.
    """
    choice = _text(settings, "HERMES_SUMMARIZER") or "extractive"
    if choice not in CHOICES:
        raise BadChoice(f"HERMES_SUMMARIZER={choice!r}: write one of {', '.join(CHOICES)}")
    if choice == "extractive":
        return ExtractiveSummarizer()
    model = _text(settings, "HERMES_SUMMARIZER_MODEL")
    if not model:
        raise BadChoice(f"HERMES_SUMMARIZER={choice} needs HERMES_SUMMARIZER_MODEL: the model's name at the provider")
    base_url = _text(settings, "HERMES_SUMMARIZER_BASE_URL")
    if base_url and not base_url.startswith(("http://", "https://")):
        raise BadChoice("HERMES_SUMMARIZER_BASE_URL: write an address that begins with http:// or https://")
    return _client(choice, model, base_url, _text(settings, "HERMES_SUMMARIZER_API_KEY"))


def _client(choice: str, model: str, base_url: str, api_key: str) -> Summarizer:
    try:
        module = import_module(f"compression.summarizers.{_MODULES[choice]}")
    except ModuleNotFoundError as error:
        raise BadChoice(
            f"HERMES_SUMMARIZER={choice} needs the package {error.name}: install the extra `summaries` "
            f"(pip install -r {EXTRA})"
        ) from error
    made: Summarizer | None = module.made(model, base_url=base_url, api_key=api_key)
    if made is None:
        raise BadChoice(f"HERMES_SUMMARIZER={choice} needs a key: set HERMES_SUMMARIZER_API_KEY or {_KEYS[choice]}")
    return made


def _text(settings: Mapping[str, object], name: str) -> str:
    return str(settings.get(name) or "").strip()
