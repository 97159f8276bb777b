"""A stub: the text that stands in for a compressed original, and how it is made.

Its first line says what it is and where the original lies; the body is the compressor's. The
same original under the same settings gives the same bytes in any process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from compression.engine import compressors
from compression.engine.content_types import ContentType, detect
from compression.engine.policy import Policy
from compression.engine.proposals import Proposals
from compression.engine.snapshots import Addresses, digest
from compression.engine.tokens import CachedCounter, default_counter
from compression.engine.transcript import Part

_SHELF_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Stub:
    """``text`` with its first line; ``tokens`` of all of it, ``body_tokens`` without that line."""

    text: str
    tokens: int
    body_tokens: int
    kind: str
    confidence: float
    why: str
    compressor: str
    kept: tuple[str, ...]
    counts: frozenset[str]
    sha256: str
    address: str


class Draft(NamedTuple):
    """The body of a stub of ``part`` before its first line; ``tokens`` are the original's."""

    part: Part
    sha: str
    tokens: int
    content: ContentType
    compressor: str
    made: compressors.Compressed


def first_line(kind: str, lines: int, before: int, after: int, address: str) -> str:
    """The stub's own line: content type, lines and tokens of the original, tokens of the body, address."""
    noun = "line" if lines == 1 else "lines"
    return f"[compressed {kind} · {lines:,} {noun} · {before:,} -> {after:,} tokens · original {address}]"


class Stubber:
    """Makes stubs, and remembers them: another policy with the same stub settings costs nothing."""

    def __init__(
        self,
        counter: CachedCounter | None = None,
        addresses: Addresses | None = None,
        summaries: Mapping[str, str] | None = None,
        proposals: Proposals | None = None,
    ) -> None:
        """``summaries``: what somebody wrote for an original, by its sha256; taken for prose and for what left.

        ``proposals``: what was prepared of results before, to be shared between calls.
        """
        self.summaries = summaries or {}
        self.counter = counter or default_counter()
        self.addresses = addresses or Addresses()
        self.proposals = proposals or Proposals(self.counter)
        self._shelf: OrderedDict[tuple[object, ...], Stub | None] = OrderedDict()

    def stub(self, part: Part, tokens: int, policy: Policy, arguments: str = "", sha: str = "") -> Stub | None:
        """The stub of a tool result of ``tokens`` tokens; None when it would not be shorter in tokens and bytes."""
        sha = sha or digest(part.text)
        budget = policy.stub_budget(tokens)
        key = (sha, part.name, arguments, budget, policy.code_output, self.summaries.get(sha))
        if key in self._shelf:
            self._shelf.move_to_end(key)
            return self._shelf[key]
        stub = self._make(part, sha, tokens, budget, policy, arguments)
        self._shelf[key] = stub
        if len(self._shelf) > _SHELF_LIMIT:
            self._shelf.popitem(last=False)
        return stub

    def _make(self, part: Part, sha: str, tokens: int, budget: int, policy: Policy, arguments: str) -> Stub | None:
        content = detect(part.text, part.name, arguments)
        if content.kind == "code_output" and policy.code_output == "head_tail":
            compressor = "head_tail"
            made = compressors.head_tail(part.text, budget=budget, count=self.counter.count_many)
        else:
            compressor = content.kind
            made = compressors.compress(
                part.text, kind=content.kind, budget=budget, count=self.counter.count_many, arguments=arguments
            )
        return self.finished(part, sha, tokens, content, compressor, made)

    def finished(
        self, part: Part, sha: str, tokens: int, content: ContentType, compressor: str, made: compressors.Compressed
    ) -> Stub | None:
        """A body with its first line; None when that would not be shorter than the original in tokens and bytes."""
        return self.finish([Draft(part, sha, tokens, content, compressor, made)])[0]

    def finish(self, drafts: Sequence[Draft]) -> list[Stub | None]:
        """As ``finished``, for all results of an event: two counting calls, however many there are."""
        drafts = [self._summarised(draft) for draft in drafts]
        body_tokens = self.counter.count_many([draft.made.text for draft in drafts])
        texts = [self._text(draft, counted) for draft, counted in zip(drafts, body_tokens, strict=True)]
        totals = self.counter.count_many(texts)
        return [_stub(*row, self.addresses) for row in zip(drafts, texts, totals, body_tokens, strict=True)]

    def _summarised(self, draft: Draft) -> Draft:
        summary = self.summaries.get(draft.sha) if draft.content.kind == "prose" else None
        if summary is None:
            return draft
        made = compressors.Compressed(summary, ("a summary by a model",), frozenset())
        return draft._replace(compressor="summary", made=made)

    def _text(self, draft: Draft, body_tokens: int) -> str:
        address = self.addresses.of(draft.sha)
        line = first_line(draft.content.kind, _lines(draft.part.text), draft.tokens, body_tokens, address)
        return f"{line}\n{draft.made.text}" if draft.made.text else line


def _stub(draft: Draft, text: str, total: int, body_tokens: int, addresses: Addresses) -> Stub | None:
    part, tokens, content, made = draft.part, draft.tokens, draft.content, draft.made
    if total >= tokens or _bytes(text) >= _bytes(part.text):
        return None
    lines = _lines(part.text)
    own = {f"{lines:,}", str(lines), f"{tokens:,}", str(tokens), f"{body_tokens:,}", str(body_tokens)}
    return Stub(
        text=text,
        tokens=total,
        body_tokens=body_tokens,
        kind=content.kind,
        confidence=content.confidence,
        why=content.why,
        compressor=draft.compressor,
        kept=tuple(made.kept),
        counts=frozenset(made.counts) | own,
        sha256=draft.sha,
        address=addresses.of(draft.sha),
    )


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
