"""Reads settings from the environment and refuses nonsense.

Each reader returns a value of one type or raises ``BadSetting``, which names the variable,
its value and what is allowed. An empty variable counts as absent. It knows no setting by
name and never reads a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

SIZE_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class BadSetting(ImproperlyConfigured):
    """A variable holds something that cannot be meant."""

    def __init__(self, name: str, value: str, allowed: str) -> None:
        super().__init__(f"{name}={value!r} is not usable: {allowed}")
        self.name = name
        self.value = value
        self.allowed = allowed


def text(name: str, default: str = "", *, environ: Mapping[str, str] = os.environ) -> str:
    return environ.get(name, "").strip() or default


def flag(name: str, default: bool, *, environ: Mapping[str, str] = os.environ) -> bool:
    value = text(name, environ=environ)
    if not value:
        return default
    if value.lower() in {"1", "true", "yes", "on"}:
        return True
    if value.lower() in {"0", "false", "no", "off"}:
        return False
    raise BadSetting(name, value, "write 1 or 0 (true/false, yes/no and on/off work too)")


def integer(name: str, default: int, *, at_least: int, at_most: int, environ: Mapping[str, str] = os.environ) -> int:
    value = text(name, environ=environ)
    if not value:
        return default
    allowed = f"write a whole number from {at_least} to {at_most}"
    if not re.fullmatch(r"[0-9]{1,18}", value):
        raise BadSetting(name, value, allowed)
    number = int(value)
    if not at_least <= number <= at_most:
        raise BadSetting(name, value, allowed)
    return number


def size(name: str, default: int, *, environ: Mapping[str, str] = os.environ) -> int:
    """Bytes; ``200M`` is 200 x 1024 x 1024."""
    value = text(name, environ=environ)
    if not value:
        return default
    match = re.fullmatch(r"([0-9]{1,15})([KMG]?)B?", value.upper())
    number = int(match[1]) * SIZE_UNITS[match[2]] if match else 0
    if number < 1:
        raise BadSetting(name, value, "write a number of bytes above 0, such as 209715200 or 200M")
    return number


def choice(name: str, default: str, *, among: Sequence[str], environ: Mapping[str, str] = os.environ) -> str:
    value = text(name, default, environ=environ)
    if value not in among:
        raise BadSetting(name, value, f"write one of {', '.join(among)}")
    return value


def words(name: str, default: Sequence[str], *, environ: Mapping[str, str] = os.environ) -> list[str]:
    """A list parted by commas; blanks around an item do not count."""
    value = text(name, environ=environ)
    return [word for part in value.split(",") if (word := part.strip())] if value else list(default)


def host_names(name: str, default: Sequence[str], *, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Host names as Django's ALLOWED_HOSTS takes them: no scheme, no port, no path."""
    names = words(name, default, environ=environ)
    for host in names:
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]", host):
            raise BadSetting(name, host, "write host names parted by commas, without scheme, port or path")
    return names


def url(name: str, default: str = "", *, schemes: Sequence[str], environ: Mapping[str, str] = os.environ) -> str:
    value = text(name, default, environ=environ)
    if value and value.partition("://")[0] not in schemes:
        raise BadSetting(name, mask_url(value), f"write a URL that begins with one of {', '.join(schemes)} and ://")
    return value


def directory(name: str, default: Path, *, environ: Mapping[str, str] = os.environ) -> Path:
    """An absolute path; made, for its owner only, when it is not there yet."""
    value = text(name, str(default), environ=environ)
    path = Path(value).expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BadSetting(name, value, f"it must be a folder that can be made and written ({error.strerror})") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise BadSetting(name, value, "it must be a folder that can be written")
    return path


def mask_url(value: str) -> str:
    """The URL without the password that it may carry."""
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:***@", value)
