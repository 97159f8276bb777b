"""Bounds what a request may carry, before anything reads it and while it is being read.

Uploaded files always go to disk, whatever their size. A request whose declared length is
over the limit is answered with 413 at once; a file that turns out too long is cut off there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext

# What a multipart body holds besides the file: boundaries, headers, the other fields.
ENVELOPE_BYTES = 1024 * 1024


class BoundedTemporaryFileUploadHandler(TemporaryFileUploadHandler):
    """A file over HERMES_MAX_UPLOAD_BYTES stops the upload and sets ``request.upload_too_large``."""

    received = 0

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        self.received = 0
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.received += len(raw_data)
        if self.received > settings.HERMES_MAX_UPLOAD_BYTES:
            vars(self.request)["upload_too_large"] = True
            raise StopUpload(connection_reset=True)
        return super().receive_data_chunk(raw_data, start)


def upload_limit(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        declared = request.META.get("CONTENT_LENGTH") or "0"
        if (
            declared.isascii()
            and declared.isdigit()
            and int(declared) > settings.HERMES_MAX_UPLOAD_BYTES + ENVELOPE_BYTES
        ):
            return too_large(request)
        return get_response(request)

    return middleware


def too_large(request: HttpRequest) -> HttpResponse:
    limit = settings.HERMES_MAX_UPLOAD_BYTES
    message = gettext("The upload is larger than %(limit)s bytes.") % {"limit": f"{limit:,}"}
    hint = gettext("Send one session per file, or raise HERMES_MAX_UPLOAD_BYTES.")
    if request.path.startswith("/api/"):
        return JsonResponse({"error": {"code": "too_large", "message": message, "hint": hint}}, status=413)
    return render(request, "413.html", {"message": message, "hint": hint}, status=413)
