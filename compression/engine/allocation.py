"""One budget for all results of an event, spent where the window learns most.

Every candidate's output is cut into units by its compressor. Musts come first, within a floor for each result;
then whatever brings most new names for its tokens, a line as it stands or a bare name in a list of what was left out.
A name that the assistant, the user, an untouched or an already kept line says is worth nothing here. What new names
leave of the budget goes to shoulds; mays that say nothing new are never taken. Only what the request holds is looked
at: nothing later is known when an event happens. What depends on one text alone was worked out when it arrived, if
the caller said so (``prepare``); an event only weighs, chooses and assembles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compression.engine.cover import FIRST_LINE, Candidate, Cover
from compression.engine.edits import Edit
from compression.engine.focus import Focus, attend, focus_of
from compression.engine.history import Course, Request
from compression.engine.occurrences import occurrences_of
from compression.engine.policy import Policy
from compression.engine.reading import reading_of
from compression.engine.stubs import Stubber
from compression.engine.worth import readings_beside, said_by, worths

__all__ = ["Candidate", "allocate", "prepare"]


def prepare(course: Course, stubber: Stubber, first: int = 0, end: int | None = None) -> None:
    """Messages[first:end] have arrived: what any later event needs to know of each text alone is worked out.

    Changes no result, only when the work is done: an agent waits for its next message anyway.
    """
    for message in course.transcript.messages[first:end]:
        if message.index in course.excluded:
            continue
        reading = reading_of(message)
        reading.settle()
        if message.role != "tool":
            attend(reading.text)
        for j, part in enumerate(message.parts):
            if part.kind == "tool_result":
                arguments = course.arguments.get(part.call_id, "")
                stubber.proposals.of(part, arguments, course.sha(message.index, j)).settle()


def allocate(
    course: Course,
    request: Request,
    results: Sequence[tuple[int, int, int]],
    standing: Mapping[int, Edit],
    budget: float,
    policy: Policy,
    stubber: Stubber,
) -> list[Candidate]:
    """What stands for each of ``results`` (message, part, tokens) when together they may cost ``budget`` tokens.

    ``standing`` = edits in force, by message. Less is spent when ``novelty_ceiling`` says so, more when the budget lies
    below what ``per_result`` would spend: a target out of reach is no reason to keep nothing.
    """
    names = occurrences_of(course)
    found = []
    for i, j, tokens in results:
        part, sha = course.transcript.messages[i].parts[j], course.sha(i, j)
        prepared = stubber.proposals.of(part, course.arguments.get(part.call_id, ""), sha)
        found.append(Candidate(i, j, tokens, part, sha, prepared))
    focus = focus_of(course, names, request) if policy.context_aware else Focus()
    beside = readings_beside(names, request.indexes(), {candidate.message for candidate in found}, standing)
    said = said_by(beside, [candidate.prepared for candidate in found])
    end = course.prefix[request.end]
    aged = [(candidate.prepared, end - course.prefix[candidate.message + 1]) for candidate in found]
    least = sum(min(policy.stub_budget(tokens) + FIRST_LINE, tokens // 2) for _, _, tokens in results)
    most = policy.novelty_ceiling * sum(tokens for _, _, tokens in results)
    cover = Cover(found, worths(aged, said, focus), stubber, diagnosing=focus.diagnosing)
    floors = [policy.stub_budget(tokens) for _, _, tokens in results]
    cover.spend(max(least, min(budget, most)), floors)
    return found
