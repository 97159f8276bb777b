"""What is known of a piece of code: where it defines what, and which modules it names."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["package", "type", "function", "constant", "call"]


class Definition(NamedTuple):
    """Rows ``first`` .. ``end`` (exclusive) are the signature; ``doc`` is the row of its first line of
    documentation, -1 without one; ``depth`` counts the definitions around it; ``name`` is empty where the
    text does not show it."""

    kind: Kind
    first: int
    end: int
    depth: int
    doc: int = -1
    name: str = ""


class Outline(NamedTuple):
    """``imports`` are module names as written; ``import_rows`` where they stand."""

    definitions: tuple[Definition, ...]
    imports: tuple[str, ...]
    import_rows: tuple[int, ...]
