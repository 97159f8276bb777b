"""A list of 400 installed packages, as ``pip list`` prints it. All names are made up."""

from __future__ import annotations

from sessions.example.shop import PACKAGES, between, source

PREFIXES = (
    "amber", "anvil", "basalt", "beacon", "birch", "cedar", "cinder", "cobalt", "copper", "delta",
    "ember", "fjord", "flint", "garnet", "harbor", "heron", "indigo", "juniper", "lantern", "maple",
)  # fmt: skip
SUFFIXES = (
    "cache", "config", "csv", "dates", "events", "forms", "http", "i18n", "jobs", "json",
    "ledger", "locks", "mail", "money", "queue", "retry", "schema", "sql", "trace", "views",
)  # fmt: skip


def package_list() -> str:
    """Two columns under a header, sorted by name."""
    rng = source("packages")
    names = sorted(f"{prefix}-{suffix}" for prefix in PREFIXES for suffix in SUFFIXES)[:PACKAGES]
    lines = ["Package          Version", "---------------- -------"]
    for name in names:
        version = f"{between(rng, 0, 9)}.{between(rng, 0, 30)}.{between(rng, 0, 12)}"
        lines.append(f"{name:<16} {version}")
    return "\n".join(lines)
