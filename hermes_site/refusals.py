"""Gives refusals that Django leaves bare a body: a page for people, the one error shape for programs.

Below ``/api/`` everything that goes wrong is JSON, also where no operation of the API was reached;
elsewhere a method that an address does not take gets a page. Answers with words of their own stay.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils.translation import gettext as _

API = "/api/"
_WORDS = {
    400: ("bad_request", "The request cannot be read.", "Check its headers, and the form if it is one."),
    404: ("not_found", "The API has no such address.", "See the documentation at docs."),
    405: ("method_not_allowed", "This address does not take the method.", "The header Allow names those it takes."),
    413: ("too_large", "The request is too large.", "The documentation and HERMES_MAX_UPLOAD_BYTES name the limits."),
    500: ("defect", "Hermes failed on this request.", "This is a defect; the server's log holds the details."),
}


def readable_refusals(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if response.status_code < 400:
            return response
        if request.path.startswith(API):
            return in_api_shape(response)
        if response.status_code == 405 and isinstance(response, HttpResponse) and not response.content:
            page = render(request, "405.html", status=405)
            page["Allow"] = response["Allow"]
            return page
        return response

    return middleware


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Says which limit was passed where it is one that a person can keep to."""
    if isinstance(exception, TooManyFilesSent):
        message = _("More than %(count)d files came at once.") % {"count": settings.DATA_UPLOAD_MAX_NUMBER_FILES}
        return render(request, "413.html", {"message": message, "hint": _("Send fewer at once.")}, status=413)
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent):
        hint = _("A form takes no more than that besides its files.")
        return render(request, "413.html", {"message": _("The form holds too much text."), "hint": hint}, status=413)
    if isinstance(exception, MultiPartParserError) and "header size" in str(exception):
        hint = _("Give the file a shorter name.")
        return render(request, "413.html", {"message": _("The name of a file is too long."), "hint": hint}, status=413)
    return render(request, "400.html", status=400)


def in_api_shape(response: HttpResponseBase) -> HttpResponseBase:
    words = _WORDS.get(response.status_code)
    if words is None or response.get("Content-Type", "").startswith("application/json"):
        return response
    code, message, hint = words
    answer = JsonResponse({"error": {"code": code, "message": message, "hint": hint}}, status=response.status_code)
    if response.has_header("Allow"):
        answer["Allow"] = response["Allow"]
    return answer
