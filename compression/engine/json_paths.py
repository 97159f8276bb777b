"""JSONPath that agents write, over originals that nobody has looked at: time grows with the document.

RFC 9535, without what multiplies work: one `..` at most, no `$` and no `..` in a filter, no value chosen twice in one
pair of brackets. Patterns of `match` and `search` are run by RE2. Whoever breaks that is told so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from compression.engine.patterns import BadPattern, compiled

if TYPE_CHECKING:
    from jsonpath import JSONPathEnvironment
    from jsonpath.filter import BaseExpression
    from jsonpath.segments import JSONPathSegment

MOST_BYTES = 32 * 2**20
"""As much as the values of one path may come to; those of `$..*` hold each other."""


class BadPath(ValueError):
    """No path that can be followed here; says why."""


def values_at(document: Any, path: str) -> str:
    """The JSON of every value at ``path``, one a line. BadPath says what is wrong with the path."""
    from jsonpath import JSONPath, JSONPathError

    if not isinstance(document, dict | list):
        raise BadPath("the original is one bare value; read it whole")
    try:
        query = _environment().compile(path)
        assert isinstance(query, JSONPath), "RFC 9535 knows no operators between paths"
        _check(query.segments)
        return "\n".join(_written(match.value for match in query.finditer(document)))
    except RecursionError:
        raise BadPath("the path is nested too deep") from None
    except (JSONPathError, BadPattern) as error:
        raise BadPath(str(error).partition("\n")[0]) from None


def _written(values: Iterable[object]) -> Iterator[str]:
    size = 0
    for value in values:
        try:
            line = orjson.dumps(value)
        except orjson.JSONEncodeError:
            raise BadPath("a value there is nested too deep to be written; use lines or grep") from None
        size += len(line)
        if size > MOST_BYTES:
            raise BadPath(f"the values come to more than {MOST_BYTES:,} bytes; name fewer")
        yield line.decode()


def _check(segments: Iterable[JSONPathSegment], *, in_filter: bool = False) -> None:
    """BadPath when following these segments could meet a value more than once."""
    from jsonpath.segments import JSONPathRecursiveDescentSegment
    from jsonpath.selectors import Filter, IndexSelector, NameSelector

    deep = 0
    for segment in segments:
        deep += isinstance(segment, JSONPathRecursiveDescentSegment)
        chosen = segment.selectors
        names = [selector.name for selector in chosen if isinstance(selector, NameSelector)]
        indexes = [selector.index for selector in chosen if isinstance(selector, IndexSelector)]
        plain = len(chosen) in (len({*names}), len({index for index in indexes if index >= 0}))
        if len(chosen) > 1 and not plain:
            raise BadPath("several values in one pair of brackets have to be different names, or indexes from 0")
        for selector in chosen:
            if isinstance(selector, Filter):
                _check_filter(selector.expression)
    if deep > (not in_filter):
        raise BadPath("`..` may stand once, and in no filter")


def _check_filter(expression: BaseExpression) -> None:
    from jsonpath.filter import FilterQuery, RelativeFilterQuery

    if isinstance(expression, FilterQuery):
        if not isinstance(expression, RelativeFilterQuery):
            raise BadPath("a filter may ask of the value at hand, as in [?@.a == 1], not of `$`")
        _check(expression.path.segments, in_filter=True)
    else:
        for child in expression.children():
            _check_filter(child)


@lru_cache(maxsize=1)
def _environment() -> JSONPathEnvironment:
    """RFC 9535, with patterns whose time is bounded. Loaded late: few processes ever follow a path."""
    from jsonpath import JSONPathEnvironment
    from jsonpath.function_extensions import ExpressionType, FilterFunction

    class Pattern(FilterFunction):
        arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]
        return_type = ExpressionType.LOGICAL

        def __init__(self, *, whole: bool) -> None:
            self.whole = whole

        def __call__(self, value: object, pattern: object) -> bool:
            if not isinstance(value, str) or not isinstance(pattern, str):
                return False
            found = compiled(pattern)
            if self.whole:
                found = compiled(rf"\A(?:{pattern})\z")
            return bool(found.search(value))

    environment = JSONPathEnvironment(strict=True)
    environment.function_extensions |= {"match": Pattern(whole=True), "search": Pattern(whole=False)}
    return environment
