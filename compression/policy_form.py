"""A policy as form fields, and form fields as a policy: what cannot be meant is named at its field, never clamped.

What was typed stays as it was typed. Fields that a form does not send keep the base's values. Nothing is
saved or replayed here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from compression.engine.policy import PinRule, Policy
from compression.engine.references import REFERENCES
from compression.policy_fields import SECTIONS, SETTINGS, Setting, label_of

RULES = ("reference", "parameters")
"""Whose rules, and their settings: no field of the form, but what it is about where the strategy is reference."""

PIN_FIELDS = ("tool", "role", "pattern", "is_error", "keep_last", "reason")
ROLES = ("system", "user", "assistant", "tool")
LONGEST = 1_000

_GROUPED = re.compile(r"\d{1,3}([,'’]\d{3})+")
_BLANKS = re.compile(r"[\s_\u00a0\u202f]")
_NAMES = re.compile(rf"\b({'|'.join(Policy.model_fields)})\b")


class Unreadable(ValueError):
    """What was typed is no value of its field; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting with what stands in its field and what is wrong with it."""

    setting: Setting
    raw: str
    faults: tuple[str, ...] = ()

    @property
    def options(self) -> list[tuple[str, str]]:
        """(value, words) of a field that offers a choice."""
        names = ("on", "off") if self.setting.kind == "switch" else self.setting.choices
        return [(name, name.replace("_", " ")) for name in names]


@dataclass(frozen=True, slots=True)
class PinRow:
    """One pin rule as it was typed; ``number`` is its place in the form, ``rank`` its place among the rules."""

    number: int
    raw: Mapping[str, str] = field(default_factory=dict)
    is_removed: bool = False
    rank: int | None = None
    faults: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(self.raw.get(name) for name in PIN_FIELDS)


def form_data(policy: Policy) -> dict[str, str]:
    """The fields of a form that says this policy."""
    found = {name: setting.shown(getattr(policy, name)) for name, setting in SETTINGS.items()}
    found |= {"name": policy.name, "about": policy.about}
    found |= {name: _shown_rules(policy, name) for name in RULES}
    for number, rule in enumerate(policy.pins):
        for name in PIN_FIELDS:
            value = getattr(rule, name)
            text = (
                ""
                if value is None
                else {True: "yes", False: "no"}.get(value, str(value))
                if name == "is_error"
                else str(value)
            )
            found[f"pins-{number}-{name}"] = "" if value is None else text
    found["pins-rows"] = str(len(policy.pins))
    return found


class PolicyForm:
    """Reads form fields. ``policy`` is None while something is wrong; ``faults`` then says what, by field name.

    The key "" holds what belongs to no field; ``pins-3`` what belongs to the fourth row of pin rules.
    """

    def __init__(self, data: Mapping[str, str], base: Policy) -> None:
        self.data = data
        self.base = base
        self.faults: dict[str, list[str]] = {}
        self.policy: Policy | None = None
        self._ranks: dict[int, int] = {}
        self._between: set[str] = set()
        self._read()

    @classmethod
    def of(cls, policy: Policy) -> PolicyForm:
        return cls(form_data(policy), policy)

    def raw(self, name: str) -> str:
        """What stands in a field: as typed, or what the base says where nothing was sent."""
        if name in self.data:
            return self.data[name]
        if name in RULES:
            return _shown_rules(self.base, name)
        value = getattr(self.base, name)
        return SETTINGS[name].shown(value) if name in SETTINGS else str(value)

    @cached_property
    def sections(self) -> list[tuple[str, str, list[Shown]]]:
        """(name, heading, fields) in the order of the form."""
        return [(key, heading, self._shown(key)) for key, heading in SECTIONS.items()]

    def _shown(self, section: str) -> list[Shown]:
        chosen = (setting for setting in SETTINGS.values() if setting.section == section)
        return [Shown(s, self.raw(s.name), tuple(self.faults.get(s.name, ()))) for s in chosen]

    @cached_property
    def pin_rows(self) -> list[PinRow]:
        """The rows that were sent or that the base has, and an empty one to write another rule in."""
        rows = [
            PinRow(
                row.number,
                row.raw,
                row.is_removed,
                self._ranks.get(row.number),
                tuple(self.faults.get(f"pins-{row.number}", ())),
            )
            for row in self._rows
            if not row.is_empty
        ]
        return [*rows, PinRow(max((row.number for row in self._rows), default=-1) + 1)]

    @property
    def summary(self) -> list[tuple[str, str]]:
        """(field or "", sentence) for each fault, in the order of the form; what lies between fields once."""
        found: dict[str, str] = {}
        for name, texts in self.faults.items():
            for text in texts:
                found.setdefault(text if text in self._between else self._sentence(name, text), name)
        return [(name, sentence) for sentence, name in found.items()]

    def _sentence(self, name: str, text: str) -> str:
        if not name:
            return text
        label = f"Pin rule {self._place(name)}" if name.startswith("pins-") else label_of(name)
        return f"{label}: {text}"

    def _place(self, name: str) -> int:
        return self._ranks.get(int(name.removeprefix("pins-")), 0) + 1

    @cached_property
    def _rows(self) -> list[PinRow]:
        if "pins-rows" not in self.data and not any(name.startswith("pins-") for name in self.data):
            sent = form_data(self.base)
        else:
            sent = dict(self.data)
        numbers = {int(found[1]) for name in sent if (found := re.fullmatch(r"pins-(\d{1,4})-\w+", name))}
        return [
            PinRow(
                number,
                {name: sent.get(f"pins-{number}-{name}", "") for name in PIN_FIELDS},
                f"pins-{number}-remove" in sent,
            )
            for number in sorted(numbers)
        ]

    def _read(self) -> None:
        values: dict[str, Any] = {"schema_version": self.base.schema_version}
        for name, setting in SETTINGS.items():
            try:
                values[name] = _value(setting, self.raw(name))
            except Unreadable as fault:
                self._fault(name, str(fault))
                values[name] = setting.default
        if values["strategy"] == "reference":
            values |= {"reference": self.raw("reference") or None, "parameters": self._parameters()}
        for name in ("name", "about"):
            values[name] = self.raw(name)
            self._check_text(name, values[name])
        unread = set(self.faults)
        values["pins"] = self._rules()
        try:
            policy = Policy.model_validate(values)
        except ValidationError as error:
            self._take(error, unread)
        else:
            self.policy = None if self.faults else policy

    def _parameters(self) -> dict[str, Any]:
        """The settings of the reference, which no field shows; those of another reference are left behind."""
        if self.base.reference == self.raw("reference") and "parameters" not in self.data:
            return self.base.parameters
        try:
            given = orjson.loads(self.raw("parameters") or "{}")
        except orjson.JSONDecodeError:
            given = None
        reference = REFERENCES.get(self.raw("reference"))
        if not isinstance(given, dict) or reference is None or not set(given) <= set(reference.parameters.model_fields):
            return {}
        return given

    def _rules(self) -> list[dict[str, Any]]:
        rules: list[dict[str, Any]] = []
        for row in self._rows:
            if row.is_removed or row.is_empty:
                continue
            self._ranks[row.number] = len(rules)
            rule: dict[str, Any] = {name: text for name, text in row.raw.items() if text}
            for text in rule.values():
                self._check_text(f"pins-{row.number}", text)
            rule.setdefault("reason", PinRule.model_fields["reason"].default)
            if "is_error" in rule:
                rule["is_error"] = {"yes": True, "no": False}.get(rule["is_error"], rule["is_error"])
            if "keep_last" in rule:
                try:
                    rule["keep_last"] = _whole(rule["keep_last"])
                except Unreadable as fault:
                    self._fault(f"pins-{row.number}", f"keep last: {fault}")
                    del rule["keep_last"]
            rules.append(rule)
        return rules

    def _take(self, error: ValidationError, unread: Container[str]) -> None:
        numbers = {rank: number for number, rank in self._ranks.items()}
        for item in error.errors(include_url=False):
            place = item["loc"]
            if item["type"] == "literal_error" and len(place) > 1 and isinstance(item["input"], int):
                continue  # a number was meant: that it is no word either is no news
            if not place:
                for fault in _words(item).split("\n"):
                    self._combination(fault)
            elif place[0] == "pins" and len(place) > 1:
                what = f"{str(place[2]).replace('_', ' ')}: " if len(place) > 2 else ""
                self._fault(f"pins-{numbers[int(place[1])]}", what + _words(item))
            elif str(place[0]) not in unread:
                self._fault(str(place[0]), _words(item))

    def _combination(self, text: str) -> None:
        """A fault between fields stands at each field that it names."""
        said = _NAMES.sub(lambda found: label_of(found[1]), text)
        self._between.add(said)
        for name in dict.fromkeys(_NAMES.findall(text)) or [""]:
            self._fault(name, said)

    def _check_text(self, name: str, text: str) -> None:
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
            self._fault(name, "holds a line break or another control character; a pattern writes \\n for one")
        if len(text) > LONGEST:
            self._fault(name, f"is longer than {LONGEST:,} characters")

    def _fault(self, name: str, text: str) -> None:
        known = self.faults.setdefault(name, [])
        if text not in known:
            known.append(text)


def _shown_rules(policy: Policy, name: str) -> str:
    """``reference`` and ``parameters`` as hidden fields hold them."""
    if name == "reference":
        return policy.reference or ""
    return orjson.dumps(policy.parameters).decode() if policy.parameters else ""


def _value(setting: Setting, raw: str) -> Any:
    text = raw.strip()
    if not text and setting.may_be_empty:
        return None
    if not text:
        raise Unreadable(f"is empty; the default is {setting.shown(setting.default)}")
    if setting.word and text.lower() == setting.word:
        return setting.word
    if setting.kind == "switch":
        if text not in ("on", "off"):
            raise Unreadable("must be on or off")
        return text == "on"
    if setting.kind == "choice":
        return text if text in setting.choices else _no_choice(setting, text)
    return _whole(text, setting.word) if setting.kind == "whole" else _share(text)


def _no_choice(setting: Setting, text: str) -> Any:
    raise Unreadable(f"{text[:40]!r} is none of {', '.join(setting.choices)}")


def _whole(text: str, word: str = "") -> int:
    """A whole number; digits may be grouped by threes."""
    bare = _BLANKS.sub("", text)
    if _GROUPED.fullmatch(bare):
        bare = re.sub(r"\D", "", bare)
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", bare):
        also = f", or {word}" if word else ""
        raise Unreadable(f"{text[:40]!r} is no whole number; write one such as 4,096{also}")
    return int(bare)


def _share(text: str) -> float:
    """A number with a point, or a percentage."""
    bare = _BLANKS.sub("", text)
    scale = 100 if bare.endswith("%") else 1
    try:
        if len(bare) > 40 or not bare.isascii() or "n" in bare.lower():
            raise ValueError
        number = float(bare.removesuffix("%"))
    except ValueError:
        raise Unreadable(f"{text[:40]!r} is no number; write one such as 0.75 or 75 %") from None
    return number / scale if scale > 1 else number


def _words(item: ErrorDetails) -> str:
    """One fault of the model in the words of a form."""
    limits = item.get("ctx", {})
    match item["type"]:
        case "greater_than_equal":
            return f"must be at least {limits['ge']:,.12g}"
        case "less_than_equal":
            return f"must be at most {limits['le']:,.12g}"
        case "greater_than":
            return f"must be above {limits['gt']:,.12g}"
        case "less_than":
            return f"must be below {limits['lt']:,.12g}"
        case "too_long":
            return f"at most {limits['max_length']} rules"
        case "string_too_short":
            return "is empty"
        case "string_too_long":
            return f"is longer than {limits['max_length']:,} characters"
    return item["msg"].removeprefix("Value error, ")
