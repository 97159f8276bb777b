"""Runs every benchmark, prints the table, and writes it to benchmarks/results/latest.json.

Exit status 1 says that a ratio passed its limit. ``python -m benchmarks NAME...`` runs only those.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import orjson

NAMES = (
    "ingest",
    "replay",
    "session_page",
    "consequences",
    "runs",
    "sweeps",
    "partial_json",
    "retention",
    "engines",
    "references",
    "event",
)
RESULTS = Path(__file__).parent / "results" / "latest.json"


def main(names: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")
    import django

    django.setup()
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    rows = []
    for name in names or NAMES:
        for row in import_module(f"benchmarks.{name}").rows():
            rows.append(row)
            limit = "" if row.limit is None else f"<= {row.limit:g}"
            mark = "" if row.limit is None else "ok" if row.holds else "TOO MUCH"
            print(f"{row.name:<42} {row.value:>10.2f} {row.unit:<5} {limit:>9}  {mark:<9} {row.detail}", flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(orjson.dumps([row.as_dict() for row in rows], option=orjson.OPT_INDENT_2) + b"\n")
    return int(not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
