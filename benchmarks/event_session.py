"""A session of a coding agent, made up, as long as one wants: what one event is timed on.

Reads, edits, searches, test runs, diffs, logs, queries, listings and API answers about an invented shop; the
assistant speaks of a few names of what it has just seen. As many names as recorded sessions have (7 to 19 different
ones for each thousand tokens of results). The same arguments give the same session on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import orjson

from compression.engine.tokens import count_messages
from compression.engine.transcript import Message, Part, Transcript, Turn

_STEM_TEXT = """
    order invoice basket voucher customer address shipment carrier parcel refund ledger journal currency rounding
    discount catalog variant stock depot picking label tracking webhook retry queue worker schema migration session
    token scope tenant audit export import report digest mailer template locale search index ranking facet cache
    shard replica snapshot backup restore feature toggle metric trace span quota limit throttle
"""
_VERB_TEXT = "load save merge split check build parse render send close open apply revert count rank match"
_PLAIN_TEXT = "the value is read once and kept until the caller asks for another because that was slow"
_STEMS = tuple(_STEM_TEXT.split())
_VERBS = tuple(_VERB_TEXT.split())
_PLAIN = tuple(_PLAIN_TEXT.split())
_AREA = 3
"""Stems that the work is about at a time: an agent reads the same few files again and again."""

Maker = Callable[["_Work", int], tuple[str, dict[str, str], str]]


class _Work(Random):
    """Draws names. ``area`` moves on as the session does, so that names come back while they are worked on."""

    area = 0

    def stem(self) -> str:
        near = self.random() < 0.75
        return _STEMS[(self.area + self.randrange(_AREA)) % len(_STEMS)] if near else self.choice(_STEMS)


def _name(rng: _Work) -> str:
    return f"{rng.choice(_VERBS)}_{rng.stem()}_{rng.stem()}"


def _class(rng: _Work) -> str:
    return f"{rng.stem().title()}{rng.stem().title()}" + rng.choice(("Service", "Store", "Error", "View"))


def _path(rng: _Work, folder: str = "shop") -> str:
    stem = rng.stem()
    return f"{folder}/{stem}/{stem}_{rng.choice(_VERBS)}.py"


def _prose(rng: _Work, count: int) -> str:
    return " ".join(rng.choice(_PLAIN) for _ in range(count))


def _read(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    path = _path(rng)
    rows = ['"""' + _prose(rng, 9) + '."""', "", f"from shop.{rng.stem()} import {_class(rng)}", ""]
    while len(rows) < size:
        name, kept, other = _name(rng), rng.stem(), rng.stem()
        rows += [
            f"def {name}({kept}, {other}=None):",
            f'    """{_prose(rng, 8)}."""',
            f"    if {other} is None:",
            "        return []",
            f"    for item in {kept}:",
            f"        # {_prose(rng, 7)}",
            f"        {other}.append(item)",
            f"    return {_name(rng)}({other})" if rng.random() < 0.4 else f"    return {other}",
            "",
        ]
    return "Read", {"file_path": path}, "\n".join(f"{at:>5}\u2192{row}" for at, row in enumerate(rows, 1))


def _tests(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    path = f"tests/{rng.stem()}/test_{rng.stem()}.py"
    rows = ["============ test session starts ============", "platform linux -- Python 3.13.0, pytest-9.0.2", ""]
    failed = [f"{path}::test_{_name(rng)}" for _ in range(rng.randrange(3))]
    rows += [f"{path}::test_{_name(rng)} PASSED [{at % 100:>3}%]" for at in range(size)]
    for name in failed:
        got, wanted = rng.randrange(100, 9_999), rng.randrange(100, 9_999)
        rows += [f"____ {name.partition('::')[2]} ____", f">       assert {_name(rng)}(basket) == {wanted}"]
        rows += [f"E       assert {got} == {wanted}", f"{path}:{rng.randrange(20, 400)}: AssertionError"]
    rows += [f"FAILED {name} - assert" for name in failed]
    rows.append(f"==== {len(failed)} failed, {size} passed in {rng.randrange(2, 60)}.{rng.randrange(10, 99)}s ====")
    return "Bash", {"command": f"pytest -v {path}"}, "\n".join(rows)


def _search(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    wanted, paths = _name(rng), [_path(rng) for _ in range(max(2, size // 9))]
    rows = [f"{rng.choice(paths)}:{rng.randrange(9, 600)}:    {wanted}({rng.stem()})" for _ in range(size)]
    return "Grep", {"pattern": wanted, "output_mode": "content"}, "\n".join(sorted(rows))


def _diff(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    rows: list[str] = []
    while len(rows) < size:
        path = _path(rng)
        rows += [f"diff --git a/{path} b/{path}", f"index {rng.getrandbits(28):07x}..{rng.getrandbits(28):07x} 100644"]
        rows += [f"--- a/{path}", f"+++ b/{path}", f"@@ -{rng.randrange(5, 300)},9 +{rng.randrange(5, 300)},9 @@"]
        rows += [rng.choice((" ", " ", "-", "+")) + f"    {rng.stem()} = {_prose(rng, 5)}" for _ in range(14)]
        rows.append(f"+    {rng.stem()} = {_name(rng)}({rng.stem()})")
    return "Bash", {"command": "git diff"}, "\n".join(rows)


def _log(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    rows = []
    for at in range(size):
        stamp = f"2026-03-0{1 + at % 9} 11:{at // 60 % 60:02}:{at % 60:02}"
        if rng.random() < 0.03:
            rows.append(f"{stamp} ERROR shop.{rng.stem()} {_class(rng)}: job {rng.getrandbits(40):010x} lost")
        else:
            rows.append(f"{stamp} INFO shop.worker {rng.stem()} {rng.choice(_VERBS)} done in {at % 90} ms")
    return "Bash", {"command": f"tail -n {size} logs/worker.log"}, "\n".join(rows)


def _query(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    rows = [" id | customer | total | state ", "----+----------+-------+-------"]
    for at in range(size):
        rows.append(f" {at + 70} | {rng.stem()} | {rng.randrange(99)}.{rng.randrange(99)} | {rng.choice(_VERBS)} ")
    rows.append(f"({size} rows)")
    return "Bash", {"command": "psql -c 'select * from orders'"}, "\n".join(rows)


def _listing(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    return "Bash", {"command": "find shop -name '*.py'"}, "\n".join(sorted({_path(rng) for _ in range(size)}))


def _answer(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    rows = [
        {"id": at, "sku": f"{rng.stem()}-{rng.randrange(99)}", "name": rng.stem(), "count": rng.randrange(9)}
        for at in range(size // 2)
    ]
    body = {"status": "ok", "next": f"/api/orders?page={rng.randrange(9)}", "items": rows}
    return "Bash", {"command": "curl -s localhost/api/orders"}, orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()


def _code(rng: _Work, size: int) -> str:
    return _read(rng, size)[2].replace("\u2192", " ")


def _edit(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    path = _path(rng)
    arguments = {"file_path": path, "old_string": _code(rng, size // 4), "new_string": _code(rng, size // 3)}
    return "Edit", arguments, f"The file {path} has been updated."


def _write(rng: _Work, size: int) -> tuple[str, dict[str, str], str]:
    path = _path(rng, "tests")
    return "Write", {"file_path": path, "content": _code(rng, size)}, f"File created successfully at: {path}"


_MAKERS: tuple[Maker, ...] = (
    _read, _tests, _edit, _read, _search, _edit, _diff, _read, _log, _write, _listing, _edit, _query, _read, _answer,
)  # fmt: skip


def made_up(messages: int = 150, tokens: int = 140_000, seed: int = 19) -> Transcript:
    """A session of about so many messages and tokens, most of them in tool results, one result a call."""
    rng = _Work(seed)
    calls = (messages - 2) // 2
    average = tokens / calls
    found = [
        Message(0, "system", (Part("text", "You repair the shop. " + _prose(rng, 300)),)),
        Message(1, "user", (Part("text", "The export of invoices is slow and rounds refunds wrongly: find out why."),)),
    ]
    turns = []
    spoken = "the tree"
    for call in range(calls):
        rng.area = call // 8 * _AREA
        size = int(average * rng.choice((0.2, 0.5, 0.8, 1.0, 1.2, 1.5, 1.8)) / 12.9)
        tool, arguments, text = _MAKERS[call % len(_MAKERS)](rng, max(8, size))
        first = len(found)
        parts = (
            Part("text", f"I have read {spoken}; {_prose(rng, 14)}."),
            Part("tool_call", orjson.dumps(arguments).decode(), f"call-{call}", tool),
        )
        found.append(Message(first, "assistant", parts))
        found.append(Message(first + 1, "tool", (Part("tool_result", text, f"call-{call}", tool),)))
        turns.append(Turn(call, first, first + 1, first + 2))
        words = [word for word in text.split() if "_" in word or "/" in word]
        spoken = ", ".join(rng.sample(words, min(2, len(words)))) or "that"
    turns.append(Turn(calls, len(found), len(found), len(found)))
    return Transcript(tuple(found), tuple(turns), count_messages(found), model="claude-sonnet-4-5")
