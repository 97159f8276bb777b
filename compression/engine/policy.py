"""A compression policy: every setting that decides when and how a window is compressed.

One pydantic model; the form, its help and the JSON schema come from it. Each field states its
unit, its bounds and its meaning. Nothing here looks at a session.
"""

from __future__ import annotations

import hashlib
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from compression.engine.patterns import compiled

SCHEMA_VERSION = 2
MAX_FILE_BYTES = 256 * 1024
# How much of what somebody wrote is said back in a complaint.
LONGEST_ECHO = 120


class UnknownPolicy(Exception):
    """No preset of that name and no file at that path."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(
            f"no policy {name[:LONGEST_ECHO]!r}: use one of {', '.join(known)}, or the path of a .toml or .json file"
        )
        self.name = name
        self.known = known


class InvalidPolicy(Exception):
    """A policy file says something that no policy can mean. One line for each fault."""

    def __init__(self, source: str, faults: list[str]) -> None:
        super().__init__(f"{source}: " + "; ".join(faults))
        self.source = source
        self.faults = faults


class PinRule(BaseModel):
    """Keep what matches: every condition that is given must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str | None = Field(default=None, min_length=1, description="tool name, a glob; case is ignored")
    role: Literal["system", "user", "assistant", "tool"] | None = Field(default=None, description="role of the message")
    pattern: str | None = Field(
        default=None, max_length=500, description="regular expression (RE2) that the text contains"
    )
    is_error: bool | None = Field(default=None, description="only results that are (true) or are not (false) errors")
    keep_last: int | None = Field(
        default=None, ge=1, le=1_000, description="keep only the newest so many; all when empty"
    )
    reason: str = Field(default="pinned", min_length=1, max_length=80, description="shown on the block")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.tool is None and self.role is None and self.pattern is None and self.is_error is None:
            raise ValueError("a pin rule needs at least one of tool, role, pattern, is_error")
        if self.pattern is not None:
            compiled(self.pattern)
        return self


DEFAULT_PINS = (
    PinRule(tool="*todo*", keep_last=1, reason="latest task list"),
    PinRule(tool="*plan*", keep_last=1, reason="latest plan"),
    PinRule(tool="*skill*", reason="skill"),
    PinRule(tool="*memory*", reason="memory"),
)


def _setting(default: Any, section: str, unit: str, description: str, **bounds: Any) -> Any:
    extra: dict[str, Any] = {"section": section, "unit": unit}
    return Field(default=default, description=description, json_schema_extra=extra, **bounds)


FIRST_VERSION: Mapping[str, Any] = {
    "allocation": "per_result",
    "superseded": False,
    "ladder": False,
    "min_result_tokens": 500,
}
"""What a policy of schema version 1 says where it is silent: what it did then it does now."""


class Policy(BaseModel):
    """When an event starts, what it may touch, and what it leaves behind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[2] = Field(default=2, description="version of this list of fields")
    name: str = Field(default="hermes", min_length=1, max_length=80, description="what people call it")
    about: str = Field(default="", max_length=500, description="one sentence: what it does and where it comes from")

    strategy: Literal["threshold", "sliding", "none", "recorded", "reference"] = _setting(
        "threshold", "when", "", "threshold: rare events with a wide margin; sliding: the oldest result whenever over "
        "the trigger; none: never; recorded: what the agent itself did; reference: another agent's own rules",
    )  # fmt: skip
    reference: str | None = _setting(None, "when", "", "whose rules, when the strategy is reference", max_length=80)
    parameters: dict[str, Any] = _setting({}, "when", "", "the settings of these rules; empty = as published")
    context_window: Annotated[int, Field(ge=1_000, le=20_000_000)] | Literal["auto"] = _setting(
        "auto", "when", "tokens", "size of the window; auto = the model's own"
    )
    trigger_ratio: float = _setting(0.75, "when", "of window", "an event starts above this", gt=0, le=1)
    target_ratio: float = _setting(0.50, "when", "of window", "an event compresses down to this", gt=0, lt=1)
    min_reclaim_tokens: int = _setting(4_096, "when", "tokens", "skip an event that frees less", ge=0, le=1_000_000)
    reserve_output: int = _setting(0, "when", "tokens", "room kept for the answer, counted as used", ge=0, le=1_000_000)

    recent_tokens: int = _setting(20_000, "sacred", "tokens", "newest messages kept word for word", ge=0, le=5_000_000)
    recent_mode: Literal["fixed", "adaptive"] = _setting(
        "fixed", "sacred", "", "adaptive: as far back as the agent has been referring (90th percentile so far)"
    )
    recent_min: int = _setting(4_000, "sacred", "tokens", "adaptive: at least this", ge=0, le=5_000_000)
    recent_max: int = _setting(40_000, "sacred", "tokens", "adaptive: at most this", ge=0, le=5_000_000)
    pin_latest_user: bool = _setting(True, "sacred", "", "keep the latest user request")
    recall_hold_turns: int = _setting(
        10, "sacred", "calls", "keep what a recall tool read back for so many calls; 0 = not at all", ge=0, le=10_000
    )
    pins: tuple[PinRule, ...] = _setting(DEFAULT_PINS, "sacred", "", "what else stays, by rule", max_length=50)

    arrival_limit_tokens: Annotated[int, Field(ge=500, le=1_000_000)] | None = _setting(
        None, "when", "tokens", "stub a larger result before it was ever sent; off when empty"
    )
    dollar_gate: bool = _setting(
        False, "when", "", "skip an event that pays back too late, while the window is not at risk; needs prices"
    )
    break_even_horizon: int = _setting(20, "when", "calls", "dollar gate: later than this is too late", ge=0, le=10_000)
    prefer_idle: bool = _setting(
        False, "when", "", "above the target, start an event when the cache is cold anyway: it is free then"
    )
    thrash_guard: bool = _setting(True, "when", "", "stop after three events in a row that each free less than 10 %")

    min_result_tokens: int = _setting(500, "what", "tokens", "shorter tool results stay", ge=20, le=1_000_000)
    selection: Literal["largest_first", "oldest_first", "all"] = _setting(
        "largest_first", "what", "", "which tool results go first; all = one rare cut of everything"
    )
    superseded: bool = _setting(
        True, "what", "", "first of all: results whose text stands again in a newer message, or was written anew"
    )
    max_argument_tokens: Annotated[int, Field(ge=50, le=1_000_000)] | None = _setting(
        None, "what", "tokens", "shorten the long texts in larger arguments of old calls; off when empty"
    )
    clear_thinking: bool = _setting(False, "what", "", "old thinking without a signature goes last; signed never")
    ladder: bool = _setting(
        True, "what", "", "where that is not enough: everything to its floor, oldest messages out, a new window"
    )
    memory_note: bool = _setting(False, "what", "", "write the state of the work to a note that the agent can load")

    allocation: Literal["per_result", "novelty"] = _setting(
        "per_result", "stubs", "", "per_result: each stub has a budget of its own; novelty: one budget for the whole "
        "event, spent on what nothing else in the window says",
    )  # fmt: skip
    context_aware: bool = _setting(
        True, "stubs", "", "novelty: what the agent is working on ranks higher, DEBUG lines when it hunts a bug"
    )
    novelty_ceiling: float = _setting(
        0.30, "stubs", "of results", "novelty: stubs take at most this share of what they replace", gt=0, le=1
    )
    result_ratio: float = _setting(0.05, "stubs", "of result", "size of a stub before floor and ceiling", ge=0, le=1)
    result_floor: int = _setting(150, "stubs", "tokens", "smallest budget of a stub", ge=20, le=100_000)
    result_ceiling: int = _setting(1_000, "stubs", "tokens", "largest budget of a stub", ge=20, le=100_000)
    code_output: Literal["errors_first", "head_tail"] = _setting(
        "errors_first", "stubs", "", "command output: errors, then first and last lines; or first 20 and last 10 only"
    )

    summaries: Literal["extractive", "model"] = _setting(
        "extractive", "stubs", "", "prose and archives of live agents: sentences of their own, or a summary by the "
        "configured model; the first stands in when the model fails",
    )  # fmt: skip

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and fields.get("schema_version") == 1:
            return {**FIRST_VERSION, **fields, "schema_version": SCHEMA_VERSION}
        return fields

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        faults = [f"{name}: holds a NUL character" for name, value in self.model_dump().items() if _holds_nul(value)]
        faults += _reference_faults(self)
        if self.strategy == "threshold" and self.target_ratio >= self.trigger_ratio:
            faults.append(
                f"target_ratio {self.target_ratio:g} must lie below trigger_ratio {self.trigger_ratio:g}: "
                "without a margin every call would be an event"
            )
        if self.result_floor > self.result_ceiling:
            faults.append(f"result_floor {self.result_floor} lies above result_ceiling {self.result_ceiling}")
        if self.recent_min > self.recent_max:
            faults.append(f"recent_min {self.recent_min} lies above recent_max {self.recent_max}")
        if isinstance(self.context_window, int) and self.reserve_output >= self.context_window:
            faults.append(f"reserve_output {self.reserve_output} leaves nothing of context_window")
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @property
    def digest(self) -> str:
        """sha256 over everything that changes a result; name and description do not."""
        body = self.model_dump(mode="json", exclude={"name", "about"})
        return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def stub_budget(self, tokens: int) -> int:
        """Budget of one result's stub in tokens: clamp(result_ratio x tokens, floor, ceiling)."""
        return max(self.result_floor, min(self.result_ceiling, int(self.result_ratio * tokens)))


def _holds_nul(value: object) -> bool:
    """Whether a text in it holds what neither a TOML file nor every database takes."""
    if isinstance(value, dict):
        return any(map(_holds_nul, (*value, *value.values())))
    return any(map(_holds_nul, value)) if isinstance(value, list | tuple) else isinstance(value, str) and "\0" in value


def _reference_faults(policy: Policy) -> list[str]:
    """What is wrong with ``reference`` and its ``parameters``."""
    from compression.engine.references import REFERENCES

    if policy.strategy != "reference":
        return ["reference and parameters belong to the strategy reference"] * bool(
            policy.reference or policy.parameters
        )
    if policy.reference not in REFERENCES:
        return [f"reference: no {repr(policy.reference)[:LONGEST_ECHO]}, known: {', '.join(sorted(REFERENCES))}"]
    try:
        REFERENCES[policy.reference].parameters.model_validate(policy.parameters)
    except ValidationError as error:
        return [f"parameters.{fault}" for fault in faults_of(error)]
    return []


def faults_of(error: ValidationError) -> list[str]:
    """A validation error in words, one line for each field, the field's name first."""
    lines = []
    for item in error.errors(include_url=False):
        # Pydantic names the branch of a union behind the field; only pins have fields of their own.
        steps = item["loc"] if item["loc"][:1] == ("pins",) else item["loc"][:1]
        place = ".".join(map(str, steps))
        if item["type"] == "extra_forbidden":
            lines.append(f"unknown field {_visible(place)}")
        else:
            messages = item["msg"].removeprefix("Value error, ").split("\n")
            lines += [f"{place}: {message}" if place else message for message in messages]
    return list(dict.fromkeys(lines))


def _visible(name: str) -> str:
    """A name that a stranger wrote: cut, and without what is not printable."""
    return "".join(c if c.isprintable() else " " for c in name[:LONGEST_ECHO])


def build(fields: Mapping[str, Any], source: str) -> Policy:
    """A policy from fields; ``extends`` names the preset that gives what is missing (default ``hermes``)."""
    from compression.engine.presets import PRESETS

    given = dict(fields)
    base = given.pop("extends", "hermes")
    if not isinstance(base, str) or base not in PRESETS:
        raise InvalidPolicy(
            source, [f"extends: no preset {repr(base)[:LONGEST_ECHO]}, known: {', '.join(sorted(PRESETS))}"]
        )
    switches = [
        f"{name}: true and false are no value of this field" for name, value in given.items() if _is_odd(name, value)
    ]
    if switches:
        raise InvalidPolicy(source, switches)
    given.setdefault("name", Path(source).stem or "policy")
    try:
        inherited = PRESETS[base].model_dump()
        if given.get("schema_version") == 1:
            inherited |= FIRST_VERSION
        return Policy.model_validate({**inherited, "about": "", **given})
    except ValidationError as error:
        raise InvalidPolicy(source, faults_of(error)) from None


def _is_odd(name: str, value: object) -> bool:
    """Whether a number's place holds a truth value, which Python would take for 0 or 1."""
    field = Policy.model_fields.get(name)
    return isinstance(value, bool) and field is not None and field.annotation is not bool


def parse(text: str, source: str) -> Policy:
    """A policy from the text of a .toml or .json file; InvalidPolicy names the file and every fault."""
    try:
        fields = orjson.loads(text) if source.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a plain ValueError: TOML with an integer of thousands of digits
        kind = "JSON" if source.endswith(".json") else "TOML"
        raise InvalidPolicy(source, [f"not {kind}: {str(error)[:LONGEST_ECHO]}"]) from None
    if not isinstance(fields, dict):
        raise InvalidPolicy(source, ["a policy file is one object of fields"])
    return build(fields, source)


def load(name: str) -> Policy:
    """A preset by its name, else a file by its path."""
    from compression.engine.presets import PRESETS

    if name in PRESETS:
        return PRESETS[name]
    path = Path(name)
    if path.suffix not in (".toml", ".json"):
        raise UnknownPolicy(name, sorted(PRESETS))
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise InvalidPolicy(name, ["is not a regular file"])
        if about.st_size > MAX_FILE_BYTES:
            raise InvalidPolicy(name, [f"is larger than {MAX_FILE_BYTES // 1024} KB: no policy file is"])
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UnknownPolicy(name, sorted(PRESETS)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidPolicy(
            name, [f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"]
        ) from None
    return parse(text, name)
