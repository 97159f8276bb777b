"""Signing in by a link: ten minutes, one use, and a click, because mail scanners and previews follow links.

Opening the link changes nothing; the form on its page uses it up. No password exists, no
link is ever logged, cached or sent on as a referrer.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sessions.models import SignInLink
from sessions.site_address import site_url
from sessions.tokens import hashed

LIFETIME = timedelta(minutes=10)
CHECK_COOKIE = "hermes_signin"


def create_link(user: User) -> str:
    """A whole URL that signs the user in; links that are spent or too old are swept out on the way."""
    now = timezone.now()
    SignInLink.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, token=hashed(token), expires_at=now + LIFETIME)
    return site_url() + reverse("signin:confirm", args=[token])


def take_link(token: str) -> User | None:
    """Use the link up; of two that try at once, one gets the user."""
    now = timezone.now()
    usable = SignInLink.objects.filter(token=hashed(token), used_at=None, expires_at__gt=now, user__is_active=True)
    link = usable.select_related("user").first()
    if link is None or not SignInLink.objects.filter(pk=link.pk, used_at=None).update(used_at=now):
        return None
    assert isinstance(link.user, User)
    return link.user


@login_not_required
@require_GET
def needed(request: HttpRequest) -> HttpResponse:
    """Where everybody lands who is not signed in."""
    return unseen(render(request, "signin/needed.html"))


@login_not_required
@csrf_exempt  # the check cookie below takes its place: see the docstring
@require_http_methods(["GET", "POST"])
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a form, POST signs in.

    Without a referrer browsers send ``Origin: null``, which Django's CSRF check refuses;
    a cookie that only this site's own form can bring along (SameSite=Strict) takes its place.
    """
    if request.method == "GET":
        check = secrets.token_urlsafe(16)
        response = unseen(render(request, "signin/confirm.html", {"check": check}))
        response.set_cookie(
            CHECK_COOKIE,
            check,
            max_age=LIFETIME,
            path=request.path,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Strict",
        )
        return response
    check = request.COOKIES.get(CHECK_COOKIE, "")
    is_own_form = bool(check) and constant_time_compare(check, request.POST.get("check", ""))
    user = take_link(token) if is_own_form else None
    if user is None:
        return unseen(render(request, "signin/spent.html", {"is_own_form": is_own_form}, status=410))
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    response = unseen(redirect(settings.LOGIN_REDIRECT_URL))
    response.delete_cookie(CHECK_COOKIE, path=request.path, samesite="Strict")
    return response


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("signin:needed")


def unseen[R: HttpResponse](response: R) -> R:
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    return response
