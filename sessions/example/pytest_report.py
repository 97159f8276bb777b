"""What pytest prints: the verbose report of all 847 tests, and short reports of parts.

Names of modules and tests are the invented project's; failures are the ones its bugs cause.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.example.shop import HOME, TESTS, source


@dataclass(frozen=True, slots=True)
class Module:
    """One test module: its tests and how many parameter sets each has."""

    path: str
    tests: tuple[str, ...]
    sets: int


MODULES = (
    Module("tests/importer/test_amounts.py", ("test_reads_plain_amount", "test_refuses_text", "test_formats_back"), 24),
    Module("tests/importer/test_dedupe.py", ("test_key_is_stable", "test_second_delivery_is_dropped"), 21),
    Module("tests/importer/test_batch.py", ("test_counts_add_up", "test_chunk_sizes", "test_dry_run"), 16),
    Module("tests/importer/test_reader.py", ("test_decodes", "test_missing_column_is_named", "test_header_case"), 18),
    Module("tests/importer/test_ledger.py", ("test_append_returns_id", "test_savepoint", "test_recent_keys"), 15),
    Module("tests/importer/test_retry.py", ("test_gives_up", "test_pause_doubles"), 12),
    Module("tests/adapters/test_atlas.py", ("test_row_to_order", "test_correction"), 29),
    Module("tests/adapters/test_harbour.py", ("test_row_to_order", "test_minor_units"), 29),
    Module("tests/adapters/test_meadow.py", ("test_row_to_order", "test_correction"), 28),
    Module("tests/adapters/test_north.py", ("test_row_to_order", "test_decimal_comma"), 28),
    Module("tests/adapters/test_quarry.py", ("test_row_to_order", "test_thousands_point"), 27),
    Module("tests/adapters/test_summit.py", ("test_row_to_order", "test_rounding"), 26),
    Module("tests/shop/test_checkout.py", ("test_total", "test_voucher", "test_tax"), 25),
    Module("tests/shop/test_returns.py", ("test_refund", "test_partial_return"), 14),
)
FAILED = (
    *(f"tests/adapters/test_quarry.py::test_thousands_point[q{number:02d}]" for number in (3, 7, 11, 15, 19, 23)),
    "tests/importer/test_dedupe.py::test_key_is_stable[d05]",
    "tests/importer/test_dedupe.py::test_key_is_stable[d12]",
    "tests/importer/test_batch.py::test_counts_add_up[b09]",
    "tests/importer/test_batch.py::test_counts_add_up[b13]",
)
SKIPPED = ("tests/importer/test_ledger.py::test_savepoint[l04]", "tests/importer/test_ledger.py::test_savepoint[l11]")


def test_ids() -> list[str]:
    """All 847 node ids, in the order of collection."""
    ids = [
        f"{module.path}::{test}[{module.path.rsplit('test_', 1)[1][0]}{number:02d}]"
        for module in MODULES
        for test in module.tests
        for number in range(1, module.sets + 1)
    ]
    rest = TESTS - len(ids)
    return ids + [f"tests/shop/test_catalogue.py::test_price_is_shown[{number:03d}]" for number in range(1, rest + 1)]


def header(collected: int) -> list[str]:
    """The lines above the first test."""
    return [
        "============================= test session starts ==============================",
        "platform linux -- Python 3.12.6, pytest-8.3.3, pluggy-1.5.0",
        f"rootdir: {HOME}",
        "configfile: pyproject.toml",
        f"collected {collected} items",
        "",
    ]


def verbose_report() -> str:
    """``pytest -v`` over everything: one line a test, then the failures, then the totals."""
    ids = test_ids()
    failed, skipped = set(FAILED), set(SKIPPED)
    lines = header(len(ids))
    for position, name in enumerate(ids, start=1):
        outcome = "FAILED" if name in failed else "SKIPPED" if name in skipped else "PASSED"
        lines.append(f"{name} {outcome} [{position * 100 // len(ids):3d}%]")
    lines += ["", "=================================== FAILURES ==================================="]
    for name in FAILED:
        lines += failure(name)
    lines.append("=========================== short test summary info ============================")
    lines += [f"FAILED {name} - {error_of(name)}" for name in FAILED]
    passed = len(ids) - len(failed) - len(skipped)
    lines.append(f"====== {len(failed)} failed, {passed} passed, {len(skipped)} skipped in 96.41s (0:01:36) ======")
    return "\n".join(lines)


def error_of(name: str) -> str:
    """The error line of a failing test."""
    if "quarry" in name:
        return "orderdesk.importer.errors.AmountError: cannot read amount '1.299,00'"
    if "dedupe" in name:
        return "AssertionError: 'HB-24077' and 'AT-31552' share the key 7c1f09a4be21"
    return "orderdesk.importer.errors.ImportStopped: more than 20 bad rows in batch 9"


def failure(name: str) -> list[str]:
    """One block of the FAILURES section."""
    path, test = name.split("::")
    line = 30 + int(source(name).random() * 60)
    place = "orderdesk/importer/amounts.py:38: AmountError" if "quarry" in name else f"{path}:{line}: AssertionError"
    return [
        f"_________________________ {test} _________________________",
        "",
        f"    def {test.split('[')[0]}(case):",
        ">       result = run(case)",
        "",
        f"{path}:{line}:",
        "_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _",
        f"E       {error_of(name)}",
        "",
        place,
    ]


def short_report(
    path: str, passed: int, failed: tuple[str, ...] = (), seconds: str = "1.84", *, slowest: int = 0
) -> str:
    """``pytest -q`` of one module, with the failures that are left and maybe the slowest tests."""
    dots = "." * passed + "F" * len(failed)
    lines = [dots[start : start + 72] for start in range(0, len(dots), 72)]
    if failed:
        lines.append("=================================== FAILURES ===================================")
        for name in failed:
            lines += failure(name)
        lines.append("=========================== short test summary info ============================")
        lines += [f"FAILED {name} - {error_of(name)}" for name in failed]
    if slowest:
        lines.append(f"============================= slowest {slowest} durations =============================")
        ids = test_ids()
        lines += [f"{3.9 / number:.2f}s call     {ids[number * 19]}" for number in range(1, slowest + 1)]
    totals = f"{passed} passed" if not failed else f"{len(failed)} failed, {passed} passed"
    lines.append(f"{totals} in {seconds}s ({path})")
    return "\n".join(lines)
