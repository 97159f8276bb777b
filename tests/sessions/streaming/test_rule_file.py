"""Rule files: what is refused, and why."""

from __future__ import annotations

import pytest

from sessions.streaming.rules.rule_file import BadRules, default_rules, rules_of

GOOD = """
[[rule]]
id = "x"
level = "ask"
on = "shell"
words = "^x "
why = "w"
matches = ["x y"]
spares = ["y x"]
"""


def test_the_own_rules_pass_their_examples() -> None:
    assert {rule.level for rule in default_rules()} == {"ask", "abort"}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('["x y"]', '["y"]', "Rule 'x' does not match its own example 'y'."),
        ('["y x"]', '["x z"]', "Rule 'x' matches 'x z', which it should spare."),
        ('["y x"]', "[]", "Rule 'x' needs examples: matches and spares."),
        ('"ask"', '"stop"', "Rule 'x': level is 'ask' or 'abort'."),
        ('why = "w"', 'whi = "w"', "Rule 'x' has unknown keys: whi."),
    ],
)
def test_a_bad_rule_is_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(BadRules) as caught:
        rules_of(GOOD.replace(old, new))
    assert str(caught.value) == why


def test_an_expression_that_is_none_is_refused() -> None:
    with pytest.raises(BadRules, match="is no RE2 expression"):
        rules_of(GOOD.replace("^x ", "(x"))
