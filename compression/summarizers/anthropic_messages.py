"""Summaries by Anthropic's Messages API, through its own SDK.

The rules are a system prompt that the provider may keep (``cache_control``); it keeps only prefixes above
its model's minimum. Needs the extra; whoever chooses says so when it is absent.
"""

from __future__ import annotations

import anthropic

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

_ERRORS = ErrorTypes(
    anthropic.APITimeoutError, anthropic.APIStatusError, anthropic.APIConnectionError, anthropic.AnthropicError
)


class AnthropicSummarizer:
    """Without a key or an address of its own it uses those of the SDK's variables."""

    def __init__(self, model: str, *, base_url: str = "", api_key: str = "") -> None:
        self.name = f"anthropic/{model}"
        self._model = model
        keep_texts_from_logs("anthropic")
        self._client = anthropic.Anthropic(
            api_key=api_key or None,
            base_url=base_url or None,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(**client_settings()),
        )

    @property
    def has_key(self) -> bool:
        return bool(self._client.api_key or self._client.auth_token or self._client.credentials)

    def summarize(self, request: SummaryRequest, *, time_limit_s: float) -> str:
        with failures_in_words(_ERRORS):
            answer: object = self._client.messages.create(
                model=self._model,
                max_tokens=answer_limit(request),
                system=[{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}],
                messages=[
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": source_part(request)},
                            {"type": "text", "text": task_part(request)},
                        ],
                    }
                ],
                timeout=time_limit_s,
            )
        return _text_of(answer)


def made(model: str, *, base_url: str, api_key: str) -> AnthropicSummarizer | None:
    """None when there is no key, nor anything else that the SDK finds to sign with."""
    try:
        summarizer = AnthropicSummarizer(model, base_url=base_url, api_key=api_key)
    except anthropic.AnthropicError:
        return None
    return summarizer if summarizer.has_key else None


def _text_of(answer: object) -> str:
    """The text blocks; what a model thought is no part of them. The SDK does not check what a server sends."""
    blocks = getattr(answer, "content", None)
    if not isinstance(blocks, list):
        raise SummaryFailed(NO_ANSWER)
    stopped = getattr(answer, "stop_reason", None)
    if stopped == "max_tokens":
        raise SummaryFailed("the answer was cut off at its limit")
    if stopped == "refusal":
        raise SummaryFailed("the model declined")
    texts = [getattr(block, "text", None) for block in blocks if getattr(block, "type", None) == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
