"""The one place that writes rows past the ORM.

``bulk_create`` costs four to five times what the cursor's own ``executemany`` does, and an
import is nothing but rows. The SQL is the same for SQLite and PostgreSQL; values are always
parameters, names come from the models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, models

from sessions.storable import json_column

Row = tuple[Any, ...]


def write_rows(
    model: type[models.Model], fields: Sequence[str], rows: Sequence[Row], *, key: Sequence[str], overwrite: bool
) -> None:
    """Insert rows; one that is there already, by ``key``, is overwritten or left as it is.

    A value of a JSON column is given as Python data.
    """
    if not rows:
        return
    quote = connection.ops.quote_name
    concrete = {field.name: field for field in model._meta.concrete_fields}
    columns = {name: quote(concrete[name].column or name) for name in fields}
    json_positions = [position for position, name in enumerate(fields) if isinstance(concrete[name], models.JSONField)]
    table = quote(model._meta.db_table)
    changes = ", ".join(f"{column} = excluded.{column}" for name, column in columns.items() if name not in key)
    on_conflict = f"DO UPDATE SET {changes}" if overwrite else "DO NOTHING"
    # Only names of the models are joined in, never a value.
    statement = (
        f"INSERT INTO {table} ({', '.join(columns.values())}) VALUES ({', '.join(['%s'] * len(columns))}) "  # noqa: S608  # see above
        f"ON CONFLICT ({', '.join(columns[name] for name in key)}) {on_conflict}"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, [encoded(row, json_positions) for row in rows])


def encoded(row: Row, json_positions: Sequence[int]) -> Row:
    if not json_positions:
        return row
    values = list(row)
    for position in json_positions:
        values[position] = json_column(values[position])
    return tuple(values)
