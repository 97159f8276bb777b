"""What moved inside a prefix without an event: told from the provider's figures and from what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from compression.engine.calibration import Calibration
from compression.engine.stability_lint import REMEDIES, Finding, stability_lint
from compression.engine.terms import terms_of
from compression.engine.transcript import Boundary, Message, Part, Recorded, Role, Transcript, Turn

HIDDEN = Calibration(hidden=10_000)
STEP = 10.0


class Session:
    """Calls of an agent, each with what the provider recorded of it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.turns: list[Turn] = []
        self.boundaries: list[Boundary] = []
        self.clock = 1_780_000_000.0

    def add(self, role: Role, *parts: Part, flags: Sequence[str] = ()) -> None:
        index = len(self.messages)
        self.messages.append(Message(index, role, parts, self.clock, flags=frozenset(flags)))

    def call(
        self, read: int, write: int, *, thinks: bool = False, calls: int = 1, idle: float = STEP, **turn: Any
    ) -> None:
        model = turn.pop("model", "claude-opus-5")
        self.clock += idle
        if self.messages:
            self.messages[-1] = replace(self.messages[-1], timestamp=self.clock)
        end = len(self.messages)
        thinking = [Part("thinking", "hm", signature="s")] * thinks
        self.add("assistant", *thinking, *[Part("tool_call", "{}", f"{end}-{n}", "Read") for n in range(calls)])
        for n in range(calls):
            self.add("tool", Part("tool_result", "text", f"{end}-{n}", "Read"))
        recorded = Recorded(read + write, read, write, 100, model)
        self.turns.append(Turn(len(self.turns), end, end + 1, len(self.messages), recorded, self.clock, **turn))

    def build(self) -> Transcript:
        counts = tuple((1_000,) * len(message.parts) for message in self.messages)
        return Transcript(tuple(self.messages), tuple(self.turns), counts, tuple(self.boundaries), "claude-opus-5")

    def findings(self) -> tuple[Finding, ...]:
        transcript = self.build()
        return stability_lint(transcript, HIDDEN, terms_of(transcript))


def begun() -> Session:
    session = Session()
    session.add("user", Part("text", "please"))
    session.call(0, 20_000)
    return session


def brief(findings: Sequence[Finding]) -> list[tuple[str, int | None, int]]:
    return [(finding.kind, finding.turn, finding.tokens) for finding in findings]


def test_ordinary_growth_is_no_finding() -> None:
    session = begun()
    session.call(20_000, 3_000)
    session.call(23_000, 500)

    assert session.findings() == ()


def test_an_expired_cache_is_no_finding() -> None:
    session = begun()
    session.call(0, 23_000, idle=400)

    assert session.findings() == ()


def test_the_agents_own_compaction_is_no_finding() -> None:
    session = begun()
    session.boundaries.append(Boundary(1, "compact", len(session.messages)))
    session.call(8_000, 4_000)

    assert session.findings() == ()


def test_a_few_missing_tokens_are_noise() -> None:
    session = begun()
    session.call(19_100, 2_000)

    assert session.findings() == ()


def test_a_read_inside_the_hidden_prefix_names_the_system_prompt() -> None:
    session = begun()
    session.call(8_000, 15_000)
    (finding,) = session.findings()

    assert brief([finding]) == [("system", 1, 12_000)]
    assert finding.message is None
    assert finding.evidence == "usage"
    assert finding.remedy == REMEDIES["system"]
    assert "8,000 tokens were read" in finding.why


def test_a_finding_says_what_it_cost_above_a_read() -> None:
    session = begun()
    session.call(8_000, 15_000)

    assert session.findings()[0].cost_usd == Decimal(12_000) * (Decimal("6.25") - Decimal("0.5")) / 1_000_000


def test_a_call_that_reads_nothing_names_tools_and_system_prompt() -> None:
    session = begun()
    session.call(0, 23_000)

    assert brief(session.findings()) == [("tools", 1, 20_000)]


def test_a_read_that_ends_behind_the_hidden_prefix_names_the_message() -> None:
    session = begun()
    session.call(20_000, 3_000)
    session.call(11_500, 14_000)
    (finding,) = session.findings()

    # 10,000 hidden and a prompt of 1,004 tokens lie before message 1.
    assert (finding.kind, finding.message) == ("unknown", 1)


def test_thinking_that_is_switched_on_explains_a_break() -> None:
    session = begun()
    session.call(9_000, 14_000, thinks=True)
    (finding,) = session.findings()

    assert finding.kind == "thinking"
    assert finding.why.startswith("thinking was switched on")


def test_thinking_that_a_prompt_drops_explains_a_break() -> None:
    session = Session()
    session.add("user", Part("text", "please"))
    session.call(0, 20_000, thinks=True)
    session.add("user", Part("text", "and now"))
    session.call(9_000, 11_000, thinks=True)
    (finding,) = session.findings()

    assert finding.kind == "thinking"
    assert finding.why.startswith("with a prompt, thinking of earlier answers is no longer sent")


def test_what_left_without_a_record_is_said() -> None:
    session = begun()
    session.call(9_000, 5_000)

    assert brief(session.findings()) == [("left", 1, 5_000)]


def test_a_batch_of_many_calls_explains_a_break() -> None:
    session = Session()
    session.add("user", Part("text", "please"))
    session.call(0, 20_000, calls=25)
    session.call(9_000, 60_000)

    assert brief(session.findings()) == [("batch", 1, 11_000)]


def test_texts_of_the_harness_explain_a_break() -> None:
    session = begun()
    session.add("user", Part("text", "a reminder"), flags=["injected"])
    session.call(9_000, 15_000)
    (finding,) = session.findings()

    assert (finding.kind, finding.message) == ("fragments", 3)


def test_another_model_explains_a_break() -> None:
    session = begun()
    session.call(0, 23_000, model="claude-haiku-4-5")

    assert brief(session.findings()) == [("model", 1, 20_000)]


def test_other_tools_explain_a_break() -> None:
    session = begun()
    session.turns[0] = replace(session.turns[0], tools="one")
    session.call(0, 23_000, tools="two")

    assert brief(session.findings()) == [("tools", 1, 20_000)]


def test_a_system_prompt_with_a_clock_is_found_without_usage() -> None:
    session = Session()
    session.add("system", Part("text", "Be brief.\nIt is Monday, 09:00."))
    session.add("user", Part("text", "please"))
    session.call(0, 20_000)
    session.add("system", Part("text", "Be brief.\nIt is Monday, 09:05."))
    session.call(0, 23_000)
    session.turns = [replace(turn, recorded=None) for turn in session.turns]
    moved, risk = session.findings()

    assert (moved.kind, moved.turn, moved.message, moved.evidence) == ("clock", 1, 4, "messages")
    assert moved.why == "the system prompt was sent again with another line: 'It is Monday, 09:05.'"
    assert moved.tokens == 10_000 + 1_004 + 1_004
    assert (risk.kind, risk.turn, risk.message, risk.tokens) == ("clock", None, 0, 0)


def test_figures_that_show_no_break_overrule_what_was_sent() -> None:
    session = Session()
    session.add("system", Part("text", "Step 1"))
    session.add("user", Part("text", "please"))
    session.call(0, 20_000)
    session.add("system", Part("text", "Step 2"))
    session.call(20_000, 3_000)

    assert session.findings() == ()


def test_a_date_without_a_time_is_no_risk() -> None:
    session = Session()
    session.add("system", Part("text", "Today is 2026-03-01."))
    session.add("user", Part("text", "please"))
    session.call(0, 20_000)

    assert session.findings() == ()


def test_what_is_shown_of_a_line_is_bounded_and_visible() -> None:
    session = Session()
    session.add("system", Part("text", "09:00 \x1b[31m" + "x" * 10_000))
    session.add("user", Part("text", "please"))
    session.call(0, 20_000)
    (finding,) = session.findings()

    assert "\x1b" not in finding.why
    assert len(finding.why) < 200
