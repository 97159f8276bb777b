"""What a block of the session page says when asked why its text is of its kind."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from compression.forms import LARGEST
from compression.message_kind import message_kind
from compression.views import PageRequest, fragment, visible_session


@require_GET
@vary_on_headers("HX-Request")
def kind(request: PageRequest, slug: str, pk: int, index: int) -> HttpResponse:
    """What kind of text a tool result is, how sure that is and why."""
    session = visible_session(request, slug, pk)
    if index > LARGEST or (found := message_kind(session, index)) is None:
        raise Http404
    context = {
        "kind": found.kind.replace("_", " "), "confidence": found.confidence, "why": found.why, "message": index,
    }  # fmt: skip
    return fragment(request, session, "compression/kind.html", context)
