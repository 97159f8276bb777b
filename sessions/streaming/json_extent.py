"""Where the first top-level value of a growing JSON text ends. Looks at brackets and quotes, at each character once."""

from __future__ import annotations

import re

_MARK = re.compile(r'["{}\[\]\\]')
_IN_STRING = re.compile(r'["\\]')


class JsonExtent:
    """Only objects and arrays have an end that can be seen before something else follows."""

    def __init__(self) -> None:
        self.complete = False
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, text: str) -> int | None:
        """The offset in ``text`` right behind the value's last bracket, or None while it is open."""
        at = 0
        if self._escaped and text:
            self._escaped = False
            at = 1
        while True:
            mark = (_IN_STRING if self._in_string else _MARK).search(text, at)
            if mark is None:
                return None
            at = mark.end()
            found = mark.group()
            if found == "\\":
                if self._in_string:
                    self._escaped = at == len(text)
                    at += 1
            elif found == '"':
                self._in_string = not self._in_string
            elif found in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self.complete = True
                    return at
