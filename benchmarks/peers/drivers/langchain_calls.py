"""LangChain's ClearToolUsesEdit, called on a list of messages as its middleware does before a model call."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

Timed = Callable[..., tuple[Any, float]]


def clear(job: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """``trigger`` in tokens by LangChain's own counter; ``keep`` newest results stay."""
    messages_module = importlib.import_module("langchain_core.messages")
    editing = importlib.import_module("langchain.agents.middleware.context_editing")
    count = importlib.import_module("langchain_core.messages.utils").count_tokens_approximately
    given = messages_module.convert_to_messages(job["messages"])

    def run(messages: list[Any]) -> list[Any]:
        editing.ClearToolUsesEdit(trigger=job["trigger"], keep=job["keep"]).apply(messages, count_tokens=count)
        return messages

    result, ms = timed(lambda: copy.deepcopy(given), run, job.get("rounds", 1))
    return {"messages": messages_module.convert_to_openai_messages(result), "ms": ms}


_EXAMPLE = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]

DISTRIBUTION = "langchain"
HANDLERS = {"clear": clear}
WARM_UP = [{"call": "clear", "messages": _EXAMPLE, "trigger": 1, "keep": 3}]
