"""SWE-agent's ``last_n_observations``: at every step only the newest five observations are shown.

The first observation is the task itself and always stays. With ``polling`` the cut moves once in so many steps.
"""

from __future__ import annotations

from compression.engine.edits import Step
from compression.engine.references.arrivals import Results
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import replacement


class LastObservations(Parameters):
    """How many observations stay, and how often the cut moves."""

    n: int = setting(5, "observations", "the newest ones stay", ge=1, le=100_000)
    polling: int = setting(1, "observations", "the cut moves once in so many", ge=1, le=100_000)
    keep_tools: tuple[str, ...] = setting((), "", "tools whose output always stays (the tag keep_output)")


class LastObservationsSession:
    """A call costs what came since the last one."""

    def __init__(self, parameters: LastObservations) -> None:
        self._parameters = parameters
        self._results = Results()

    def act(self, now: Now) -> Step | None:
        """Leave a line of every observation but the first and the newest."""
        options, results = self._parameters, self._results
        results.follow(now)
        # The task is observation 0 and no tool result: the results before ``end`` are observations 1 .. end.
        observations = len(results.rows) + 1
        end = observations // options.polling * options.polling - options.n - 1
        if end <= results.done:
            return None
        edits = []
        for i, j, _ in results.rows[results.done : end]:
            part = now.course.transcript.messages[i].parts[j]
            if (i, j) in now.edits or part.name in options.keep_tools:
                continue
            text = f"Old environment output: ({len(part.text.splitlines())} lines omitted)"
            edit = replacement(now, i, j, text, "old observation")
            if edit is not None:
                edits.append(edit)
        results.done = end
        return Step(tuple(edits), reason=f"all but the last {options.n} observations") if edits else None


REFERENCE = Reference(
    name="swe-agent-last-5",
    about="SWE-agent: at every step all tool output but the newest five becomes one line with its number of lines.",
    version="SWE-agent 1.x (the default of 0.7)",
    source="SWE-agent documentation, history processor last_n_observations: "
    "https://swe-agent.com/latest/reference/history_processor_config/",
    parameters=LastObservations,
    begin=LastObservationsSession,
    breaks=frozenset({"sacred bytes stay"}),
)
