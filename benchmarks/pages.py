"""Pages of a growing database: queries and seconds of each, with few and with many rows. Knows no page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from benchmarks.measuring import medians


def grown(
    paths: Mapping[str, str], fill: Callable[[int], object], counts: Sequence[int]
) -> tuple[dict[str, list[int]], dict[str, list[float]]]:
    """(queries, seconds) of each page at each of ``counts``; ``fill`` brings the database to a count. Asked as an
    administrator of this database, the second time, so that nothing is worked out for the first."""
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext, override_settings

    client = Client()
    client.force_login(get_user_model().objects.create_superuser("bench"))
    queries: dict[str, list[int]] = {name: [] for name in paths}
    seconds: dict[str, list[float]] = {name: [] for name in paths}
    with override_settings(ALLOWED_HOSTS=["*"], DEBUG=False):
        for count in counts:
            fill(count)
            for name, path in paths.items():
                client.get(path)
                with CaptureQueriesContext(connection) as captured:
                    response = client.get(path)
                assert response.status_code == 200, (path, response.status_code)
                queries[name].append(len(captured))
                seconds[name] += medians(partial(client.get, path), rounds=3)
    return queries, seconds
