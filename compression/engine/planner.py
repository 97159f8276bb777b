"""Decides what an event changes. It proposes edits and touches nothing.

In this order, until the target is reached: results that a newer message supersedes, large results, long arguments of
calls, old thinking without a signature; only what lies in the compressible zone. A part that was changed stays as it is
(frozen) until the ladder shortens it, from its original. One whose stub would not be shorter is never asked for again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compression.engine.allocation import allocate
from compression.engine.call_arguments import shortened
from compression.engine.content_types import detect
from compression.engine.edits import Edit, EditKind
from compression.engine.history import Course
from compression.engine.policy import Policy
from compression.engine.stubs import Stub, Stubber
from compression.engine.superseded import Replacement, Superseded, superseded_line
from compression.engine.tokens import part_texts
from compression.engine.transcript import Part
from compression.engine.zones import Zones

SMALLEST_SUPERSEDED = 60
"""Tokens of the smallest result that a line pointing at a newer message may replace."""

_Key = tuple[int, int, int]  # rank, message, part
_Place = tuple[int, int]  # message, part
Originals = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Known:
    """Stubs that came with the session from an earlier compression: sha256 of a stub -> sha256 of its original.

    ``originals`` gives an original by its sha256, None when it is gone.
    """

    stubs: Mapping[str, str] = field(default_factory=dict)
    originals: Originals = lambda sha: None


@dataclass(slots=True)
class Proposal:
    """Edits in the order in which they were chosen; ``freed`` uncalibrated tokens. ``exhausted``: no more to take."""

    edits: list[Edit] = field(default_factory=list)
    freed: int = 0
    exhausted: bool = False
    named: set[_Place] = field(default_factory=set)  # what the superseded point at
    _keys: list[_Key] = field(default_factory=list)

    def add(self, edit: Edit) -> None:
        self.edits.append(edit)
        self.freed += edit.tokens_before - edit.tokens_after


class Planner:
    """The candidates of one replay, added as they leave the recent zone. O(log n) a candidate."""

    def __init__(self, course: Course, policy: Policy, stubber: Stubber, known: Known) -> None:
        self._course = course
        self._policy = policy
        self._floor = policy.model_copy(update={"result_ratio": 0.0})
        self._stubber = stubber
        self._known = known
        self._superseded = Superseded(course)
        self._heap: list[_Key] = []
        self._results: list[_Place] = []  # that may be superseded
        self._edits: dict[_Place, Edit | None] = {}
        self._floors: dict[_Place, Edit | None] = {}
        self._admitted = 0

    def admit(self, end: int) -> None:
        """Messages before ``end`` have left the recent zone: their results become candidates."""
        if end <= self._admitted:
            return
        for i, j, tokens in self._course.results_between(self._admitted, end):
            if tokens > self._policy.min_result_tokens:
                heapq.heappush(self._heap, (0 if self._policy.selection == "oldest_first" else -tokens, i, j))
            if tokens > SMALLEST_SUPERSEDED and self._policy.superseded:
                self._results.append((i, j))
        self._admitted = end

    def propose(self, zones: Zones, wanted: float, changed: Mapping[_Place, Edit]) -> Proposal:
        """Edits that free ``wanted`` uncalibrated tokens, or all there are. ``selection`` all takes everything.

        ``changed``: parts that are no longer word for word, with what stands there. What the request no longer
        holds is forgotten.
        """
        proposal = Proposal()
        self._replace_superseded(proposal, zones, changed)
        standing = {**changed, **{(edit.message, edit.part): edit for edit in proposal.edits}}
        if self._policy.allocation == "novelty":
            if proposal.freed < wanted:
                self._allocate(proposal, zones, wanted, standing)
        else:
            self._take(proposal, zones, wanted, standing)
        if self._policy.max_argument_tokens is not None:
            self._shorten_arguments(proposal, zones, wanted, standing, self._policy.max_argument_tokens)
        if self._policy.clear_thinking:
            self._clear_thinking(proposal, zones, wanted, standing)
        return proposal

    def _replace_superseded(self, proposal: Proposal, zones: Zones, changed: Mapping[_Place, Edit]) -> None:
        """Every result whose text a newer message has: that costs no knowledge, so the target is not asked."""
        standing, open_results = dict(changed), []
        # From the newest on, so that nothing points at what is replaced in the same event.
        for i, j in reversed(self._results):
            zone = zones.of_message(i)
            if zone is None or (i, j) in changed:
                continue
            open_results.append((i, j))
            if zone == "compressible" and self._course.sha(i, j) not in self._known.stubs:
                newer = self._superseded.newer(zones.request, i, j, standing)
                edit = None if newer is None else self._superseded_edit(i, j, newer)
                if newer is not None and edit is not None:
                    standing[i, j] = edit
                    proposal.add(edit)
                    proposal.named.add((newer.message, newer.part))
        self._results = open_results[::-1]

    def _superseded_edit(self, i: int, j: int, newer: Replacement) -> Edit | None:
        transcript = self._course.transcript
        part, tokens, sha = transcript.messages[i].parts[j], transcript.counts[i][j], self._course.sha(i, j)
        content = detect(part.text, part.name, self._course.arguments.get(part.call_id, ""))
        address = self._stubber.addresses.of(sha)
        text = superseded_line(
            content.kind, part.text.count("\n") + (not part.text.endswith("\n")), tokens, newer, address
        )
        after = self._stubber.counter.count(text)
        if after >= tokens or _bytes(text) >= _bytes(part.text):
            return None
        return Edit(
            message=i,
            part=j,
            kind="superseded",
            text=text,
            tokens_before=tokens,
            tokens_after=after,
            content_type=content.kind,
            confidence=content.confidence,
            why=content.why,
            address=address,
            sha256=sha,
            reason=f"superseded: {newer.why} in message {newer.message}",
            newer=newer.message,
        )

    def _take(self, proposal: Proposal, zones: Zones, wanted: float, changed: Mapping[_Place, Edit]) -> None:
        """Results in the policy's order; those whose target was edited since go first."""
        passed: list[_Key] = []
        takes_all = self._policy.selection == "all"
        self._rank_stale(zones)
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
                proposal.add(edit)
                proposal._keys.append(key)
        proposal.exhausted = not self._heap
        for key in passed:
            heapq.heappush(self._heap, key)

    def _rank_stale(self, zones: Zones) -> None:
        if not self._policy.superseded or self._policy.selection != "largest_first":
            return
        counts = self._course.transcript.counts
        stale = {(i, j) for _, i, j in self._heap if self._superseded.stale(zones.request, i, j)}
        if stale:
            # A rank below every size: the stale ones come first, the largest of them first.
            top = max(map(max, filter(None, counts)))
            self._heap = [(-counts[i][j] - (top if (i, j) in stale else 0), i, j) for _, i, j in self._heap]
            heapq.heapify(self._heap)

    def _allocate(self, proposal: Proposal, zones: Zones, wanted: float, changed: Mapping[_Place, Edit]) -> None:
        """All candidates at once, each with what it gets of what ``wanted`` leaves them together."""
        counts = self._course.transcript.counts
        open_keys = [key for key in self._heap if zones.of_message(key[1]) is not None and key[1:] not in changed]
        keys = sorted(
            (
                key
                for key in open_keys
                if zones.of_message(key[1]) == "compressible" and self._course.sha(*key[1:]) not in self._known.stubs
            ),
            key=lambda key: key[1:],
        )
        results = [(i, j, counts[i][j]) for _, i, j in keys]
        standing = {i: edit for (i, j), edit in changed.items() if self._is_result(i, j)}
        budget = sum(tokens for _, _, tokens in results) - (wanted - proposal.freed)
        made = allocate(self._course, zones.request, results, standing, budget, self._policy, self._stubber)
        proposal.exhausted = True
        for key, candidate in zip(keys, made, strict=True):
            if candidate.stub is not None:
                proposal.add(_stub_edit(candidate.stub, candidate.message, candidate.part, candidate.tokens, "novelty"))
                proposal._keys.append(key)
        self._heap = sorted(set(open_keys).difference(proposal._keys))

    def _is_result(self, i: int, j: int) -> bool:
        return self._course.transcript.messages[i].parts[j].kind == "tool_result"

    def _shorten_arguments(
        self, proposal: Proposal, zones: Zones, wanted: float, changed: Mapping[_Place, Edit], limit: int
    ) -> None:
        for i, j in self._parts(zones, "tool_call", {*changed, *proposal.named}):
            if proposal.freed >= wanted and self._policy.selection != "all":
                return
            edit = self._arguments_edit(i, j, limit)
            if edit is not None:
                proposal.add(edit)

    def _clear_thinking(self, proposal: Proposal, zones: Zones, wanted: float, changed: Mapping[_Place, Edit]) -> None:
        for i, j in self._parts(zones, "thinking", changed):
            if proposal.freed >= wanted and self._policy.selection != "all":
                return
            edit = self._thinking_edit(i, j)
            if edit is not None:
                proposal.add(edit)

    def _parts(self, zones: Zones, kind: str, changed: Container[_Place]) -> Sequence[_Place]:
        """The untouched parts of a kind in the compressible zone, oldest first."""
        messages = self._course.transcript.messages
        return [
            (i, j)
            for i in zones.compressible()
            if i not in self._course.excluded
            for j, part in enumerate(messages[i].parts)
            if part.kind == kind and (i, j) not in changed
        ]

    def give_back(self, proposal: Proposal) -> None:
        """The proposal was not carried out: its candidates stay candidates."""
        for key in proposal._keys:
            heapq.heappush(self._heap, key)

    def edit(self, i: int, j: int, reason: str = "") -> Edit | None:
        """The edit that stubs one result; None when it is a stub already or no shorter one exists."""
        if (i, j) not in self._edits:
            why = reason or self._policy.selection.replace("_", " ")
            self._edits[i, j] = self._stub(i, j, self._policy, "stub", why)
        return self._edits[i, j]

    def _stub(self, i: int, j: int, policy: Policy, kind: EditKind, reason: str) -> Edit | None:
        transcript = self._course.transcript
        part, tokens, sha = transcript.messages[i].parts[j], transcript.counts[i][j], self._course.sha(i, j)
        if sha in self._known.stubs:
            return None
        stub = self._stubber.stub(part, tokens, policy, self._course.arguments.get(part.call_id, ""), sha)
        return None if stub is None else _stub_edit(stub, i, j, tokens, reason, kind)

    def at_floor(self, i: int, j: int) -> Edit | None:
        """A part as short as the ladder makes it, always from its original; None when it cannot be shorter.

        Signed and opaque parts and media stay.
        """
        if (i, j) not in self._floors:
            self._floors[i, j] = self._at_floor(i, j)
        return self._floors[i, j]

    def _at_floor(self, i: int, j: int) -> Edit | None:
        part, reason = self._course.transcript.messages[i].parts[j], "every block to its floor"
        if part.kind == "thinking":
            return self._thinking_edit(i, j)
        if part.kind not in ("tool_call", "tool_result", "text"):
            return None
        original = self._known.stubs.get(self._course.sha(i, j))
        if original is not None and part.kind == "text":
            return None  # at its floor already, or a note, which holds addresses
        if original is not None:
            return self._shorter_known(i, j, original, reason)
        if part.kind == "tool_call":
            return self._arguments_edit(i, j, self._policy.result_floor)
        return self._stub(i, j, self._floor, "stub" if part.kind == "tool_result" else "text", reason)

    def _shorter_known(self, i: int, j: int, sha: str, reason: str) -> Edit | None:
        """A stub that came with the session, made anew from its original and shorter than it is."""
        text = self._known.originals(sha)
        if text is None:
            return None
        transcript = self._course.transcript
        stands, tokens = transcript.messages[i].parts[j], transcript.counts[i][j]
        part, counter = replace(stands, text=text), self._stubber.counter
        if part.kind == "tool_call":
            edit = self._shortened(i, j, part, sha, self._policy.result_floor)
        else:
            arguments = self._course.arguments.get(part.call_id, "")
            stub = self._stubber.stub(part, counter.count(text), self._floor, arguments, sha)
            edit = None if stub is None else _stub_edit(stub, i, j, tokens, reason)
        if edit is None or edit.tokens_after >= tokens or _bytes(edit.text) >= _bytes(stands.text):
            return None
        return edit

    def _arguments_edit(self, i: int, j: int, limit: int) -> Edit | None:
        transcript, sha = self._course.transcript, self._course.sha(i, j)
        if transcript.counts[i][j] <= limit or sha in self._known.stubs:
            return None
        return self._shortened(i, j, transcript.messages[i].parts[j], sha, limit)

    def _shortened(self, i: int, j: int, part: Part, sha: str, limit: int) -> Edit | None:
        """The arguments of ``part``, whose sha256 is given, shortened in place of part j of message i."""
        counter, address = self._stubber.counter, self._stubber.addresses.of(sha)
        text = shortened(part.text, limit, counter.count_many, address)
        if text is None:
            return None
        return Edit(
            message=i,
            part=j,
            kind="arguments",
            text=text,
            tokens_before=self._course.transcript.counts[i][j],
            tokens_after=sum(counter.count_many(part_texts(replace(part, text=text)))),
            content_type="json",
            compressor="arguments",
            address=address,
            sha256=sha,
            reason=f"arguments over {limit:,} tokens",
        )

    def _thinking_edit(self, i: int, j: int) -> Edit | None:
        transcript, counter = self._course.transcript, self._stubber.counter
        part, tokens, sha = transcript.messages[i].parts[j], transcript.counts[i][j], self._course.sha(i, j)
        if part.signature or not part.text or sha in self._known.stubs:
            return None
        address = self._stubber.addresses.of(sha)
        text = f"[cleared thinking · {tokens:,} tokens · original {address}]"
        after = counter.count(text)
        if after >= tokens or _bytes(text) >= _bytes(part.text):
            return None
        return Edit(i, j, "thinking", text, tokens, after, address=address, sha256=sha, reason="old thinking")

    def arrivals(self, first: int, zones: Zones, pinned: Container[int], limit: int) -> list[Edit]:
        """Edits for the results from message ``first`` on that are larger than ``limit``; head and pins stay."""
        found = (
            self.edit(i, j, "larger than the arrival limit")
            for i, j, tokens in self._course.results_between(first, zones.request.end)
            if tokens > limit and i not in pinned and zones.of_message(i) not in (None, "head")
        )
        return [edit for edit in found if edit is not None]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _stub_edit(stub: Stub, message: int, part: int, tokens: int, reason: str, kind: EditKind = "stub") -> Edit:
    return Edit(
        message=message,
        part=part,
        kind=kind,
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
