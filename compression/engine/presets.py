"""The policies that Hermes ships: its own, the chapter's, and the yardsticks they are held against."""

from __future__ import annotations

from compression.engine.policy import Policy
from compression.engine.references import REFERENCES

_OWN = (
    Policy(
        name="hermes",
        about="Our own: rare events with a wide margin, one budget spent on what nothing else in the window says.",
        allocation="novelty",
        min_result_tokens=150,
    ),
    Policy(
        name="chapter",
        about="The book chapter's figures (75 % / 50 % / 20K recent / 500 / 150, first 20 and last 10 lines of "
        "command output, a 100K window), its defects fixed.",
        context_window=100_000,
        result_ceiling=500,
        code_output="head_tail",
        superseded=False,
    ),
    Policy(
        name="cache-first",
        about="Rare and deep: late, down to 30 %, everything at once, so that the prompt cache breaks seldom.",
        trigger_ratio=0.85,
        target_ratio=0.30,
        selection="all",
        min_reclaim_tokens=20_000,
        allocation="novelty",
        novelty_ceiling=0.15,
        min_result_tokens=150,
        dollar_gate=True,
        prefer_idle=True,
    ),
    Policy(
        name="recall-first",
        about="For agents that recall: huge results become stubs before they are sent, stubs stay small.",
        arrival_limit_tokens=8_000,
        allocation="novelty",
        novelty_ceiling=0.10,
        min_result_tokens=150,
        result_ceiling=400,
        max_argument_tokens=500,
    ),
    Policy(name="none", about="No compression: the window as the history fills it.", strategy="none"),
    Policy(
        name="recorded",
        about="What the agent itself did: its own compactions and clearings, as recorded.",
        strategy="recorded",
    ),
    Policy(
        name="sliding-window",
        about="The anti-pattern: compress the oldest result whenever the window is over the trigger, call by call.",
        strategy="sliding",
        selection="oldest_first",
        min_reclaim_tokens=0,
        thrash_guard=False,
        superseded=False,
        ladder=False,
    ),
)

_REFERENCES = (
    Policy(name=reference.name, about=reference.about, strategy="reference", reference=reference.name)
    for reference in REFERENCES.values()
)

PRESETS: dict[str, Policy] = {policy.name: policy for policy in (*_OWN, *_REFERENCES)}
