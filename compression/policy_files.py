"""Policies as files: read from an upload, written for a download. JSON or TOML, by the file's name or its content.

A file is checked here, never saved; its name is used in messages only.
"""

from __future__ import annotations

import re
from typing import Literal

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse

from compression.engine.policy import MAX_FILE_BYTES, InvalidPolicy, Policy, parse
from compression.policies import as_json, as_toml

Format = Literal["json", "toml"]
MEDIA_TYPES = {"json": "application/json", "toml": "application/toml"}


def read(file: UploadedFile[bytes]) -> Policy:
    """The policy in an uploaded file; InvalidPolicy names the file and every fault."""
    name = (file.name or "policy")[:120]
    if (file.size or 0) > MAX_FILE_BYTES:
        raise InvalidPolicy(name, [f"is larger than {MAX_FILE_BYTES // 1024} KB: no policy file is"])
    try:
        text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidPolicy(name, ["is not UTF-8 text"]) from None
    if not name.lower().endswith((".json", ".toml")):
        raise InvalidPolicy(name, ["a policy file ends in .json or .toml"])
    return parse(text, name[:-5] + name[-5:].lower())


def download(policy: Policy, file_format: Format, label: str) -> HttpResponse:
    """The whole policy as a file to save."""
    body = as_json(policy) if file_format == "json" else as_toml(policy)
    stem = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:60] or "policy"
    response = HttpResponse(body, content_type=f"{MEDIA_TYPES[file_format]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{stem}.{file_format}"'
    return response
