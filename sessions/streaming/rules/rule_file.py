"""Reads rule files (TOML). A rule whose own examples fail is refused, with the example named."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from sessions.streaming.rules.patterns import BadPattern, pattern
from sessions.streaming.rules.shell_commands import Command, commands_in
from sessions.streaming.rules.shell_predicates import PREDICATES

Level = Literal["ask", "abort"]
Subject = Literal["shell", "path", "text"]

_KEYS = {"id", "level", "on", "predicate", "words", "pattern", "why", "tools", "fields", "matches", "spares"}


class BadRules(ValueError):
    """A rule file that cannot be used; says which rule and why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``tools`` and ``fields`` narrow it to tools and top-level arguments of these names; empty: all."""

    id: str
    level: Level
    on: Subject
    why: str
    expression: str = ""
    predicate: str = ""
    tools: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    def applies(self, tool: str, field: str) -> bool:
        return (not self.tools or tool in self.tools) and (not self.fields or field in self.fields)

    def hits(self, command: Command) -> bool:
        if self.predicate:
            return PREDICATES[self.predicate](command)
        joined = " ".join("\0" if word is None else word for word in command.words)
        return bool(command.words) and bool(pattern(self.expression).search(joined))

    def finds(self, text: str) -> tuple[int, str] | None:
        """Where a path or text shows it, and what stands there."""
        found = pattern(self.expression).search(text)
        return (found.start(), found.group()) if found else None


def rules_of(text: str) -> tuple[Rule, ...]:
    """The rules of a file's text. BadRules when it is none."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRules(f"The rules are no TOML: {error}") from None
    entries = document.get("rule")
    if set(document) != {"rule"} or not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise BadRules("A rule file holds [[rule]] tables and nothing else.")
    rules = tuple(_rule(entry) for entry in entries)
    twice = {rule.id for rule in rules if sum(other.id == rule.id for other in rules) > 1}
    if twice:
        raise BadRules(f"Rules share an id: {', '.join(sorted(twice))}.")
    return rules


@cache
def default_rules() -> tuple[Rule, ...]:
    return rules_of(files(__package__).joinpath("danger.toml").read_text(encoding="utf-8"))


def _rule(entry: dict[str, Any]) -> Rule:
    name = entry.get("id")
    if not isinstance(name, str) or not name:
        raise BadRules("A rule has no id.")
    if unknown := set(entry) - _KEYS:
        raise BadRules(f"Rule {name!r} has unknown keys: {', '.join(sorted(unknown))}.")
    level, on, why = entry.get("level"), entry.get("on"), entry.get("why")
    if level not in ("ask", "abort"):
        raise BadRules(f"Rule {name!r}: level is 'ask' or 'abort'.")
    if on not in ("shell", "path", "text"):
        raise BadRules(f"Rule {name!r}: on is 'shell', 'path' or 'text'.")
    if not isinstance(why, str) or not why:
        raise BadRules(f"Rule {name!r} does not say why.")
    predicate = entry.get("predicate", "")
    expression = entry.get("words" if on == "shell" else "pattern", "")
    if not isinstance(expression, str) or not isinstance(predicate, str) or bool(expression) == bool(predicate):
        raise BadRules(f"Rule {name!r}: a shell rule has words or a predicate, another rule a pattern.")
    if predicate and (on != "shell" or predicate not in PREDICATES):
        raise BadRules(f"Rule {name!r}: no predicate {predicate!r}; there are {', '.join(sorted(PREDICATES))}.")
    try:
        pattern(expression)
    except BadPattern as error:
        raise BadRules(f"Rule {name!r}: {error}") from None
    tools, fields = _texts(name, entry, "tools"), _texts(name, entry, "fields")
    rule = Rule(name, level, on, why, expression, predicate, frozenset(tools), frozenset(fields))
    matches, spares = _texts(name, entry, "matches"), _texts(name, entry, "spares")
    if not matches or not spares:
        raise BadRules(f"Rule {name!r} needs examples: matches and spares.")
    for example in matches:
        if not _shows(rule, example):
            raise BadRules(f"Rule {name!r} does not match its own example {example!r}.")
    for example in spares:
        if _shows(rule, example):
            raise BadRules(f"Rule {name!r} matches {example!r}, which it should spare.")
    return rule


def _shows(rule: Rule, example: str) -> bool:
    if rule.on == "shell":
        return any(rule.hits(command) for command in commands_in(example, final=True))
    return rule.finds(example) is not None


def _texts(name: str, entry: dict[str, Any], key: str) -> list[str]:
    texts = entry.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRules(f"Rule {name!r}: {key} is a list of texts.")
    return texts
