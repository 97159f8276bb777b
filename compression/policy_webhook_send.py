"""One signed POST to an address that somebody typed: to the public Internet, once, within seconds, following nothing.

The host is resolved first and the connection goes to the very address that was looked at, so that a second answer of
the DNS changes nothing. Knows no model; reads of the answer its status and no more.
"""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Timer
from time import monotonic
from urllib.parse import SplitResult, urlsplit

SECONDS = 10.0
"""What one attempt may take once the name is resolved: connecting, the handshake, and the answer's head."""

LONGEST_URL = 500
_TRANSLATED = IPv6Network("64:ff9b::/96")
_METADATA = frozenset({IPv4Address("168.63.129.16")})
"""Public by its number, but a host's own service where a cloud uses it."""

Address = IPv4Address | IPv6Address


class Refused(ValueError):
    """The address may not be called; the message says why. Trying again would not help."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How an attempt went. ``status`` is None without an answer; ``error`` is empty when all is well."""

    status: int | None
    error: str
    may_retry: bool = False


def checked_url(url: str) -> SplitResult:
    """The parts of an address that a webhook may have; Refused where it is none."""
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise Refused(f"is no address: at most {LONGEST_URL} printable ASCII characters without blanks")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused("is no address such as https://agents.example.com/policy") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise Refused("begins with https:// or http:// and names a host")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Refused("holds no name, password or #fragment: the signature says who is calling")
    return parts


def is_public(address: Address) -> bool:
    """Whether an address is somebody's on the Internet: neither this host, nor its network, nor a cloud's metadata.

    IPv6 addresses that stand for one of IPv4 are judged by that.
    """
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in _TRANSLATED:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved and address not in _METADATA


def resolved(host: str, port: int, *, allow_private: bool) -> list[Address]:
    """The addresses of a host. Refused when any of them is private: a name that means both is not to be trusted."""
    found = [
        ip_address(str(entry[4][0]).partition("%")[0])
        for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ]
    private = [] if allow_private else [address for address in found if not is_public(address)]
    if private:
        raise Refused(f"{host} is {private[0]}, an address of a private network, which is not called from here")
    return list(dict.fromkeys(found))


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 over the timestamp, a full stop and the body, in hexadecimal digits."""
    return hmac.new(secret.encode(), str(timestamp).encode() + b"." + body, hashlib.sha256).hexdigest()


def headers(*, secret: str, timestamp: int, body: bytes, event: str, delivery: int) -> dict[str, str]:
    """What a receiver checks: the documented names."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Hermes-Webhook/1",
        "Hermes-Event": event,
        "Hermes-Delivery": str(delivery),
        "Hermes-Timestamp": str(timestamp),
        "Hermes-Signature": f"sha256={signature(secret, timestamp, body)}",
        "Connection": "close",
    }


def send(
    url: str, body: bytes, sent_headers: dict[str, str], *, allow_private: bool, seconds: float = SECONDS
) -> Answer:
    """POST once. Never raises for what the other side does."""
    try:
        parts = checked_url(url)
        host = str(parts.hostname)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        addresses = resolved(host, port, allow_private=allow_private)
    except Refused as error:
        return Answer(None, str(error))
    except (OSError, UnicodeError) as error:
        return Answer(None, f"the host's name cannot be resolved ({_words(error)})", may_retry=True)
    connection = PinnedConnection(host, port, addresses, is_tls=parts.scheme == "https", seconds=seconds)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", target, body, sent_headers)
        return judged(connection.getresponse().status)
    except ssl.SSLCertVerificationError as error:
        return Answer(None, f"its certificate is not good for {host}: {error.verify_message}", may_retry=True)
    except (OSError, HTTPException, ValueError) as error:
        is_late = connection.is_late or isinstance(error, TimeoutError)
        return Answer(None, f"no answer within {seconds:g} s" if is_late else f"no answer: {_words(error)}", True)
    finally:
        connection.close()


def judged(status: int) -> Answer:
    """What a status means for a webhook: 2xx took it, 408, 429 and 5xx are worth another try."""
    if 200 <= status < 300:
        return Answer(status, "")
    if 300 <= status < 400:
        return Answer(status, f"answered {status}, a redirect, which is not followed: set the address that it leads to")
    retry = status in (408, 429) or status >= 500
    return Answer(status, f"answered {status}" + ("" if retry else ": it does not take the message"), may_retry=retry)


def _words(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return "".join(c if c.isprintable() else " " for c in text)[:120]


class PinnedConnection(HTTPConnection):
    """A connection to addresses that were looked at before; the host's name serves the Host header and TLS only.

    A timer ends it, because a timeout of sockets starts anew with each byte that a slow host sends.
    """

    def __init__(self, host: str, port: int, addresses: Sequence[Address], *, is_tls: bool, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._addresses = addresses
        self._context = ssl.create_default_context() if is_tls else None
        self.default_port = 443 if is_tls else 80
        self._ends = monotonic() + seconds
        self._timer = Timer(seconds, self._hang_up)
        self._timer.daemon = True
        self.is_late = False

    def connect(self) -> None:
        self._timer.start()
        self.sock = self._connected()
        if self._context is not None:
            # Not in one step: the timer has to know the socket that shakes hands.
            tls = self._context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = tls
            tls.do_handshake()

    def _connected(self) -> socket.socket:
        fault: OSError = OSError("the host has no address")
        for address in self._addresses:
            left = self._ends - monotonic()
            if left <= 0:
                break
            try:
                return socket.create_connection((str(address), self.port), timeout=left)
            except OSError as error:
                fault = error
        self.is_late = monotonic() >= self._ends
        raise fault

    def _hang_up(self) -> None:
        self.is_late = True
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._timer.cancel()
        super().close()
