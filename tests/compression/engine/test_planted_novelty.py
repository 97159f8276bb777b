"""Every kind of output at once, in one event under novelty: what must be told of each is still told."""

from __future__ import annotations

from compression.engine.calibration import Calibration
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.tokens import default_counter
from tests.compression.engine.builders import SessionBuilder
from tests.compression.engine.planted import FIXTURES

LEAST_KEPT = 0.93
"""Of the planted facts of all fixtures together; a part of the rest is what another output says too."""


def test_an_event_over_every_kind_of_output_keeps_their_facts() -> None:
    counter = default_counter()
    session = SessionBuilder(counter=counter)
    session.user("look at everything")
    for fixture in FIXTURES:
        session.turn((fixture.tool, fixture.text))
    session.turn(("Read", "done\n"))
    total = sum(counter.count(fixture.text) for fixture in FIXTURES)
    policy = PRESETS["hermes"].model_copy(
        update={"context_window": total, "trigger_ratio": 0.9, "target_ratio": 0.1, "recent_tokens": 50}
    )

    done = replay(session.build(), policy, Calibration())

    stubs = {edit.message: edit.text for event in done.events if event.kind == "compress" for edit in event.edits}
    texts = {m.index: m.parts[0].text for m in done.transcript.messages if m.role == "tool"}
    facts = kept = saved = 0
    for message, stub in stubs.items():
        fixture = next(f for f in FIXTURES if f.text == texts[message])
        facts += len(fixture.facts)
        kept += sum(fact in stub for fact in fixture.facts)
        saved += counter.count(texts[message]) - counter.count(stub)
    assert len(stubs) >= 15
    assert saved > 0.8 * sum(counter.count(texts[message]) for message in stubs)
    assert kept >= LEAST_KEPT * facts
