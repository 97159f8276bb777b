"""The policies that Hermes ships: its own, the chapter's, and the yardsticks they are held against."""

from __future__ import annotations

from compression.engine.policy import Policy

PRESETS: dict[str, Policy] = {
    policy.name: policy
    for policy in (
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
}
