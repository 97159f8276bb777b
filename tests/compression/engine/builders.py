"""Small transcripts written by hand, counted by rules that a reader can follow without a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from compression.engine.calibration import Calibration
from compression.engine.policy import Policy
from compression.engine.replay import Replay, replay
from compression.engine.stubs import Stubber
from compression.engine.tokens import CachedCounter, TokenCounter, count_parts
from compression.engine.transcript import Boundary, Message, Part, Recorded, Role, Transcript, Turn


class Words:
    """One token a word."""

    name = "words"

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


class Quarters:
    """One token for each four characters begun."""

    name = "quarters"

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [-(-len(text) // 4) for text in texts]


def words(count: int, stem: str = "word") -> str:
    """``count`` different words, ten a line."""
    rows = [f"{stem}{i}" + ("\n" if i % 10 == 9 else " ") for i in range(count)]
    return "".join(rows).rstrip()


class SessionBuilder:
    """Builds a transcript message by message. Tokens are words unless said otherwise."""

    def __init__(self, counter: TokenCounter | None = None, *, model: str = "", context_window: int | None = None):
        self.counter = counter or Words()
        self.model = model
        self.context_window = context_window
        self.messages: list[Message] = []
        self.turns: list[Turn] = []
        self.boundaries: list[Boundary] = []

    def add(self, role: Role, *parts: Part, flags: Sequence[str] = (), response_id: str = "") -> int:
        """A message; gives its index."""
        index = len(self.messages)
        self.messages.append(Message(index, role, parts, response_id=response_id, flags=frozenset(flags)))
        return index

    def system(self, text: str = "rules") -> int:
        return self.add("system", Part("text", text))

    def user(self, text: str = "please", *flags: str) -> int:
        return self.add("user", Part("text", text), flags=flags)

    def turn(
        self,
        *results: tuple[str, str] | Part,
        text: str = "ok",
        recorded: int | None = None,
        responses: int = 1,
        arguments: str = "{}",
    ) -> int:
        """A call of the model that asks for tools (name, result); gives the turn's index.

        ``responses``: into how many messages the log split the response.
        """
        number, request_end = len(self.turns), len(self.messages)
        parts = [
            result if isinstance(result, Part) else Part("tool_result", result[1], f"call-{number}-{j}", result[0])
            for j, result in enumerate(results)
        ]
        for _ in range(responses - 1):
            self.add("assistant", Part("text", text))
        calls = [Part("tool_call", arguments, part.call_id, part.name) for part in parts]
        self.add("assistant", *([Part("text", text)] if text else []), *calls)
        response_end = len(self.messages)
        for part in parts:
            self.add("tool", part)
        usage = None if recorded is None else Recorded(recorded)
        self.turns.append(Turn(number, request_end, response_end, len(self.messages), usage))
        return number

    def boundary(self, kind: Literal["compact", "micro", "silent"], **fields: Any) -> None:
        """A boundary that the next call is the first to feel."""
        at = {"turn": len(self.turns), "position": len(self.messages)}
        self.boundaries.append(Boundary(kind=kind, **(at | fields)))

    def build(self) -> Transcript:
        counts = count_parts((m.parts for m in self.messages), self.counter.count_many)
        return Transcript(
            tuple(self.messages),
            tuple(self.turns),
            tuple(map(tuple, counts)),
            tuple(self.boundaries),
            self.model,
            self.context_window,
        )


def stubber(counter: TokenCounter | None = None) -> Stubber:
    """A stubber that counts as the builder does."""
    return Stubber(CachedCounter(counter or Words()))


def small_policy(**fields: Any) -> Policy:
    """A policy for windows of a few thousand words."""
    defaults: dict[str, Any] = {
        "context_window": 4_000,
        "recent_tokens": 300,
        "min_reclaim_tokens": 100,
        "min_result_tokens": 100,
        "result_floor": 20,
        "result_ceiling": 40,
        "superseded": False,
        "ladder": False,
    }
    return Policy(**(defaults | fields))


def run(builder: SessionBuilder, policy: Policy, calibration: Calibration | None = None, **options: Any) -> Replay:
    """Replay what was built, counted as it was built."""
    options.setdefault("stubber", stubber(builder.counter))
    return replay(builder.build(), policy, calibration or Calibration(), **options)
