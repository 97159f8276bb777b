"""One signed POST: to whom it may go, what it carries, and how what comes back is judged."""

from __future__ import annotations

import hashlib
import hmac
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from compression.policy_webhook_send import Answer, Refused, checked_url, headers, is_public, send
from tests.compression.policy.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def posted(url: str, *, allow_private: bool = True, seconds: float = 5) -> Answer:
    named = headers(secret="a secret of the owner", timestamp=1_700_000_000, body=b"{}", event="test", delivery=7)
    return send(url, b"{}", named, allow_private=allow_private, seconds=seconds)


def answers_of_the_dns(monkeypatch: pytest.MonkeyPatch, *rounds: str) -> None:
    """The n-th question for any name is answered with the n-th address, the last one for good."""
    left = list(rounds)

    def getaddrinfo(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        answer = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port))]

    monkeypatch.setattr("compression.policy_webhook_send.socket.getaddrinfo", getaddrinfo)


def test_a_message_is_signed_over_its_time_and_body(receiver: Receiver) -> None:
    assert posted(receiver.url) == Answer(204, "")

    [message] = receiver.received
    expected = hmac.new(b"a secret of the owner", b"1700000000.{}", hashlib.sha256).hexdigest()
    assert message.headers["Hermes-Signature"] == f"sha256={expected}"
    assert message.headers["Hermes-Timestamp"] == "1700000000"
    assert message.headers["Hermes-Event"] == "test"
    assert message.headers["Hermes-Delivery"] == "7"
    assert (message.path, message.body) == ("/policy", b"{}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    receiver.answers = [(status, {"Location": receiver.url})]

    answer = posted(receiver.url)

    assert len(receiver.received) == 1
    assert answer == Answer(
        status, f"answered {status}, a redirect, which is not followed: set the address that it leads to"
    )


@pytest.mark.parametrize(("status", "may_retry"), [(400, False), (404, False), (410, False), (429, True), (503, True)])
def test_only_what_may_pass_is_worth_another_try(receiver: Receiver, status: int, may_retry: bool) -> None:
    receiver.answers = [(status, {})]

    assert posted(receiver.url).may_retry == may_retry


def test_a_receiver_that_says_nothing_is_left_in_time(receiver: Receiver) -> None:
    receiver.hangs = True

    assert posted(receiver.url, seconds=0.3) == Answer(None, "no answer within 0.3 s", may_retry=True)


def test_a_host_that_drips_bytes_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"

        def drip() -> None:
            line, _ = server.accept()
            with line:
                try:
                    while True:
                        line.sendall(b"H")
                        line.settimeout(0.05)
                        try:
                            if not line.recv(1_000):
                                return
                        except TimeoutError:
                            continue
                except OSError:
                    return

        from threading import Thread

        thread = Thread(target=drip)
        thread.start()
        answer = posted(url, seconds=0.4)
        thread.join(10)

    assert answer.status is None
    assert answer.may_retry


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0",
        "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::1", "::", "fe80::1",
        "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
    ],
)  # fmt: skip
def test_addresses_that_are_nobodys_on_the_internet_are_told(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"])
def test_public_addresses_are_told(address: str) -> None:
    assert is_public(ip_address(address))


def test_a_private_host_is_not_called(receiver: Receiver) -> None:
    answer = posted(receiver.url, allow_private=False)

    assert receiver.received == []
    assert answer == Answer(
        None, "127.0.0.1 is 127.0.0.1, an address of a private network, which is not called from here"
    )


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "0177.0.0.1", "[::ffff:127.0.0.1]"])
def test_a_private_host_in_disguise_is_not_called(receiver: Receiver, host: str) -> None:
    port = receiver.url.rsplit(":", 1)[1]

    answer = posted(f"http://{host}:{port}", allow_private=False)

    assert receiver.received == []
    assert "an address of a private network" in answer.error


def test_a_name_that_leads_to_a_private_host_is_not_called(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    answers_of_the_dns(monkeypatch, "127.0.0.1")

    answer = posted(receiver.url.replace("127.0.0.1", "agents.example"), allow_private=False)

    assert receiver.received == []
    assert answer.error == (
        "agents.example is 127.0.0.1, an address of a private network, which is not called from here"
    )


def test_the_name_is_asked_once_and_the_answer_is_called(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second answer would have led to this host."""
    answers_of_the_dns(monkeypatch, "203.0.114.9", "127.0.0.1")
    called: list[str] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        called.append(address[0])
        raise OSError("not in a test")

    monkeypatch.setattr("compression.policy_webhook_send.socket.create_connection", connect)

    posted(receiver.url.replace("127.0.0.1", "agents.example"), allow_private=False)

    assert called == ["203.0.114.9"]


@pytest.mark.parametrize(
    "url",
    [
        "", "agents.example.com", "ftp://agents.example.com/", "https://", "file:///etc/passwd", "gopher://h/",
        "https://ada:pw@agents.example.com/", "https://h/#part", "https://h/a b", "https://h/\r\nX: y", "https://h:0/",
        "https://h:99999/", "https://[::1/", "https://höst/", "https://h/" + "a" * 500,
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        checked_url(url)
