"""URL patterns that are imported when the first request needs them.

A management command that prints one address should not wait for the API's schemas and the
admin's forms. Only for patterns under a namespace of their own: nothing outside needs to
know what is inside in order to find its way past.
"""

from __future__ import annotations

from typing import Any

from django.urls import URLResolver
from django.urls.resolvers import RoutePattern
from django.utils.translation import get_language


def lazily(route: str, module: str, *, namespace: str) -> URLResolver:
    """Like ``path(route, include((module, namespace)))``, but without the import."""
    return LazyResolver(RoutePattern(route), module, app_name=namespace, namespace=namespace)


class LazyResolver(URLResolver):
    """The resolver around this one asks it to look inside itself as soon as it does so; this one waits to be asked."""

    def _populate(self) -> None:
        """Called from around: nothing to do yet."""

    def _look_inside(self) -> None:
        if get_language() not in self._reverse_dict:
            super()._populate()

    @property
    def reverse_dict(self) -> Any:
        self._look_inside()
        return super().reverse_dict

    @property
    def namespace_dict(self) -> Any:
        self._look_inside()
        return super().namespace_dict

    @property
    def app_dict(self) -> Any:
        self._look_inside()
        return super().app_dict
