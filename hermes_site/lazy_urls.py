"""URL patterns that are imported when the first request needs them.

A management command that prints one address should not wait for the API's schemas and the
admin's forms.
"""

from __future__ import annotations

from django.urls import URLResolver
from django.urls.resolvers import RoutePattern


def lazily(route: str, module: str, *, namespace: str) -> URLResolver:
    """Like ``path(route, include((module, namespace)))``, but without the import."""
    return URLResolver(RoutePattern(route), module, app_name=namespace, namespace=namespace)
