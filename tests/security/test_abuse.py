"""Too much, too slow, too often: refused, and written down."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from metabroker.access.rates import Rate
from metabroker.api.client import Client, ClientError
from metabroker.api.middleware import RateLimits
from metabroker.api.server import LARGEST_BODY
from tests.api.raw import request
from tests.api.test_identity import as_other
from tests.api.test_routes import WIRE
from tests.daemon.harness import eventually
from tests.security.front import Front, ordinary

HEAD = 1.5  # seconds for a request's head


@pytest.fixture
def strict(folder: Path) -> Iterator[Front]:
    """A front that has little patience."""
    rates = RateLimits(Rate(1000.0, 8), Rate(0.01, 3))
    made = Front(folder, rates, head=HEAD)
    yield made
    made.close()


def secured(front: Front) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(front.authority.file))
    return context.wrap_socket(front.plain(), server_hostname="localhost")


def local(front: Front) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(30)
    connection.connect(str(front.socket))
    return connection


def ended(connection: socket.socket) -> bool:
    """Whether the far side ends it, without an answer."""
    try:
        return connection.recv(100) == b""
    except ConnectionError:
        return True


def test_too_large_a_request_is_refused(front: Front) -> None:
    wire = {**WIRE, "script": "A" * (LARGEST_BODY + 1000)}
    good = {"Authorization": f"Bearer {front.token()['token']}"}
    status, answer = front.ask("POST", "/v1/jobs", wire, good)
    assert (status, answer["error"]) == (413, "the request is too large")
    assert front.line(action="submit", outcome="refused", user=ordinary().user)["reason"] == (
        "413 Request Entity Too Large"
    )
    assert request(front.socket, "POST", "/v1/jobs", json.dumps(wire).encode())[0] == 413
    assert front.line(action="submit", outcome="refused", **{"from": "socket"})
    assert "too_large" in front.refused and front.jobs.submissions == {}


def test_endless_headers_are_refused(front: Front) -> None:
    said = b""
    with secured(front) as far, contextlib.suppress(ConnectionError, ssl.SSLError):
        far.settimeout(5)  # sooner than an incomplete head would be given up
        # It may answer, and close the connection, before it has read all.
        far.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\n" + b"X-A: " + b"a" * 100_000)
        said = far.recv(100)
    assert b" 400 Bad Request" in said or not said
    assert Client(front.socket).get("status")


@pytest.mark.parametrize("sent", [b"", b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_does_not_come_ends_the_connection(strict: Front, sent: bytes) -> None:
    for connect, where in ((secured, "127.0.0.1"), (local, "socket")):
        with connect(strict) as connection:
            connection.sendall(sent)
            assert ended(connection)
        line = strict.line(action="connect", outcome="refused", **{"from": where})
        assert line["reason"].startswith("too slow: no complete request in time")
    assert "too_slow" in strict.refused


def test_a_head_that_comes_a_byte_at_a_time_gets_no_more_time(strict: Front) -> None:
    with local(strict) as connection:
        connection.settimeout(HEAD / 8)
        sent = 0
        for byte in b"GET /v1/jobs HTTP/1.1\r\nX-Slow: " + b"a" * 1000:
            try:
                connection.sendall(bytes([byte]))
                sent += 1
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert sent < 200
    assert strict.line(action="connect", outcome="refused")


def test_a_handshake_that_does_not_come_ends_the_connection(strict: Front) -> None:
    with strict.plain() as connection:
        assert ended(connection)
    line = strict.line(action="connect", outcome="refused")
    assert line["reason"].startswith("tls: ") and line["from"] == "127.0.0.1"


def test_one_address_does_not_take_all_connections(folder: Path) -> None:
    front = Front(folder, connections=8)  # 4 for all over TLS, 2 for one address
    try:
        with secured(front), front.plain():  # one has said nothing yet
            with pytest.raises(OSError), secured(front):
                pass
            line = front.line(action="connect", outcome="refused")
            assert (line["reason"], line["from"]) == ("too many connections", "127.0.0.1")
            assert Client(front.socket).get("status")  # here all goes on
        eventually(lambda: served(front), "those that have gone make room")
    finally:
        front.close()


def served(front: Front) -> bool:
    """Whether a connection is taken."""
    try:
        with secured(front) as far:
            far.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n")
            return far.recv(12) == b"HTTP/1.1 401"
    except OSError:
        return False


def test_a_second_request_must_come_whole_too(strict: Front) -> None:
    with local(strict) as connection:
        connection.sendall(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /v1/sta")
        assert ended(connection)
    assert strict.line(action="connect", outcome="refused")


def test_a_body_that_does_not_come_is_refused(strict: Front) -> None:
    with local(strict) as connection:
        connection.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
        assert connection.recv(4096).startswith(b"HTTP/1.1 408")
    line = strict.line(action="submit", outcome="refused")
    assert "did not arrive within" in line["reason"]


def test_waiting_for_a_job_is_not_slow(strict: Front) -> None:
    Client(strict.socket).submit(WIRE)
    state = Client(strict.socket).get("jobs/1/wait", timeout=1.5 * HEAD)
    assert state["state"] == "QUEUED"


def test_too_many_requests_are_refused_until_the_time_told(strict: Front) -> None:
    good = {"Authorization": f"Bearer {strict.token()['token']}"}
    answers = [strict.ask("POST", "/v1/jobs", WIRE, good) for _ in range(4)]
    assert [status for status, _ in answers] == [200, 200, 200, 429]
    refusal = answers[-1][1]
    assert refusal["error"].startswith(f"too many submissions of {ordinary().user}: 0.01 a second")
    assert refusal["advice"].startswith("try again in ")
    assert "too many submissions" in strict.line(action="submit", outcome="refused")["reason"]
    assert "too_often" in strict.refused and len(strict.jobs.submissions) == 3
    # Reading is not hindered by that.
    assert strict.ask("GET", "/v1/jobs", None, good)[0] == 200


def test_the_client_comes_again_when_it_may(folder: Path) -> None:
    front = Front(folder, RateLimits(Rate(0.5, 1), None))
    try:
        client = front.client(front.token()["token"], patience=60.0)
        tries = 0
        while "too_often" not in front.refused:  # a slow machine is slow enough by itself
            assert client.get("jobs") == {"jobs": []}
            tries += 1
            assert tries < 30
        with pytest.raises(ClientError, match=r"too many requests of .*; try again in [12] s"):
            for _ in range(30):
                front.client(front.token()["token"]).get("jobs")
    finally:
        front.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="asks as root and as another user")
def test_root_is_not_held_up_and_another_user_on_the_socket_is(strict: Front) -> None:
    for _ in range(6):
        Client(strict.socket).submit(WIRE)
    for wanted in (200, 200, 200, 429):
        status, _ = as_other(ordinary().uid, strict.socket, "POST", "/v1/jobs", WIRE)
        assert status == wanted


@pytest.mark.skipif(os.geteuid() != 0, reason="asks as root and as another user")
def test_a_forged_identity_on_the_socket_is_not_believed(front: Front) -> None:
    Client(front.socket).submit(WIRE)  # root's
    for verb in ("cancel", "hold", "release", "abandon"):  # with headers that name root
        status, _ = as_other(12345, front.socket, "POST", f"/v1/jobs/1/{verb}", {"user": "root"})
        assert status == 403
        assert front.line(action=verb, outcome="refused", uid=12345, job=1)
    assert as_other(12345, front.socket, "GET", "/v1/jobs/1")[0] == 200
    for claim in ({"user": "root"}, {"uid": 0}, {"caller": {"uid": 0, "user": "root"}}):
        assert as_other(12345, front.socket, "POST", "/v1/jobs", {**WIRE, **claim})[0] == 400
        assert front.line(action="submit", outcome="refused", uid=12345)
    assert front.jobs.job(1)["state"] == "QUEUED"
    Client(front.socket).change_cluster("delft", "drain", reason="private")
    for outcome in ("asked", "done"):
        assert front.line(action="drain", outcome=outcome, cluster="delft")
    assert "private" not in front.log.read_text()
    forged = "/v1/jobs?user=root&uid=0"
    status, job = as_other(12345, front.socket, "POST", forged, WIRE)
    assert (status, job["user"]) == (200, "12345")


def test_a_token_is_not_believed_on_the_socket(front: Front) -> None:
    made = front.token()
    connection = local(front)
    with connection:
        head = (
            f"GET /v1/whoami HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {made['token']}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert json.loads(connection.recv(4096).split(b"\r\n\r\n")[1]) == {
            "user": Client(front.socket).get("whoami")["user"], "uid": os.geteuid(), "token": None,
        }  # fmt: skip


def test_what_cannot_be_written_down_is_not_done(front: Front) -> None:
    front.audit.close()
    front.log.unlink(missing_ok=True)
    front.log.symlink_to("/dev/full")
    client = Client(front.socket, patience=0.0)
    with pytest.raises(
        ClientError, match=r"audit log .* cannot be written.*nothing was changed"
    ) as caught:
        client.submit(WIRE)
    assert caught.value.status == 503
    assert front.jobs.submissions == {}
    assert client.get("jobs") == {"jobs": []}  # reading goes on
    front.log.unlink()
    assert client.submit(WIRE)["job"] == 1
    assert front.line(action="submit", outcome="done", job=1)


def test_a_change_whose_caller_leaves_has_its_lines_too(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: Future[dict[str, int]] = Future()
    monkeypatch.setattr(front.jobs, "submit", lambda _caller, _submission: done)
    body = json.dumps(WIRE).encode()
    head = f"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with local(front) as connection:
        connection.sendall(head.encode() + body)
        asked = front.line(action="submit", outcome="asked")
    done.set_result({"job": 1})
    after = front.line(action="submit", outcome="done", job=1)
    assert after["request"] == asked["request"]
