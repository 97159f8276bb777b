"""The outline of source code: imports, definitions with the rows of their signatures, first lines of their comments.

Python, JavaScript, TypeScript, Go, Rust, Java, C and C++ are parsed with tree-sitter, which copes with fragments and
errors; the rest, and what the grammar could not read, is read by patterns. Bodies of functions are not
looked into.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType

from tree_sitter import Language, Node, Parser

from compression.engine.readers import syntax_nodes as nodes
from compression.engine.readers.code_patterns import by_patterns
from compression.engine.readers.outlines import Definition, Kind, Outline
from compression.engine.tool_output import LINE_LIMIT

_GRAMMARS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "python": ("tree_sitter_python", "language"),
        "javascript": ("tree_sitter_javascript", "language"),
        "typescript": ("tree_sitter_typescript", "language_typescript"),
        "tsx": ("tree_sitter_typescript", "language_tsx"),
        "go": ("tree_sitter_go", "language"),
        "rust": ("tree_sitter_rust", "language"),
        "java": ("tree_sitter_java", "language"),
        "c": ("tree_sitter_c", "language"),
        "cpp": ("tree_sitter_cpp", "language"),
    }
)
# A parser takes one step for about 200 bytes of code.
_BYTES_A_STEP = 50
_READ = 1 << 16
_GOOD_PAGE, _LONGEST_PAGE = 24_000, 32_000
_MOST_NODES = 60_000
_LONGEST_SIGNATURE = 12
_LONGEST_NAME = 80
_DEEPEST = 8


_LETTERS = re.compile(r"[^\W\d_]{2}")
_QUOTES = "\"'`<>"


def outline(lines: Sequence[str], language: str) -> Outline:
    """What ``lines`` define, in order."""
    parser = _parser(language)
    if parser is None:
        return by_patterns(lines, 0)
    found = Outline((), (), ())
    for start, end in _pages(lines):
        page = [line[:LINE_LIMIT] for line in lines[start:end]]
        root = parser("\n".join(page).encode("utf-8", "replace"))
        if root is None:
            return _joined(found, by_patterns(lines, start))
        walk = _Walk(page, language, start)
        walk.visit(root, 0, -1)
        read = walk.outline()
        found = _joined(found, _merged(read, by_patterns(lines, start, end)) if root.has_error else read)
    return found


@cache
def _parser(language: str) -> Callable[[bytes], Node | None] | None:
    module, function = _GRAMMARS.get(language, ("", ""))
    if not module:
        return None
    try:
        grammar = Language(getattr(import_module(module), function)())
    except ImportError:
        return None

    def parse(source: bytes) -> Node | None:
        """None when the text costs far more steps than code does: some nonsense takes quadratic time."""
        steps = 0
        limit = len(source) // _BYTES_A_STEP + 100

        def is_too_much(offset: int, has_error: bool) -> bool:
            nonlocal steps
            steps += 1
            return steps > limit

        try:
            # A parser keeps state, so threads cannot share one; making one is cheap.
            tree = Parser(grammar).parse(
                lambda offset, point: source[offset : offset + _READ], progress_callback=is_too_much
            )
        except ValueError:
            return None
        return tree.root_node

    return parse


def _pages(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Runs of rows that are parsed at once, cut where a new definition seems to begin. The memory of a parse can
    grow faster than its text, so pages are small and their number does not matter."""
    start = size = 0
    for row, line in enumerate(lines):
        size += min(len(line), LINE_LIMIT) + 1
        fresh = bool(line) and not line[0].isspace() and row > 0 and not lines[row - 1].strip()
        if row > start and (size > _LONGEST_PAGE or (fresh and size > _GOOD_PAGE)):
            yield start, row
            start, size = row, min(len(line), LINE_LIMIT) + 1
    yield start, len(lines)


class _Walk:
    """One pass over the tree, outer nodes only."""

    def __init__(self, lines: Sequence[str], language: str, start: int) -> None:
        self._lines = lines
        self._start = start
        self._language = language
        self._nodes = 0
        self._definitions: list[Definition] = []
        self._imports: dict[str, None] = {}
        self._import_rows: list[int] = []

    def outline(self) -> Outline:
        """What was seen, by rows of the whole text."""
        start = self._start
        rows = tuple(row + start for row in dict.fromkeys(self._import_rows))
        definitions = (
            found._replace(
                first=found.first + start, end=found.end + start, doc=found.doc + start if found.doc >= 0 else -1
            )
            for found in sorted(self._definitions, key=lambda found: found.first)
        )
        return Outline(tuple(definitions), tuple(self._imports), rows)

    def visit(self, parent: Node, depth: int, doc: int) -> None:
        """``doc``: where a comment begins that stands directly above ``parent``."""
        comment, comment_end = doc, parent.start_point.row if doc >= 0 else -9
        for node in parent.named_children:
            self._nodes += 1
            if self._nodes > _MOST_NODES:
                return
            row = node.start_point.row
            kind = node.type
            if "comment" in kind:
                if row > comment_end + 1:
                    comment = row
                comment_end = node.end_point.row
            elif kind == "attribute_item":
                comment_end = max(comment_end, row) if row <= comment_end + 1 else comment_end
            else:
                self._take(node, kind, depth, comment if row <= comment_end + 1 else -1)

    def _take(self, node: Node, kind: str, depth: int, doc: int) -> None:
        if kind in nodes.FUNCTIONS:
            self._define("function", node, node, depth, doc)
        elif kind in nodes.TYPES:
            body = node.child_by_field_name("body")
            if kind.endswith("_specifier") and body is None:
                return
            self._define("type", node, node, depth, doc)
            if body is not None and depth < _DEEPEST:
                self.visit(body, depth + 1, -1)
        elif kind in nodes.IMPORTS:
            self._import(node)
        elif kind in nodes.PACKAGES:
            self._add("package", node.start_point.row, node.start_point.row + 1, depth, -1)
        elif kind in nodes.WRAPPERS:
            if depth < _DEEPEST:
                self.visit(node, depth + (kind == "ERROR"), doc)
        elif kind in nodes.CONSTANTS:
            self._constant(node, depth, doc)
        elif kind == "expression_statement" and node.named_child_count:
            self._expression(node, depth)

    def _constant(self, node: Node, depth: int, doc: int) -> None:
        value = None
        for child in node.named_children[:3]:
            inner = child.child_by_field_name("value") if child.type == "variable_declarator" else None
            value = inner if inner is not None and inner.type in nodes.FUNCTION_VALUES else value
            if child.type.endswith("_specifier") and child.child_by_field_name("body") is not None:
                self._take(child, child.type, depth, doc)
                return
            if child.type == "function_declarator":
                self._define("function", node, node, depth, doc)
                return
        if value is None and node.type == "public_field_definition":
            inner = node.child_by_field_name("value")
            value = inner if inner is not None and inner.type in nodes.FUNCTION_VALUES else None
        if value is not None:
            self._define("function", node, value, depth, doc)
        else:
            self._add("constant", node.start_point.row, node.start_point.row + 1, depth, doc)

    def _expression(self, node: Node, depth: int) -> None:
        """Assignments, and calls that take a function (``describe("...", () => {``)."""
        inner = node.named_children[0]
        row = node.start_point.row
        if inner.type in ("assignment", "assignment_expression"):
            self._add("constant", row, row + 1, depth, -1)
        elif inner.type == "call_expression":
            arguments = inner.child_by_field_name("arguments")
            last = arguments.named_children[-1] if arguments is not None and arguments.named_child_count else None
            if last is not None and last.type in nodes.FUNCTION_VALUES:
                self._add("call", row, row + 1, depth, -1)
                body = last.child_by_field_name("body")
                if body is not None and depth < _DEEPEST:
                    self.visit(body, depth + 1, -1)

    def _define(self, kind: Kind, node: Node, holder: Node, depth: int, doc: int) -> None:
        first = node.start_point.row
        body = holder.child_by_field_name("body")
        end = first + 1
        if body is not None:
            row, column = body.start_point
            before = self._lines[row].encode("utf-8", "replace")[:column].strip() if row < len(self._lines) else b""
            end = row + bool(before) if row > first else first + 1
            if self._language == "python" and body.named_child_count:
                text = body.named_children[0]
                if text.type == "expression_statement" and text.named_child_count:
                    text = text.named_children[0]
                if text.type == "string":
                    doc = text.start_point.row
        self._add(kind, first, min(end, first + _LONGEST_SIGNATURE), depth, doc, _name(node))

    def _add(self, kind: Kind, first: int, end: int, depth: int, doc: int, name: str = "") -> None:
        total = len(self._lines)
        if first >= total:
            return
        if doc >= 0:
            near = range(doc, min(doc + 4, total))
            doc = next((row for row in near if _LETTERS.search(self._lines[row][:LINE_LIMIT])), -1)
            doc = -1 if first <= doc < end else doc
        self._definitions.append(Definition(kind, first, max(min(end, total), first + 1), depth, doc, name))

    def _import(self, node: Node) -> None:
        self._import_rows += range(node.start_point.row, min(node.end_point.row + 1, len(self._lines)))
        for name in self._modules(node):
            if name:
                self._imports.setdefault(name)

    def _modules(self, node: Node) -> Iterator[str]:
        if node.type == "import_declaration" and self._language == "go":
            stack = [node]
            while stack:
                inner = stack.pop()
                if inner.type == "import_spec":
                    yield _plain(inner.child_by_field_name("path"))
                else:
                    stack.extend(reversed(inner.named_children))
            return
        module = node.child_by_field_name("module_name")
        if module is not None:
            names = [_plain(name) for name in node.children_by_field_name("name")]
            yield f"{_plain(module)} ({', '.join(names)})" if names else _plain(module)
            return
        for field in nodes.MODULE_FIELDS:
            if node.child_by_field_name(field) is not None:
                yield _plain(node.child_by_field_name(field))
                return
        for child in node.named_children:
            yield _plain(child)


def _name(node: Node) -> str:
    """What a definition is called; a declaration of C wraps it in stars and brackets, others in what they declare."""
    inner: Node | None = node
    for _ in range(_DEEPEST):
        if inner is None:
            break
        named = inner.child_by_field_name("name")
        if named is not None:
            text = _plain(named)
            return text if " " not in text and len(text) <= _LONGEST_NAME else ""
        following = inner.child_by_field_name("declarator") or inner.child_by_field_name("type")
        if following is None and inner.type in nodes.DECLARES:
            following = inner.named_children[0] if inner.named_child_count else None
        if following is None and inner is not node:
            text = _plain(inner)
            return text if " " not in text and len(text) <= _LONGEST_NAME else ""
        inner = following
    return ""


def _plain(node: Node | None) -> str:
    text = (node.text or b"").decode("utf-8", "replace") if node is not None else ""
    return " ".join(text[:LINE_LIMIT].split()).strip(_QUOTES)


def _merged(parsed: Outline, patterns: Outline) -> Outline:
    """What was parsed, and what only the patterns saw."""
    taken = {row for found in parsed.definitions for row in range(found.first, found.end)}.union(parsed.import_rows)
    more = [found for found in patterns.definitions if found.first not in taken]
    definitions = tuple(sorted((*parsed.definitions, *more), key=lambda found: found.first))
    imports = parsed.imports if parsed.imports else patterns.imports
    return Outline(definitions, imports, parsed.import_rows or patterns.import_rows)


def _joined(first: Outline, second: Outline) -> Outline:
    imports = tuple(dict.fromkeys((*first.imports, *second.imports)))
    return Outline(first.definitions + second.definitions, imports, first.import_rows + second.import_rows)
