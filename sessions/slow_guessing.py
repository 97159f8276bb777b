"""Signing in with a password, slowly for those who guess.

Every form that takes a password asks this backend, the admin's too. A name may be tried a few times from one
address, and an address may try a few names; then every try fails for a while, the right password
included, so that the answer tells a guesser nothing. One-time links are not concerned.
"""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from sessions.models import PasswordTries

WINDOW = timedelta(minutes=15)
TRIES_OF_A_NAME = 5
TRIES_OF_AN_ADDRESS = 50


class SlowedBackend(ModelBackend):
    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        if request is None or username is None or password is None:
            return super().authenticate(request, username, password, **kwargs)
        address = address_of(request)
        of_name, of_address = key_of(address, username), key_of(address)
        # Counted before the password is looked at: tries at the same moment must not slip through together.
        if not may_try(of_address, TRIES_OF_AN_ADDRESS) or not may_try(of_name, TRIES_OF_A_NAME):
            return None
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            PasswordTries.objects.filter(key=of_name).delete()
            PasswordTries.objects.filter(key=of_address).update(count=F("count") - 1)
        return user


def may_try(key: str, most: int) -> bool:
    """Count this try; False when it is one too many, which is not counted: nobody can be kept out for good."""
    now = timezone.now()
    PasswordTries.objects.filter(since__lt=now - WINDOW).delete()
    PasswordTries.objects.get_or_create(key=key, defaults={"since": now})
    return bool(PasswordTries.objects.filter(key=key, count__lt=most).update(count=F("count") + 1))


def key_of(*words: str) -> str:
    return sha256("\x00".join(words).encode("utf-8", "replace")).hexdigest()


def address_of(request: HttpRequest) -> str:
    """Whom the connection comes from: behind a proxy, what the proxy itself added. An IPv6 network counts as one."""
    address = request.META.get("REMOTE_ADDR") or ""
    if settings.HERMES_BEHIND_PROXY:
        address = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() or address
    try:
        number = ip_address(address)
    except ValueError:
        return address
    return str(IPv6Network((number, 64), strict=False)) if isinstance(number, IPv6Address) else address
