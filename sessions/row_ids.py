"""Numbers of rows in addresses: ``<id:pk>``, no larger than a database counts: others are not found."""

from __future__ import annotations

from django.urls import register_converter
from django.urls.converters import IntConverter


class RowId(IntConverter):
    regex = "[0-9]{1,18}"


register_converter(RowId, "id")
