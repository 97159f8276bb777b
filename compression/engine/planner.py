"""Decides what an event changes. It proposes edits and touches nothing.

Candidates are tool results of the compressible zone above the policy's size, in the policy's
order, until the target is reached. A result that was stubbed stays as it is (frozen); one whose
stub would not be shorter is never asked for again.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compression.engine.edits import Edit
from compression.engine.policy import Policy
from compression.engine.stubs import Stubber
from compression.engine.transcript import Message, Transcript

_Key = tuple[int, int, int]  # rank, message, part


@dataclass(slots=True)
class Proposal:
    """Edits in the order in which they were chosen; ``freed`` uncalibrated tokens. ``exhausted``: no more to take."""

    edits: list[Edit] = field(default_factory=list)
    freed: int = 0
    exhausted: bool = False
    _keys: list[_Key] = field(default_factory=list)


class Planner:
    """The candidates of one replay, added as they leave the recent zone. O(log n) a candidate."""

    def __init__(self, transcript: Transcript, policy: Policy, stubber: Stubber) -> None:
        self._transcript = transcript
        self._policy = policy
        self._stubber = stubber
        self._heap: list[_Key] = []
        self._arguments = {
            part.call_id: part.text for m in transcript.messages for part in m.parts if part.kind == "tool_call"
        }

    def admit(self, indexes: Iterable[int]) -> None:
        """Messages that have left the recent zone: their large results become candidates."""
        counts, messages = self._transcript.counts, self._transcript.messages
        oldest_first = self._policy.selection == "oldest_first"
        for i in indexes:
            if messages[i].role != "tool":
                continue
            for j, tokens in enumerate(counts[i]):
                if tokens > self._policy.min_result_tokens and messages[i].parts[j].kind == "tool_result":
                    heapq.heappush(self._heap, (0 if oldest_first else -tokens, i, j))

    def propose(self, pinned: dict[int, str], wanted: float, stubbed: set[int]) -> Proposal:
        """Edits that free ``wanted`` uncalibrated tokens, or all there are. ``selection`` all takes everything."""
        proposal = Proposal()
        passed: list[_Key] = []
        takes_all = self._policy.selection == "all"
        while self._heap and (takes_all or proposal.freed < wanted):
            key = heapq.heappop(self._heap)
            _, i, j = key
            if i in pinned:
                passed.append(key)
                continue
            if i in stubbed:
                continue
            edit = self.edit(i, j)
            if edit is not None:
                proposal.edits.append(edit)
                proposal.freed += edit.tokens_before - edit.tokens_after
                proposal._keys.append(key)
        proposal.exhausted = not self._heap
        for key in passed:
            heapq.heappush(self._heap, key)
        return proposal

    def give_back(self, proposal: Proposal) -> None:
        """The proposal was not carried out: its candidates stay candidates."""
        for key in proposal._keys:
            heapq.heappush(self._heap, key)

    def edit(self, i: int, j: int, reason: str = "") -> Edit | None:
        """The edit that stubs one part; None when no shorter stub exists."""
        part = self._transcript.messages[i].parts[j]
        tokens = self._transcript.counts[i][j]
        stub = self._stubber.stub(part, tokens, self._policy, self._arguments.get(part.call_id, ""))
        if stub is None:
            return None
        return Edit(
            message=i,
            part=j,
            kind="stub",
            text=stub.text,
            tokens_before=tokens,
            tokens_after=stub.tokens,
            content_type=stub.kind,
            compressor=stub.compressor,
            confidence=stub.confidence,
            why=stub.why,
            kept=stub.kept,
            counts=stub.counts,
            address=stub.address,
            sha256=stub.sha256,
            reason=reason or self._policy.selection.replace("_", " "),
        )


def arrivals(messages: Sequence[Message], counts: Sequence[Sequence[int]], first: int, end: int, limit: int) -> list[tuple[int, int]]:  # fmt: skip
    """(message, part) of the results in messages[first:end] that are larger than the arrival limit."""
    return [
        (i, j)
        for i in range(first, end)
        for j, tokens in enumerate(counts[i])
        if tokens > limit and messages[i].parts[j].kind == "tool_result"
    ]
