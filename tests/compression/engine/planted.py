"""Tool outputs with planted facts, one or more of every kind, for tests and benchmarks alike.

Hand-made, grown from arithmetic, the same in every process. ``FIXTURES`` is made when this module is imported,
which takes a tenth of a second.
"""

from __future__ import annotations

from tests.compression.engine.planting.files import FILES
from tests.compression.engine.planting.fixture import Fixture
from tests.compression.engine.planting.records import RECORDS
from tests.compression.engine.planting.reports import REPORTS

__all__ = ["FIXTURES", "Fixture"]

FIXTURES: list[Fixture] = [made() for made in (*REPORTS, *RECORDS, *FILES)]
