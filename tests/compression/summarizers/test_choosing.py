from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compression.summarizers import BadChoice, ExtractiveSummarizer, summarizer_from


def complaint(**settings: str) -> str:
    with pytest.raises(BadChoice) as caught:
        summarizer_from({f"HERMES_{name}": value for name, value in settings.items()})
    return str(caught.value)


def test_without_settings_the_built_in_one_is_chosen() -> None:
    assert isinstance(summarizer_from({}), ExtractiveSummarizer)


def test_an_unknown_summarizer_is_refused_by_name() -> None:
    assert complaint(SUMMARIZER="gpt") == "HERMES_SUMMARIZER='gpt': write one of extractive, anthropic, openai"


def test_a_model_has_to_be_named() -> None:
    assert complaint(SUMMARIZER="openai") == (
        "HERMES_SUMMARIZER=openai needs HERMES_SUMMARIZER_MODEL: the model's name at the provider"
    )


def test_an_address_of_another_scheme_is_refused() -> None:
    assert complaint(SUMMARIZER="openai", SUMMARIZER_MODEL="m", SUMMARIZER_BASE_URL="file:///etc") == (
        "HERMES_SUMMARIZER_BASE_URL: write an address that begins with http:// or https://"
    )


@pytest.mark.parametrize(("choice", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")])
def test_a_key_has_to_come_from_somewhere(choice: str, variable: str) -> None:
    pytest.importorskip(choice, reason="needs the extra of requirements/summaries.txt")

    assert complaint(SUMMARIZER=choice, SUMMARIZER_MODEL="m") == (
        f"HERMES_SUMMARIZER={choice} needs a key: set HERMES_SUMMARIZER_API_KEY or {variable}"
    )


def test_a_profile_that_is_not_there_is_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("anthropic", reason="needs the extra of requirements/summaries.txt")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))

    assert "needs a key" in complaint(SUMMARIZER="anthropic", SUMMARIZER_MODEL="m")


@pytest.mark.parametrize("choice", ["anthropic", "openai"])
def test_a_missing_extra_is_named_with_the_way_to_install_it(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"anthropic": "anthropic_messages", "openai": "openai_chat"}[choice]
    monkeypatch.delitem(sys.modules, f"compression.summarizers.{module}", raising=False)
    monkeypatch.setitem(sys.modules, choice, None)

    assert complaint(SUMMARIZER=choice, SUMMARIZER_MODEL="m", SUMMARIZER_API_KEY="k") == (
        f"HERMES_SUMMARIZER={choice} needs the package {choice}: install the extra `summaries` "
        "(pip install -r requirements/summaries.txt)"
    )


def test_the_package_loads_no_client_and_no_django_until_one_is_chosen() -> None:
    program = (
        "import sys, compression.summarizers\n"
        "print(sorted({'anthropic', 'openai', 'httpx2', 'django', 'sessions'} & set(sys.modules)))"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed == "[]\n"
