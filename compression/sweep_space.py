"""What a sweep varies: named fields of a policy, each with the values or the range that it may take.

A space is a mapping, read from a TOML or JSON file or a form: ``trigger_ratio = [0.7, 0.8]`` lists values,
``{low = 0.5, high = 0.9, step = 0.1}`` is a range, anything else is one fixed value; ``extends`` names the preset that
the values are put into. A combination that no policy can mean is named with its reason, never bent into one.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Annotated, Any, get_args

import orjson
from pydantic import TypeAdapter, ValidationError

from compression.engine.policy import MAX_FILE_BYTES, InvalidPolicy, Policy, build

MOST_FIELDS = 12
MOST_VALUES = 1_000
MOST_COMBINATIONS = 10_000
NOT_VARIED = frozenset({"name", "about", "schema_version"})
FORMS = "a list of values or {low, high, step}"


class InvalidSpace(Exception):
    """A space says something that cannot be searched. One line for each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = list(faults)


@dataclass(frozen=True, slots=True)
class Span:
    """A range of numbers, both ends included. ``step`` 0 = any number between; ``is_log`` spreads them by ratio."""

    low: float
    high: float
    step: float = 0
    is_log: bool = False

    def values(self) -> list[float]:
        """Every value of a range with a step, exact in decimals: 0.1 three times from 0.5 is 0.8."""
        low, step = Decimal(str(self.low)), Decimal(str(self.step))
        count = int((Decimal(str(self.high)) - low) / step) + 1
        exact = [low + step * i for i in range(min(count, MOST_VALUES + 1))]
        is_whole = isinstance(self.low, int) and isinstance(self.step, int)
        return [int(value) if is_whole else float(value) for value in exact]

    def as_json(self) -> dict[str, Any]:
        more: dict[str, Any] = {"step": self.step} if self.step else {}
        return {"low": self.low, "high": self.high, **more, **({"log": True} if self.is_log else {})}


Axis = tuple[Any, ...] | Span


@dataclass(frozen=True, slots=True)
class Space:
    """Axes by field, in the order in which they were given. ``extends`` is empty where no preset is named."""

    axes: Mapping[str, Axis]
    extends: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: axis.as_json() if isinstance(axis, Span) else list(axis) for name, axis in self.axes.items()}

    @property
    def combinations(self) -> int:
        """How many a grid has; 0 when a range without a step has no end of them."""
        sizes = [_listed(axis) for axis in self.axes.values()]
        return 0 if None in sizes else math.prod(len(one) for one in sizes if one is not None)

    def grid(self) -> Iterator[dict[str, Any]]:
        """Every combination, the last field fastest."""
        lists = [_listed(axis) or [] for axis in self.axes.values()]
        for values in product(*lists):
            yield dict(zip(self.axes, values, strict=True))


def _listed(axis: Axis) -> Sequence[Any] | None:
    if isinstance(axis, Span):
        return axis.values() if axis.step else None
    return axis


@dataclass(frozen=True, slots=True)
class Combination:
    """Values with the policy that they make, or with the reason why there is none."""

    values: Mapping[str, Any]
    policy: Policy | None
    why: str = ""


def combine(fields: Mapping[str, Any], values: Mapping[str, Any]) -> Combination:
    """Put values into a policy."""
    name = f"{fields.get('name', 'policy')} tuned"[:80]
    try:
        return Combination(values, build({**fields, "about": "", **values, "name": name}, "combination"))
    except InvalidPolicy as error:
        return Combination(values, None, "; ".join(error.faults))


def space_of(given: Any, *, is_grid: bool) -> Space:
    """A space from what a file, a form or a request says; InvalidSpace names every fault.

    A value that its field does not allow is no fault of a grid: the combinations that have it are skipped and named.
    """
    if not isinstance(given, dict) or not given:
        raise InvalidSpace([f"a space names the fields to vary, each with {FORMS}"])
    fields = dict(given)
    extends = fields.pop("extends", "")
    faults: list[str] = []
    if not isinstance(extends, str):
        faults.append("extends: the name of a preset is a text")
    if not fields:
        faults.append("no field is varied")
    if len(fields) > MOST_FIELDS:
        faults.append(f"{len(fields)} fields are varied, at most {MOST_FIELDS} can be")
    axes: dict[str, Axis] = {}
    for name, said in list(fields.items())[: MOST_FIELDS + 1]:
        if name not in Policy.model_fields or name in NOT_VARIED:
            known = ", ".join(sorted({*Policy.model_fields} - NOT_VARIED))
            faults.append(f"unknown field {name[:80]!r}; a policy has {known}")
            continue
        try:
            axes[name] = _axis(name, said, is_grid=is_grid)
        except InvalidSpace as error:
            faults += error.faults
    space = Space(axes, extends if isinstance(extends, str) else "")
    if not faults and is_grid and space.combinations > MOST_COMBINATIONS:
        faults.append(
            f"{space.combinations:,} combinations, at most {MOST_COMBINATIONS:,} are tried: "
            "name fewer values, or search with a number of trials"
        )
    if faults:
        raise InvalidSpace(faults)
    return space


def _axis(name: str, said: Any, *, is_grid: bool) -> Axis:
    if isinstance(said, dict) and name != "parameters":
        span = _span(name, said)
        if is_grid and not span.step:
            raise InvalidSpace([f"{name}: a range of a grid needs a step"])
        ends: Sequence[Any] = (span.low, span.high)
        axis: Axis = span
    else:
        listed = said if isinstance(said, list) and name != "pins" else [said]
        ends = axis = tuple({orjson.dumps(value): value for value in listed}.values())
        if not axis:
            raise InvalidSpace([f"{name}: the list of values is empty"])
    size = len(_listed(axis) or ())
    if size > MOST_VALUES:
        raise InvalidSpace([f"{name}: more than {MOST_VALUES:,} values"])
    if not is_grid:
        faults = [fault for value in ends if (fault := _refused(name, value))]
        if faults:
            raise InvalidSpace(faults)
    return axis


def _span(name: str, said: Mapping[str, Any]) -> Span:
    if odd := sorted({*said} - {"low", "high", "step", "log"}):
        raise InvalidSpace([f"{name}: {odd[0]!r} is no part of a range, which is {{low, high, step, log}}"])
    numbers: list[Any] = [said.get("low"), said.get("high"), said.get("step") or 0]
    if any(isinstance(n, bool) or not isinstance(n, int | float) or not math.isfinite(n) for n in numbers):
        raise InvalidSpace([f"{name}: low, high and step of a range are numbers"])
    kinds = _kinds(name)
    if not kinds & {int, float}:
        raise InvalidSpace([f"{name}: has no range, list its values"])
    low, high, step = (number if int in kinds else float(number) for number in numbers)
    span = Span(low, high, step, said.get("log") is True)
    if low >= high:
        raise InvalidSpace([f"{name}: low {low:g} must lie below high {high:g}"])
    if step < 0 or (step and span.is_log) or (span.is_log and low <= 0):
        raise InvalidSpace([f"{name}: a step is above 0; a logarithmic range begins above 0 and has none"])
    return span


def _kinds(name: str) -> set[Any]:
    """The plain types that a field takes, looked for inside of unions and bounds."""

    def found(annotation: Any) -> Iterator[Any]:
        inner = get_args(annotation)
        yield annotation
        for one in inner:
            yield from found(one)

    return {kind for kind in found(Policy.model_fields[name].annotation) if kind in (int, float, bool)}


def _refused(name: str, value: Any) -> str:
    """Why a search cannot try a value; empty when it can."""
    if not (value is None or isinstance(value, str | int | float)):
        return f"{name}: a search varies numbers, texts and switches only"
    field = Policy.model_fields[name]
    try:
        kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return f"{name}: {value!r}: {error.errors(include_url=False)[0]['msg']}"
    return ""


def read_space(path: Path, *, is_grid: bool) -> Space:
    """The space of a .toml or .json file; InvalidSpace names the file and every fault."""
    try:
        if not path.is_file():
            raise InvalidSpace([f"{path}: is no file"])
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidSpace([f"{path}: is larger than {MAX_FILE_BYTES // 1024} KB"])
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidSpace([f"{path}: cannot be read ({error.strerror})"]) from None
    except UnicodeDecodeError:
        raise InvalidSpace([f"{path}: is not UTF-8 text"]) from None
    return parse_space(text, str(path), is_json=path.suffix == ".json", is_grid=is_grid)


def parse_space(text: str, source: str, *, is_json: bool, is_grid: bool) -> Space:
    try:
        given = orjson.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSpace([f"{source}: not {'JSON' if is_json else 'TOML'}: {str(error)[:120]}"]) from None
    try:
        return space_of(given, is_grid=is_grid)
    except InvalidSpace as error:
        raise InvalidSpace([f"{source}: {fault}" for fault in error.faults]) from None


def usual_space(policy: Policy) -> Space:
    """What a search varies when nobody says: when an event starts, how far it goes, how much stubs keep."""
    axes: dict[str, Axis] = {
        "trigger_ratio": Span(0.55, 0.95, 0.05),
        "target_ratio": Span(0.2, 0.5, 0.05),
        "recent_tokens": Span(5_000, 60_000, 0, True),
        "min_reclaim_tokens": Span(0, 30_000, 1_000),
    }
    if policy.allocation == "novelty":
        axes["novelty_ceiling"] = Span(0.05, 0.5, 0.05)
    else:
        axes["result_ratio"] = Span(0.01, 0.2, 0.01)
    return Space(axes)
