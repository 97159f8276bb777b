"""Decides what an event changes. It proposes edits and touches nothing.

Candidates are tool results of the compressible zone above the policy's size, in the policy's
order, until the target is reached. A result that was stubbed stays as it is (frozen); one whose
stub would not be shorter is never asked for again.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from compression.engine.allocation import allocate
from compression.engine.edits import Edit
from compression.engine.history import Course
from compression.engine.policy import Policy
from compression.engine.stubs import Stub, Stubber
from compression.engine.zones import Zones

_Key = tuple[int, int, int]  # rank, message, part


@dataclass(slots=True)
class Proposal:
    """Edits in the order in which they were chosen; ``freed`` uncalibrated tokens. ``exhausted``: no more to take."""

    edits: list[Edit] = field(default_factory=list)
    freed: int = 0
    exhausted: bool = False
    _keys: list[_Key] = field(default_factory=list)


class Planner:
    """The candidates of one replay, added as they leave the recent zone. O(log n) a candidate.

    ``known``: sha256 of texts that are stubs already; they are frozen, whatever their size.
    """

    def __init__(self, course: Course, policy: Policy, stubber: Stubber, known: Container[str] = ()) -> None:
        self._course = course
        self._policy = policy
        self._stubber = stubber
        self._known = known
        self._heap: list[_Key] = []
        self._edits: dict[tuple[int, int], Edit | None] = {}
        self._admitted = 0

    def admit(self, end: int) -> None:
        """Messages before ``end`` have left the recent zone: their large results become candidates."""
        if end <= self._admitted:
            return
        oldest_first = self._policy.selection == "oldest_first"
        for i, j, tokens in self._course.results_between(self._admitted, end):
            if tokens > self._policy.min_result_tokens:
                heapq.heappush(self._heap, (0 if oldest_first else -tokens, i, j))
        self._admitted = end

    def propose(self, zones: Zones, wanted: float, changed: Mapping[tuple[int, int], Edit]) -> Proposal:
        """Edits that free ``wanted`` uncalibrated tokens, or all there are. ``selection`` all takes everything.

        ``changed``: parts that are no longer word for word, with what stands there. What the request no longer
        holds is forgotten.
        """
        if self._policy.allocation == "novelty":
            return self._allocated(zones, wanted, changed)
        proposal = Proposal()
        passed: list[_Key] = []
        takes_all = self._policy.selection == "all"
        while self._heap and (takes_all or proposal.freed < wanted):
            key = heapq.heappop(self._heap)
            _, i, j = key
            zone = zones.of_message(i)
            if zone is None or (i, j) in changed:
                continue
            if zone != "compressible":
                passed.append(key)
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

    def _allocated(self, zones: Zones, wanted: float, changed: Mapping[tuple[int, int], Edit]) -> Proposal:
        """All candidates at once, each with what it gets of what ``wanted`` leaves them together."""
        counts = self._course.transcript.counts
        open_keys = [key for key in self._heap if zones.of_message(key[1]) is not None and key[1:] not in changed]
        keys = sorted(
            (
                key
                for key in open_keys
                if zones.of_message(key[1]) == "compressible" and self._course.sha(*key[1:]) not in self._known
            ),
            key=lambda key: key[1:],
        )
        results = [(i, j, counts[i][j]) for _, i, j in keys]
        standing = {edit.message: edit for edit in changed.values()}
        budget = sum(tokens for _, _, tokens in results) - wanted
        made = allocate(self._course, zones.request, results, standing, budget, self._policy, self._stubber)
        proposal = Proposal(exhausted=True)
        for key, candidate in zip(keys, made, strict=True):
            if candidate.stub is not None:
                stub = candidate.stub
                proposal.edits.append(_edit_of(stub, candidate.message, candidate.part, candidate.tokens, "novelty"))
                proposal.freed += candidate.tokens - stub.tokens
                proposal._keys.append(key)
        self._heap = sorted(set(open_keys).difference(proposal._keys))
        return proposal

    def give_back(self, proposal: Proposal) -> None:
        """The proposal was not carried out: its candidates stay candidates."""
        for key in proposal._keys:
            heapq.heappush(self._heap, key)

    def edit(self, i: int, j: int, reason: str = "") -> Edit | None:
        """The edit that stubs one part; None when it is a stub already or no shorter one exists."""
        if (i, j) not in self._edits:
            self._edits[i, j] = self._edit(i, j, reason or self._policy.selection.replace("_", " "))
        return self._edits[i, j]

    def _edit(self, i: int, j: int, reason: str) -> Edit | None:
        transcript = self._course.transcript
        part, tokens, sha = transcript.messages[i].parts[j], transcript.counts[i][j], self._course.sha(i, j)
        if sha in self._known:
            return None
        arguments = self._course.arguments.get(part.call_id, "")
        stub = self._stubber.stub(part, tokens, self._policy, arguments, sha)
        if stub is None:
            return None
        return _edit_of(stub, i, j, tokens, reason)

    def arrivals(self, first: int, zones: Zones, pinned: Container[int], limit: int) -> list[Edit]:
        """Edits for the results from message ``first`` on that are larger than ``limit``; head and pins stay."""
        found = (
            self.edit(i, j, "larger than the arrival limit")
            for i, j, tokens in self._course.results_between(first, zones.request.end)
            if tokens > limit and i not in pinned and zones.of_message(i) not in (None, "head")
        )
        return [edit for edit in found if edit is not None]


def _edit_of(stub: Stub, message: int, part: int, tokens: int, reason: str) -> Edit:
    return Edit(
        message=message,
        part=part,
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
        reason=reason,
    )
