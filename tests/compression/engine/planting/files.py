"""Text of files and about files: code, searches, diffs, listings, pages, prose, data."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256

from tests.compression.engine.planting.fixture import Fixture, Noise

_NOUNS = ("order", "cart", "stock", "label", "parcel", "refund", "ledger", "tariff", "coupon", "shelf")
_VERBS = ("load", "store", "merge", "split", "check", "price", "pack", "route")


def python_source(classes: int = 21) -> Fixture:
    """About 102 KB: classes with methods, long bodies."""
    noise = Noise(2)
    lines = [
        '"""The shop: what it sells and where that lies."""',
        "",
        "from __future__ import annotations",
        "",
        "import logging",
    ]
    lines += [
        "from collections.abc import Iterable",
        "from decimal import Decimal",
        "",
        "from shop.money import Money, rounded",
        "",
    ]
    lines += ['LOG = logging.getLogger("shop")', "RETRY_LIMIT = 7", ""]
    facts = ["shop.money", "decimal", "collections.abc"]
    computed = []
    for n in range(classes):
        noun = _NOUNS[n % 10]
        name = f"{noun.title()}Book{n}"
        lines.append(f"class {name}:")
        facts.append(name)
        computed.append((len(lines), name))
        lines += [f'    """Keeps every {noun} of region {n}."""', ""]
        for k in range(4):
            method = f"{_VERBS[(n + k) % 8]}_{noun}_{n}"
            lines.append(f"    def {method}(self, items: Iterable[str], limit: int = {noise.below(90)}) -> Money:")
            facts.append(method)
            computed.append((len(lines), method))
            lines += [f'        """The {noun} as step {k} has it."""', '        total = Decimal("0")']
            for row in range(9):
                lines += [f"        for item in items:  # pass {row}", f"            if total > {noise.below(900)}:"]
                lines += [f"                total += rounded(len(item) * {noise.below(50)})"]
            lines += ["        return Money(total)", ""]
        lines.append("")
    text = "\n".join(lines) + "\n"
    path = json.dumps({"file_path": "/srv/shop/books.py"})
    places = tuple(f"{name} {number}" for number, name in computed)
    return Fixture("Python source, 102 KB", "source_code", "Read", path, text, tuple(facts), places)


def go_source(functions: int = 30) -> Fixture:
    """A page of a file with the reader's own line numbers."""
    noise = Noise(6)
    lines = ["package depot", "", "import (", '\t"context"', '\t"fmt"', '\t"example.org/shop/units"', ")", ""]
    lines += ["// Depot holds parcels.", "type Depot struct {", "\tparcels map[string]*Parcel", "\tlimit int", "}", ""]
    facts = ["package depot", "type Depot struct", "example.org/shop/units"]
    computed = []
    for n in range(functions):
        lines += [
            f"// {_VERBS[n % 8].title()}{n} handles kind {n}.",
            f"func (d *Depot) {_VERBS[n % 8].title()}{n}(ctx context.Context, id string) (*Parcel, error) {{",
        ]
        facts.append(f"{_VERBS[n % 8].title()}{n}")
        computed.append(f"{_VERBS[n % 8].title()}{n} {200 + len(lines)}")
        for _ in range(8):
            limit = noise.below(500)
            lines += [f"\tif d.limit > {limit} {{", f'\t\treturn nil, fmt.Errorf("parcel %s over {limit}", id)', "\t}"]
        lines += ["\treturn d.parcels[id], nil", "}", ""]
    text = "\n".join(f"{number:>6}\u2192{line}" for number, line in enumerate(lines, 201))
    path = json.dumps({"file_path": "/srv/shop/depot.go", "offset": 201})
    return Fixture("Go source, numbered", "source_code", "Read", path, text, tuple(facts), tuple(computed))


def typescript_source(parts: int = 22) -> Fixture:
    """Interfaces, classes, arrow functions."""
    lines = ['import { Box, type Size } from "@shop/layout";', 'import { useCart } from "./cart";', ""]
    facts = ["@shop/layout", "./cart"]
    computed = []
    for n in range(parts):
        noun = _NOUNS[n % 10].title()
        lines += [f"export interface {noun}Options{n} {{", "  wide: boolean;", "  depth?: number;", "}", ""]
        lines += [f"export const draw{noun}{n} = async (size: Size, options: {noun}Options{n}): Promise<void> => {{"]
        lines += [
            f"  const row{k} = await useCart().render(size.width * {k}, options.depth ?? {n});" for k in range(14)
        ]
        lines += ["};", ""]
        facts += [f"{noun}Options{n}", f"draw{noun}{n}"]
        computed.append(f"draw{noun}{n} {len(lines) - 16}")
    path = json.dumps({"path": "src/draw.ts"})
    return Fixture(
        "TypeScript source", "source_code", "read_file", path, "\n".join(lines), tuple(facts), tuple(computed)
    )


def grep_hits(files: int = 24, each: int = 25) -> Fixture:
    """``grep -rn``: 600 hits in 24 files; the definition of what was asked for is one of them."""
    noise = Noise(9)
    lines = []
    for n in range(files):
        path = f"src/shop/{_NOUNS[n % 10]}/{_VERBS[n % 8]}_{n}.py"
        row = 10
        for k in range(each):
            row += noise.below(30) + 1
            body = f"value_{k} = session_key.read({noise.below(900)}, default={noise.below(9)})"
            if (n, k) == (17, 13):
                body = "def session_key(request, *, strict=True):"
            lines.append(f"{path}:{row}:        {body}" if (n, k) != (17, 13) else f"{path}:{row}:{body}")
    names = [f"{_VERBS[n % 8]}_{n}.py" for n in range(files)]
    definition = next(line for line in lines if "def session_key" in line)
    command = json.dumps({"pattern": "session_key", "path": "src", "output_mode": "content"})
    return Fixture(
        "grep -n, 600 hits",
        "search_hits",
        "Grep",
        command,
        "\n".join(lines),
        (*names, definition),
        (f"{files * each} hits in {files} files",),
    )


def rg_context(files: int = 16) -> Fixture:
    """``rg -n -C2`` under headings of files, hits among lines around them."""
    lines, facts = [], []
    for n in range(files):
        path = f"lib/{_NOUNS[n % 10]}/view{n}.ts"
        facts.append(f"view{n}.ts")
        lines.append(path)
        for k in range(8):
            at = 20 + k * 17
            lines += [
                f"{at}-  const before{k} = {n};",
                f"{at + 1}:  await emitEvent('cart', before{k});",
                f"{at + 2}-",
                "--",
            ]
        lines[-1] = ""
    command = json.dumps({"command": "rg -n -C1 --heading emitEvent lib"})
    return Fixture(
        "rg with context",
        "search_hits",
        "Bash",
        command,
        "\n".join(lines),
        tuple(facts),
        (f"{files * 8} hits in {files} files",),
    )


def git_diff(files: int = 25) -> Fixture:
    """25 files: one new, one deleted, one renamed; the rest changed in several places."""
    noise = Noise(14)
    lines: list[str] = []
    facts: list[str] = []
    computed: list[str] = []
    for n in range(files):
        name = f"{_VERBS[n % 8]}_{n}.py"
        path = f"src/shop/{_NOUNS[n % 5]}/{name}"
        facts.append(name)
        lines.append(f"diff --git a/{path} b/{path}")
        state = {4: "new file mode 100644", 9: "deleted file mode 100644"}.get(n)
        lines += [state] if state else []
        lines += [f"index {noise.hexadecimal(7)}..{noise.hexadecimal(7)} 100644"]
        lines += ["--- /dev/null" if n == 4 else f"--- a/{path}", "+++ /dev/null" if n == 9 else f"+++ b/{path}"]
        added = removed = 0
        for k in range(1 if state else 5):
            gone, fresh = (0, 14) if n == 4 else (14, 0) if n == 9 else (3, 4)
            around = 0 if state else 6
            sides = f"-{40 * k + (n != 4)},{around + gone} +{41 * k + (n != 9)},{around + fresh}"
            lines.append(f"@@ {sides} @@ def {_VERBS[k]}_{n}(items):")
            lines += [f"     kept_{row} = load(items, {noise.below(900)})" for row in range(around // 2)]
            lines += [f"-    old_{n}_{k}_{row} = items[{noise.below(90)}]" for row in range(gone)]
            lines += [f"+    new_{n}_{k}_{row} = items.get({noise.below(90)}, None)" for row in range(fresh)]
            lines += [f"     after_{row} = store(items, {noise.below(900)})" for row in range(around // 2)]
            added, removed = added + fresh, removed + gone
        computed.append(f"{name} +{added} -{removed}{' new' if n == 4 else ' deleted' if n == 9 else ''}")
    total_added = sum(int(line.split("+")[1].split(" ")[0]) for line in computed)
    total_removed = sum(int(line.split(" -")[1].split(" ")[0]) for line in computed)
    computed.append(f"{files} files, +{total_added} -{total_removed}")
    return Fixture(
        "git diff, 25 files",
        "diff",
        "Bash",
        '{"command": "git diff main"}',
        "\n".join(lines) + "\n",
        tuple(facts),
        tuple(computed),
    )


def long_listing(files: int = 220) -> Fixture:
    """``ls -la``: the largest, the newest, the odd one."""
    noise = Noise(18)
    lines = ["total 91204"]
    for n in range(files):
        size = 734_003_200 if n == 118 else 1_000 + noise.below(90_000)
        day = (
            "2026-05-14 17:42"
            if n == 61
            else f"2025-{noise.below(12) + 1:02d}-{noise.below(28) + 1:02d} {noise.below(24):02d}:{noise.below(60):02d}"
        )
        name = "core.4711" if n == 118 else f"{_NOUNS[n % 10]}_{n}.{('csv', 'json', 'log')[n % 3]}"
        lines.append(f"-rw-r--r-- 1 shop shop {size:>10} {day} {name}")
    facts = ("734003200", "core.4711", "2026-05-14 17:42", "cart_61.json", ".csv", ".json", ".log", "order_0.csv")
    return Fixture(
        "ls -la, 220 files",
        "listing",
        "Bash",
        '{"command": "ls -la --time-style=long-iso data"}',
        "\n".join(lines),
        facts,
        (f"{files} entries",),
    )


def find_paths(files: int = 380) -> Fixture:
    """Paths of a project, one of each rare kind."""
    noise = Noise(19)
    paths = [
        f"./src/{_NOUNS[n % 6]}/{noise.one('views', 'jobs', 'models')}/{_VERBS[n % 8]}_{n}.py" for n in range(files)
    ]
    paths[100:100] = ["./pyproject.toml", "./deploy/cluster.tf"]
    facts = ("./src/order/", "./src/refund/", "pyproject.toml", "cluster.tf", ".py")
    return Fixture(
        "find, 382 paths",
        "listing",
        "Bash",
        '{"command": "find . -type f"}',
        "\n".join(paths),
        facts,
        (f"{files + 2} entries",),
    )


def handbook_page(sections: int = 40) -> Fixture:
    """HTML with menus, scripts and styles around its text."""
    noise = Noise(20)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><title>Depot handbook</title>',
        "<style>.x { color: #333 }</style>",
    ]
    lines += ["<script>window.flags = { beta: true };</script></head><body>", "<h1>How parcels leave the depot</h1>"]
    facts = ["Depot handbook", "How parcels leave the depot"]
    for n in range(sections):
        if n % 10 == 0:
            title = ("Before packing", "On the belt", "At the gate", "When something breaks")[n // 10]
            lines.append(f'<h2 class="part" id="p{n}">{title}</h2>')
            facts.append(title)
        lines += [f'<div class="rule wide" data-index="{n}" id="rule-{noise.hexadecimal(8)}"><p class="text">']
        lines += [
            f"Parcels of kind {n} are weighed by <b>scale {noise.below(9)}</b> before they move to "
            f"lane {noise.below(30)} of the hall.</p>"
        ]
        lines += [f'<a class="link small" href="/rules/{n}?ref=menu&amp;lang=en" title="read more">read more</a></div>']
    lines.append("<p>ERROR: gate_4 must never be opened while belt_2 moves.</p></body></html>")
    facts.append("ERROR: gate_4 must never be opened while belt_2 moves.")
    return Fixture(
        "HTML page",
        "markup",
        "WebFetch",
        '{"url": "https://depot.example.org/handbook"}',
        "\n".join(lines),
        tuple(facts),
    )


def meeting_notes(paragraphs: int = 60) -> Fixture:
    """Prose that mostly repeats itself; four sentences that carry names and dates."""
    noise = Noise(22)
    facts = (
        "The migration of ledger_v2 moved to 2026-06-17 because the replica in zone_b lost 14 hours of writes.",
        "Mira Oduya owns the rollback plan and keeps it in docs/rollback.md until the freeze ends on 2026-07-01.",
        "RETRY_LIMIT goes from 7 to 3 in shop/settings.py, which halves the load on the payment gateway.",
    )
    lines = [
        "# Notes on the move of the ledger",
        "",
        "The team met to decide how the ledger moves without losing an order.",
        "",
    ]
    for n in range(paragraphs):
        subject = noise.one("The team", "Everybody", "The group", "One engineer")
        verb = noise.one("talked about", "went through", "looked at", "agreed on")
        lines += [
            f"{subject} {verb} the plan again, and the mood stayed good throughout. "
            "It was said that things take the time they take. There was coffee, and then somebody opened a window."
        ]
        if n in (14, 31, 52):
            lines.append(facts[(14, 31, 52).index(n)])
        lines.append("")
    return Fixture(
        "prose, meeting notes",
        "prose",
        "Read",
        '{"file_path": "/srv/docs/notes.md"}',
        "\n".join(lines),
        (*facts, "Notes on the move of the ledger", lines[2]),
    )


def screenshot() -> Fixture:
    """A picture as a data URI inside JSON of a browser tool."""
    data = b"\x89PNG\r\n\x1a\n" + b"".join(sha256(str(n).encode()).digest() for n in range(260))
    text = f"Screenshot taken of https://shop.example.org/cart\ndata:image/png;base64,{b64encode(data).decode()}\n"
    return Fixture(
        "base64 picture", "binary", "browser_screenshot", "", text, ("image/png", "https://shop.example.org/cart"),
        (f"{len(data):,} bytes", sha256(data).hexdigest()),
    )  # fmt: skip


FILES = (
    python_source, go_source, typescript_source, grep_hits, rg_context, git_diff, long_listing, find_paths,
    handbook_page, meeting_notes, screenshot,
)  # fmt: skip
