"""What the recorded usage of the example sessions is made from: exact token counts and one made-up tokenizer.

A provider counts with its own vocabulary and adds a prompt that no log holds. The examples stand in for
both with one factor and one constant, so that a calibration has the right answer to find.
"""

from __future__ import annotations

from sessions.example.script import Call, Response

MESSAGE_OVERHEAD = 4


def count(text: str) -> int:
    """Tokens of one text in o200k_base."""
    from toktok import batch_count  # loads its vocabulary: about a second, only when an example is written

    return int(batch_count([text], "o200k_base")[0]) if text else 0


def result_tokens(call: Call) -> int:
    """A tool result as a message of its own."""
    return count(call.result) + MESSAGE_OVERHEAD


def response_tokens(response: Response) -> int:
    """A response with all its parts: thinking, words, names and arguments of the calls."""
    calls = sum(count(call.name) + count(call.arguments_text) for call in response.calls)
    return count(response.thinking) + count(response.text) + calls + MESSAGE_OVERHEAD


def prompt_tokens(text: str) -> int:
    """A user's or system's message."""
    return count(text) + MESSAGE_OVERHEAD
