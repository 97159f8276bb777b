"""Summaries by any server that speaks OpenAI's chat completions, through OpenAI's own SDK.

Needs the extra; whoever chooses says so when it is absent. What such servers add to the protocol is not used.
"""

from __future__ import annotations

import openai

from compression.engine.summaries import SummaryRequest
from compression.summarizers.http_calls import (
    NO_ANSWER,
    ErrorTypes,
    client_settings,
    failures_in_words,
    keep_texts_from_logs,
)
from compression.summarizers.prompts import RULES, answer_limit, source_part, task_part
from compression.summarizers.protocol import SummaryFailed

_ERRORS = ErrorTypes(openai.APITimeoutError, openai.APIStatusError, openai.APIConnectionError, openai.OpenAIError)


class OpenAISummarizer:
    """Without a key or an address of its own it uses those of the SDK's variables."""

    def __init__(self, model: str, *, base_url: str = "", api_key: str = "") -> None:
        self.name = f"openai/{model}"
        self._model = model
        keep_texts_from_logs("openai")
        self._client = openai.OpenAI(
            api_key=api_key or None,
            base_url=base_url or None,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(**client_settings()),
        )
        # OpenAI's own models refuse the older name of the limit, most other servers know no other.
        self._limit = "max_completion_tokens" if self._client.base_url.host == "api.openai.com" else "max_tokens"

    def summarize(self, request: SummaryRequest, *, time_limit_s: float) -> str:
        with failures_in_words(_ERRORS):
            answer: object = self._client.chat.completions.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": RULES},
                    {"role": "user", "content": f"{source_part(request)}\n\n{task_part(request)}"},
                ],
                extra_body={self._limit: answer_limit(request)},
                timeout=time_limit_s,
            )
        return _text_of(answer)


def made(model: str, *, base_url: str, api_key: str) -> OpenAISummarizer | None:
    """None when there is no key: the SDK makes no client without one."""
    try:
        return OpenAISummarizer(model, base_url=base_url, api_key=api_key)
    except openai.OpenAIError:
        return None


def _text_of(answer: object) -> str:
    """The first choice's text. The SDK does not check what a server sends."""
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise SummaryFailed(NO_ANSWER)
    stopped = getattr(choices[0], "finish_reason", None)
    if stopped == "length":
        raise SummaryFailed("the answer was cut off at its limit")
    message = getattr(choices[0], "message", None)
    if stopped == "content_filter" or getattr(message, "refusal", None):
        raise SummaryFailed("the model declined")
    text = getattr(message, "content", None)
    if not isinstance(text, str):
        raise SummaryFailed(NO_ANSWER)
    return text
