"""The API of live agents: compress the next request, and read an original back.

Everything is looked up inside the token's project; another project's original does not exist.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Router

from compression import live
from compression.dialects.request import Unreadable
from compression.engine.policy import InvalidPolicy
from compression.engine.snapshots import DIGITS, SCHEME, BadSlice, Slice, UnknownAddress, address_digits, read_slice
from compression.engine.tokens import default_counter
from compression.policy_keys import UnknownKey
from compression.recall import Gone, stored_original
from sessions.api_auth import ApiRequest, Bearer, project_of
from sessions.api_errors import ApiError

router = Router(tags=["live agents"])
CHUNK_BYTES = 1024 * 1024
_TEXT = {"type": "string"}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["messages"],
                    "additionalProperties": False,
                    "properties": {
                        "project": {**_TEXT, "description": "The token's own, and so when it is left out."},
                        "session": {**_TEXT, "description": "Any name; the same history then keeps the same bytes."},
                        "policy": {
                            "oneOf": [_TEXT, {"type": "object"}],
                            "description": "A preset, a version (v3) or fields; default: the policy in force.",
                        },
                        "model": {**_TEXT, "description": "Names the window and the tokenizer's correction."},
                        "hidden_tokens": {"type": "integer", "description": "Tokens of the request not sent here."},
                        "dialect": {"enum": ["openai", "anthropic"], "description": "Found out when left out."},
                        "system": {"description": "As the provider takes it; counted, never changed."},
                        "tools": {"description": "As the provider takes them; counted, never changed."},
                        "messages": {"type": "array", "items": {"type": "object"}},
                        "force": {"type": "boolean", "description": "Compress below the trigger, too."},
                    },
                }
            }
        },
    }
}


@router.post(
    "compress", auth=Bearer("write"), openapi_extra=BODY, response=dict[str, Any], summary="Compress the next request"
)
def compress(request: ApiRequest) -> HttpResponse:
    """Send `messages` of the answer to the model. Below the policy's trigger they are what was sent."""
    try:
        call = live.wanted(received(request))
        project = project_of(request, call.project or request.auth.project.slug)
        return HttpResponse(live.compress(project=project, call=call), content_type="application/json")
    except Unreadable as error:
        raise ApiError(422, "unreadable", f"{error.place}: {error.why}", error.hint, place=error.place) from None
    except UnknownKey as error:
        raise ApiError(422, "unknown_policy", str(error), "Or give the fields of a policy.") from None
    except InvalidPolicy as error:
        hint = "`manage.py policy schema` prints the fields."
        raise ApiError(422, "invalid_policy", "; ".join(error.faults), hint) from None


def received(request: HttpRequest) -> bytes:
    """The body, bounded while it is read."""
    chunks: list[bytes] = []
    size = 0
    while chunk := request.read(CHUNK_BYTES):
        size += len(chunk)
        if size > live.MOST_BYTES:
            hint = "No provider takes a request of that size."
            raise ApiError(413, "too_large", f"The request is larger than {live.MOST_BYTES:,} bytes.", hint)
        chunks.append(chunk)
    return b"".join(chunks)


@router.get("snapshots/{address}", auth=Bearer("read"), response=dict[str, Any], summary="Read an original back")
def read_snapshot(
    request: ApiRequest,
    address: str,
    lines: str = "",
    grep: str = "",
    json_path: str = "",
    max_tokens: Annotated[int | None, Field(ge=1, le=10_000_000)] = None,
) -> dict[str, Any]:
    """By the address in a stub, or 12 or more of its digits; whole, or `lines=10-40`, or `grep=`, or `json_path=`."""
    try:
        if len(address_digits(address)) < DIGITS:
            raise UnknownAddress(f"{address}: an address has {DIGITS} or more digits")
        sha, body = stored_original(request.auth.project.slug, address)
        part = Slice(lines, grep, json_path, max_tokens)
        text = read_slice(body.decode("utf-8", "surrogatepass"), part, default_counter().count)
    except Gone as error:
        raise ApiError(410, "gone", str(error)) from None
    except UnknownAddress as error:
        hint = "Addresses stand in the first line of a stub; they lead to originals of the token's project only."
        raise ApiError(404, "unknown_address", str(error)[:300], hint) from None
    except BadSlice as error:
        raise ApiError(422, "bad_slice", str(error)) from None
    return {"address": SCHEME + sha, "sha256": sha, "bytes": len(body), "text": text}
