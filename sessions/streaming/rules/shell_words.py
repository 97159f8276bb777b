"""What the shell would pass for a word of its source: quotes removed, escapes decoded, concatenations joined.

A word with an expansion or a substitution has no value here (None), save for ``$HOME``, which stands for itself.
"""

from __future__ import annotations

import re

from tree_sitter import Node

_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\(\n|["\\$`])')
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|.)", re.DOTALL)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")

MOST_BRACES = 16
"""Words that one brace expansion may become; more are left as they stand."""

DEEPEST_WORD = 20


def source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def value_of(node: Node, depth: int = 0) -> str | None:
    """The value of a word's node."""
    text = source(node)
    if node.type in ("word", "number", "variable_name", "special_variable_name", "command_name") and not node.children:
        return _ESCAPED.sub(_unescaped, text)
    if node.type == "raw_string":
        return text[1:].removesuffix("'")
    if node.type == "ansi_c_string":
        return _ANSI.sub(_ansi, text[2:].removesuffix("'"))
    if text in ("$HOME", "${HOME}"):
        return "$HOME"
    if depth == DEEPEST_WORD:
        return None
    if node.type == "string":
        return _quoted(node, depth)
    if node.type in ("concatenation", "command_name"):
        values = [value_of(child, depth + 1) for child in node.children]
        return None if None in values else "".join(value for value in values if value is not None)
    return None if node.is_named else text


def _quoted(node: Node, depth: int) -> str | None:
    """Text between double quotes; the grammar leaves blanks out of its nodes, so they are read from between them."""
    whole, start = node.text or b"", node.start_byte
    value, position = "", 1
    for child in node.named_children:
        if child.type == "string_content":
            continue
        inner = value_of(child, depth + 1)
        if inner is None:
            return None
        value += _plain(whole[position : child.start_byte - start]) + inner
        position = child.end_byte - start
    rest = whole[position:]
    return value + _plain(rest.removesuffix(b'"') if len(whole) > 1 else rest)


def _plain(text: bytes) -> str:
    return _ESCAPED_IN_QUOTES.sub(_unescaped, text.decode("utf-8", "replace"))


def _unescaped(found: re.Match[str]) -> str:
    return "" if found.group(1) == "\n" else found.group(1)


def _ansi(found: re.Match[str]) -> str:
    code = found.group(1)
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else ""
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else _ANSI_LETTERS.get(code, code)


def expanded(value: str, text: str) -> list[str]:
    """The words that braces make of an unquoted word: ``{rm,-rf}`` is two."""
    if any(char in text for char in "'\"\\$`"):
        return [value]
    words = [value]
    while len(words) < MOST_BRACES:
        found = next(((n, match) for n, word in enumerate(words) if (match := _BRACES.search(word))), None)
        if found is None:
            return words
        place, match = found
        before, after = words[place][: match.start()], words[place][match.end() :]
        words[place : place + 1] = [before + part + after for part in match.group(1).split(",")]
    return [value]
