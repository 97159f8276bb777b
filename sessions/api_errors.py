"""Every error of the API has one shape: ``{"error": {"code", "message", "hint"}}``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

logger = logging.getLogger(__name__)


# What was sent is named in a fault, but not sent back at length.
LONGEST_ECHO = 200
MOST_FAULTS = 20


def place(steps: Sequence[object]) -> str:
    return ".".join(map(str, steps))[:LONGEST_ECHO]


class ApiError(Exception):
    """An answer that is not the one hoped for; ``more`` joins code, message and hint."""

    def __init__(self, status: int, code: str, message: str, hint: str = "", **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"code": code, "message": message, "hint": hint, **more}}


def answer_errors(api: NinjaAPI) -> None:
    """Make the API answer in this shape whatever is raised."""

    def answer(request: HttpRequest, error: ApiError) -> HttpResponse:
        return api.create_response(request, error.body, status=error.status)

    @api.exception_handler(ApiError)
    def refused(request: HttpRequest, error: Exception) -> HttpResponse:
        assert isinstance(error, ApiError)
        return answer(request, error)

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Exception) -> HttpResponse:
        return answer(request, ApiError(404, "not_found", "There is no such object in this token's project."))

    @api.exception_handler(AuthenticationError)
    def unknown_token(request: HttpRequest, error: Exception) -> HttpResponse:
        hint = "Send Authorization: Bearer TOKEN; `manage.py token create` makes one."
        return answer(request, ApiError(401, "unknown_token", "The token is missing or unknown.", hint))

    @api.exception_handler(ValidationError)
    def unusable_input(request: HttpRequest, error: Exception) -> HttpResponse:
        assert isinstance(error, ValidationError)
        faults = error.errors[:MOST_FAULTS]
        message = "; ".join(f"{place(item['loc'])}: {item['msg'][:LONGEST_ECHO]}" for item in faults)
        return answer(request, ApiError(422, "invalid", message, "See the documentation at docs."))

    @api.exception_handler(RequestDataTooBig)
    def too_big(request: HttpRequest, error: Exception) -> HttpResponse:
        limit = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,}"
        hint = "Only session files may be larger; they have an operation of their own."
        return answer(request, ApiError(413, "too_large", f"The body is larger than {limit} bytes.", hint))

    @api.exception_handler(MultiPartParserError)
    def bad_form(request: HttpRequest, error: Exception) -> HttpResponse:
        hint = "Send the file in the field file of a form, or as the whole body."
        return answer(request, ApiError(400, "bad_form", f"The form cannot be read: {str(error)[:200]}", hint))

    @api.exception_handler(SuspiciousOperation)
    def odd_form(request: HttpRequest, error: Exception) -> HttpResponse:
        hint = "Send one file, in the field file of a form, or as the whole body."
        return answer(request, ApiError(400, "bad_form", f"The form cannot be read: {str(error)[:200]}", hint))

    @api.exception_handler(HttpError)
    def other(request: HttpRequest, error: Exception) -> HttpResponse:
        assert isinstance(error, HttpError)
        return answer(request, ApiError(error.status_code, "refused", str(error)))

    @api.exception_handler(Exception)
    def defect(request: HttpRequest, error: Exception) -> HttpResponse:
        logger.error("%s %s failed", request.method, request.path, exc_info=error)
        hint = "This is a defect of Hermes; the server's log holds the details."
        return answer(request, ApiError(500, "defect", "Hermes failed on this request.", hint))
