"""Outputs about files: code, searches, diffs, listings, pages, data; grown from arithmetic, with facts that a
stub must hold."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from tests.compression.engine.compressors.outputs import Labelled


def python_code(classes: int = 12) -> Labelled:
    lines = ['"""Carts and what is in them."""', "", "from __future__ import annotations", "", "import re"]
    lines += ["from collections.abc import Iterable", "from shop.prices import Price, rounded", "", "LIMIT = 40", ""]
    facts = ["imports: ", "collections.abc (Iterable)", "shop.prices (Price, rounded)"]
    for n in range(classes):
        facts.append(f"{len(lines) + 1}: class Cart{n}:")
        lines += [f"class Cart{n}:", f'    """Holds items of shelf {n}."""', ""]
        for name in ("total", "remove"):
            facts.append(f"{len(lines) + 1}:     def {name}_{n}(self, items: Iterable[str]) -> Price:")
            lines += [f"    def {name}_{n}(", "        self, items: Iterable[str]", "    ) -> Price:"]
            lines += [f'        """The {name} of shelf {n}."""', "        result = Price(0)"]
            for k in range(14):
                lines += [f"        if result > {k * 7}:", f"            result = rounded(result + len(items) * {k})"]
            lines += ["        return result", ""]
    text = "\n".join(lines) + "\n"
    return Labelled("source_code", text, tuple(facts))


def _numbered(lines: list[str], start: int) -> str:
    return "\n".join(f"{number:>6}\u2192{line}" for number, line in enumerate(lines, start))


def go_listing(functions: int = 20) -> Labelled:
    """As a reading tool shows it: numbered, from the middle of a file."""
    lines = ["package store", "", "import (", '\t"errors"', '\t"example.org/shop/units"', ")", ""]
    facts = ["imports: errors, example.org/shop/units", "401\u2192package store"]
    for n in range(functions):
        facts.append(f"{402 + len(lines)}\u2192func (s *Store) Load{n}(id string) (*Item, error)")
        lines += [f"// Load{n} reads one item of kind {n}.", f"func (s *Store) Load{n}(id string) (*Item, error) {{"]
        for k in range(9):
            lines += [f"\tif s.count > {k} {{", f"\t\treturn nil, errors.New(units.Name({k}))", "\t}"]
        lines += ["\treturn s.items[id], nil", "}", ""]
    return Labelled("source_code", _numbered(lines, 401), tuple(facts))


def typescript_code(functions: int = 16) -> Labelled:
    lines = ['import { Box, type Size } from "@shop/layout";', 'import * as fs from "node:fs";', ""]
    facts = ["imports: @shop/layout, node:fs"]
    for n in range(functions):
        facts += [
            f"{len(lines) + 1}: export interface Options{n}",
            f"{len(lines) + 6}: export class View{n} extends Box",
        ]
        facts.append(f"{len(lines) + 8}:   async draw{n}(size: Size): Promise<void>")
        lines += [f"export interface Options{n} {{", "  wide: boolean;", f"  depth?: number; // {n}", "}", ""]
        lines += [
            f"export class View{n} extends Box {{",
            "  private size = 0;",
            f"  async draw{n}(size: Size): Promise<void> {{",
        ]
        lines += [f"    const row{k} = await this.render(size, {k}, fs.constants.R_OK);" for k in range(16)]
        lines += ["  }", "}", ""]
    return Labelled("source_code", "\n".join(lines), tuple(facts))


def rust_code(functions: int = 20) -> Labelled:
    lines = ["use std::collections::HashMap;", "", "pub struct Grammar {", "    rules: HashMap<String, u32>,", "}", ""]
    lines += ["impl Grammar {"]
    facts = ["imports: std::collections::HashMap", "3: pub struct Grammar", "7: impl Grammar"]
    for n in range(functions):
        facts.append(f"{len(lines) + 2}:     pub fn rule_{n}(&self, name: &str) -> Option<u32>")
        lines += [f"    /// Finds rule {n}.", f"    pub fn rule_{n}(&self, name: &str) -> Option<u32> {{"]
        lines += [f"        let value_{k} = self.rules.get(name).copied()? + {k};" for k in range(14)]
        lines += ["        Some(value_0)", "    }", ""]
    return Labelled("source_code", "\n".join([*lines, "}"]), tuple(facts))


def java_code(methods: int = 20) -> Labelled:
    lines = ["package org.example.shop;", "", "import java.util.List;", "", "public class Orders extends Base {"]
    facts = ["1: package org.example.shop;", "imports: java.util.List", "5: public class Orders extends Base"]
    for n in range(methods):
        facts.append(f"{len(lines) + 1}:     public int sum{n}(List<Integer> parts) throws BadOrder")
        lines += [f"    public int sum{n}(List<Integer> parts) throws BadOrder {{"]
        lines += [f"        int value{k} = parts.get({k}) * {n} + this.offset;" for k in range(14)]
        lines += ["        return value0;", "    }", ""]
    return Labelled("source_code", "\n".join([*lines, "}"]), tuple(facts))


def cpp_code(functions: int = 20) -> Labelled:
    lines = ["#include <vector>", '#include "frame.h"', "", "namespace video {", ""]
    facts = ["imports: vector, frame.h", "4: namespace video"]
    for n in range(functions):
        facts.append(f"{len(lines) + 1}: int Decoder::decode{n}(const std::vector<int>& frames)")
        lines += [f"int Decoder::decode{n}(const std::vector<int>& frames)", "{"]
        lines += [f"    int value{k} = frames[{k}] * {n} + this->offset;" for k in range(14)]
        lines += ["    return value0;", "}", ""]
    return Labelled("source_code", "\n".join([*lines, "}"]), tuple(facts))


def ruby_code(methods: int = 24) -> Labelled:
    """A language without a grammar."""
    lines = ["require 'json'", "", "class Basket < Base"]
    facts = ["3: class Basket < Base"]
    for n in range(methods):
        facts.append(f"{len(lines) + 1}:   def price_{n}(items, rate)")
        lines += [f"  def price_{n}(items, rate)"]
        lines += [f"    value_{k} = items.sum(rate) * {k} + @offset" for k in range(14)]
        lines += ["    value_0", "  end", ""]
    return Labelled("source_code", "\n".join([*lines, "end"]), tuple(facts))


def grep_hits(files: int = 14, each: int = 14) -> Labelled:
    lines, facts = [], [f"{files * each} hits in {files} files"]
    for n in range(files):
        path = f"src/shop/part_{n}.py"
        facts.append(f"{path}: {each}")
        lines += [
            f"{path}:{20 + k * 9}:        value_{k} = self.session_key.get(part={n}, default=None)" for k in range(each)
        ]
    return Labelled("search_hits", "\n".join(lines), tuple(facts))


def rg_headings(files: int = 10, each: int = 20) -> Labelled:
    lines, facts = [], [f"{files * each} hits in {files} files"]
    for n in range(files):
        facts.append(f"lib/area_{n}/view.ts: {each}")
        lines.append(f"lib/area_{n}/view.ts")
        lines += [f"{20 + k * 9}:  const value{k} = session.key(part, {n}) ?? fallback;" for k in range(each)]
        lines.append("")
    return Labelled("search_hits", "\n".join(lines), tuple(facts))


def hits_in_many_files(files: int = 90) -> Labelled:
    """Too many files for a full path each: told by directory, none left out."""
    lines, facts = [], [f"{files * 3} hits in {files} files"]
    for n in range(files):
        path = f"services/billing/internal/area{n // 30}/handler_{n}.go"
        facts += [f"services/billing/internal/area{n // 30}/: ", f"handler_{n}.go 3"]
        lines += [
            f"{path}:{12 + k * 31}:\tif err := s.queue.Push(ctx, invoice); err != nil {{ // {k}" for k in range(3)
        ]
    return Labelled("search_hits", "\n".join(lines), tuple(facts))


def git_diff(files: int = 6, hunks: int = 6) -> Labelled:
    lines: list[str] = []
    facts = [f"{files} files, +{files * hunks * 5} -{files * hunks * 3}"]
    for n in range(files):
        path = f"src/shop/part_{n}.py"
        facts.append(f"{path} +{hunks * 5} -{hunks * 3}")
        lines += [f"diff --git a/{path} b/{path}", f"index 3f2a9bc..a81bc9{n} 100644", f"--- a/{path}", f"+++ b/{path}"]
        for k in range(hunks):
            header = f"@@ -{40 * k + 10},9 +{42 * k + 10},11 @@ def step_{n}_{k}(items):"
            lines += [header, *(f"     kept = first_{n} + {row}" for row in range(3))]
            lines += [f"-    old_{n}_{k}_{row} = items[{row}]" for row in range(3)]
            lines += [f"+    new_{n}_{k}_{row} = items.get({row}, None)" for row in range(5)]
            lines += [f"     after = last_{n} - {row}" for row in range(3)]
            if k == 0:
                facts += [
                    f"part_{n}.py {header}",
                    f"-    old_{n}_0_0 = items[0]",
                    f"+    new_{n}_0_0 = items.get(0, None)",
                ]
    return Labelled("diff", "\n".join(lines) + "\n", tuple(facts))


def wide_diff(files: int = 60) -> Labelled:
    """A small change in each of many files; one new, one renamed."""
    lines, facts = [], [f"{files} files, +{files * 2} -{files}"]
    for n in range(files):
        path = f"services/billing/internal/handlers/handler_{n}.go"
        lines.append(f"diff --git a/{path} b/{path}")
        if n == 7:
            lines.append("new file mode 100644")
        facts.append(f"handler_{n}.go +2 -1{' new' if n == 7 else ''}")
        lines += [
            "index 3f2a9bc..a81bc93 100644",
            f"--- a/{path}",
            f"+++ b/{path}",
            "@@ -10,7 +10,8 @@ func (h *Handler) Serve() {",
        ]
        lines += [
            "\tif h.closed {".replace("\t", " \t", 1),
            " \t\treturn",
            " \t}",
            "--- h.counter",
            "+++ h.counter",
            f"+\th.log({n})",
        ]
        lines += [" \treturn h.next()", " }", " "]
    return Labelled("diff", "\n".join(lines) + "\n", tuple(facts))


def ls_long(files: int = 160) -> Labelled:
    lines = ["total 48212"]
    for n in range(files):
        size = 9_876_543 if n == 77 else 1_000 + n * 37 % 900
        day = "2026-03-14 10:11" if n == 121 else f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d} 09:{n % 60:02d}"
        name = f"report_{n}.{('csv', 'json', 'txt')[n % 3]}"
        lines.append(f"-rw-r--r-- 1 root root {size:>8} {day} {name}")
    facts = (
        "160 entries",
        ".csv 54, .json 53, .txt 53",
        "9876543 2025-06-22 09:17 report_77.txt",
        "2026-03-14 10:11 report_121.json",
    )
    return Labelled("listing", "\n".join(lines), facts)


def find_paths(files: int = 400) -> Labelled:
    paths = [
        f"./src/{('web', 'jobs', 'core', 'api')[n % 4]}/area{n % 3}/module_{n}.{'py' if n % 5 else 'html'}"
        for n in range(files)
    ]
    paths.insert(200, "./pyproject.toml")
    facts = (
        f"{files + 1} entries in 13 directories",
        ".py 320, .html 80",
        "./src/web/",
        "./src/core/",
        "./pyproject.toml",
    )
    return Labelled("listing", "\n".join(paths), facts)


def tree_listing(folders: int = 16) -> Labelled:
    lines = ["."]
    for n in range(folders):
        lines.append(f"├── package_{n}")
        lines += [f"│   ├── module_{n}_{k}.ts" for k in range(24)]
        lines.append(f"│   └── index_{n}.ts")
    lines += ["└── README.md", "", f"{folders} directories, {folders * 25 + 1} files"]
    facts = (
        f"{folders} of them directories",
        f".ts {folders * 25}",
        f"{folders} directories, {folders * 25 + 1} files",
        "README.md",
    )
    return Labelled("listing", "\n".join(lines), facts)


def html_page(sections: int = 30) -> Labelled:
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head><title>Shop handbook</title>",
        "<style>body { color: red }</style>",
    ]
    lines += ["<script>var tracking_id = 'none';</script>", "</head>", "<body>", "<h1>How orders are kept</h1>"]
    facts = ["Shop handbook", "# How orders are kept"]
    for n in range(sections):
        lines += [f'<div class="section wide" id="s{n}" data-index="{n}">', f"<h3>Rule {n} &amp; its reason</h3>"]
        lines += [
            f'<p class="text">Orders of kind {n} are kept for <b>thirty</b> days, then they move to the archive.</p>'
        ]
        lines += [f'<a class="link" href="/rules/{n}?ref=menu">read more</a>', "</div>"]
        facts.append(f"### Rule {n} & its reason") if n < 6 else None
    return Labelled("markup", "\n".join([*lines, "</body>", "</html>"]), tuple(facts))


def xml_data(items: int = 150) -> Labelled:
    lines = ['<?xml version="1.0"?>', "<catalog>", "  <owner>north hall</owner>"]
    for n in range(items):
        state = "ERROR: broken_seal" if n == 97 else "fine"
        lines += [f'  <item id="{n}">', f"    <name>lamp {n}</name>", f"    <state>{state}</state>", "  </item>"]
    facts = (
        "root catalog",
        f"item {items}",
        "owner: north hall",
        "state: ERROR: broken_seal",
        "name: lamp 0",
        "name: lamp 149",
    )
    return Labelled("markup", "\n".join([*lines, "</catalog>"]), facts)


def _image() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(sha256(str(n).encode()).digest() for n in range(200))


def base64_image() -> Labelled:
    data = _image()
    text = f"data:image/png;base64,{b64encode(data).decode()}"
    return Labelled(
        "binary", text, ("image/png", "base64", f"{len(data):,} bytes", f"sha256 {sha256(data).hexdigest()}")
    )


def base64_lines() -> Labelled:
    data = _image()
    encoded = b64encode(data).decode()
    text = "\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76)) + "\n"
    return Labelled("binary", text, ("PNG image", f"{len(data):,} bytes", f"sha256 {sha256(data).hexdigest()}"))


def hex_dump() -> Labelled:
    data = _image()
    rows = []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        pairs = " ".join(part[k : k + 2].hex() for k in range(0, len(part), 2))
        rows.append(f"{at:08x}: {pairs}  {'.' * len(part)}")
    return Labelled(
        "binary", "\n".join(rows), ("PNG image", "hex dump", f"{len(data):,} bytes", sha256(data).hexdigest())
    )


FILES = {
    made.__name__: made
    for made in (
        python_code, go_listing, typescript_code, rust_code, java_code, cpp_code, ruby_code, grep_hits, rg_headings,
        hits_in_many_files, git_diff, wide_diff, ls_long, find_paths, tree_listing, html_page, xml_data, base64_image,
        base64_lines, hex_dump,
    )
}  # fmt: skip
