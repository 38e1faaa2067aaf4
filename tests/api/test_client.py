"""The client: what it says when nobody answers, and what it repeats when a reply is lost."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from metabroker.api.client import Client, ClientError, LostReply, Unreachable
from metabroker.api.service import Failure, ServiceError
from metabroker.submission.model import Caller, Submission
from tests.api.fake import FakeService
from tests.api.test_routes import WIRE
from tests.testbed.processes import captured


class Proxy:
    """Between client and daemon: passes requests on, and loses the first `losses` replies."""

    def __init__(self, path: Path, target: Path, losses: int) -> None:
        self._target = str(target)
        self.losses = losses
        self.requests = 0
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(path))
        self._listening.listen()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                inner, _ = self._listening.accept()
            except OSError:
                return
            with inner, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as outer:
                self.requests += 1
                outer.connect(self._target)
                outer.sendall(self._request(inner))
                reply = outer.recv(1 << 20)  # the daemon has done it now
                if self.losses > 0:
                    self.losses -= 1
                else:
                    inner.sendall(reply)

    @staticmethod
    def _request(inner: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += inner.recv(1 << 16)
        head, body = data.split(b"\r\n\r\n", 1)
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        while len(body) < length:
            body += inner.recv(1 << 16)
        return head + b"\r\n\r\n" + body


@pytest.fixture
def proxy(folder: Path, socket_path: Path) -> Iterator[Proxy]:
    made = Proxy(folder / "proxy.sock", socket_path, losses=2)
    yield made
    made.close()


def test_a_submit_whose_reply_was_lost_is_queued_once(
    folder: Path, proxy: Proxy, service: FakeService
) -> None:
    job = Client(folder / "proxy.sock").submit(WIRE)
    assert job["job"] == 1
    assert proxy.requests == 3
    assert len(service.submissions) == 1
    assert service.submissions[1].request_id


def test_two_submits_are_two_jobs(client: Client, service: FakeService) -> None:
    assert [client.submit(WIRE)["job"] for _ in range(2)] == [1, 2]


def test_a_request_id_of_the_users_own_is_kept(client: Client, service: FakeService) -> None:
    wire = {**WIRE, "request_id": "nightly-7"}
    assert [client.submit(wire)["job"] for _ in range(2)] == [1, 1]
    assert service.submissions[1].request_id == "nightly-7"


def test_a_submit_that_is_lost_for_good_says_how_to_repeat_it(
    folder: Path, proxy: Proxy, service: FakeService
) -> None:
    proxy.losses = 1000
    with pytest.raises(LostReply) as caught:
        Client(folder / "proxy.sock", patience=1.0).submit(WIRE)
    request_id = service.submissions[1].request_id
    assert request_id is not None
    assert f"--request-id {request_id}" in caught.value.advice
    assert len(service.submissions) == 1


def test_a_submit_that_may_be_done_yet_says_how_to_repeat_it(
    socket_path: Path, service: FakeService
) -> None:
    """First the daemon cannot tell, then it takes nothing: the user must not queue it again."""
    answers = [Failure.UNDECIDED, *[Failure.UNAVAILABLE] * 100]

    def submit(_caller: Caller, _submission: Submission) -> NoReturn:
        raise ServiceError(answers.pop(0), "disk full", "nothing was changed")

    service.submit = submit  # type: ignore[method-assign, assignment]
    with pytest.raises(LostReply, match="disk full") as caught:
        Client(socket_path, patience=0.5).submit({**WIRE, "request_id": "nightly-7"})
    assert "not known whether the job is queued" in caught.value.message
    assert "--request-id nightly-7" in caught.value.advice
    assert len(answers) < 100, "the second try was not made"


def test_reading_is_repeated_and_a_change_is_not(folder: Path, proxy: Proxy) -> None:
    client = Client(folder / "proxy.sock")
    assert client.get("status")
    proxy.losses = 1
    with pytest.raises(LostReply, match="did not reply") as caught:
        client.change(1, "cancel")
    assert "metabroker show 1" in caught.value.advice


def test_nobody_there(folder: Path) -> None:
    with pytest.raises(Unreachable) as caught:
        Client(folder / "none.sock").submit(WIRE)
    text = str(caught.value)
    assert f"cannot reach the daemon at {folder}/none.sock: No such file or directory" in text
    assert "metabroker serve --config FILE" in text
    assert "--socket" in text


def test_a_dead_daemons_socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(folder / "dead.sock"))
    with pytest.raises(Unreachable, match="Connection refused"):
        Client(folder / "dead.sock").get("status")


@pytest.mark.parametrize("path", ["/" + "x" * 200, "/dev/null", "/a\0b", ""])
def test_what_is_no_socket(path: str) -> None:
    with pytest.raises(Unreachable, match="cannot reach"):
        Client(path).get("status")


@pytest.mark.root
def test_a_socket_that_may_not_be_reached(folder: Path, other_uid: int, socket_path: Path) -> None:
    socket_path.parent.chmod(0o700)
    code = (
        "import os, sys\n"
        "from metabroker.api.client import Client\n"
        "os.setuid(int(sys.argv[1]))\n"
        "try: Client(sys.argv[2]).get('status')\n"
        "except Exception as error: print(error)\n"
    )
    done = captured([sys.executable, "-c", code, str(other_uid), str(socket_path)])
    assert "Permission denied" in done.stdout, done


def _answering(path: Path, reply: bytes) -> None:
    """Answer every connection at `path` with `reply`."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen()

    def run() -> None:
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(reply)

    threading.Thread(target=run, daemon=True).start()


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (b"", "did not reply"),
        (b"SSH-2.0-OpenSSH\r\n", "did not reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "did not reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhtml", "is not understood"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "is not understood"),
        (b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}", r"refused the request \(500\)"),
    ],
)
def test_an_answer_that_is_none(folder: Path, reply: bytes, what: str) -> None:
    _answering(folder / "odd.sock", reply)
    with pytest.raises(ClientError, match=what):
        Client(folder / "odd.sock", timeout=60.0, patience=0.3).get("status")


def test_a_daemon_that_hangs(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute:
        mute.bind(str(folder / "mute.sock"))
        mute.listen()
        with pytest.raises(LostReply, match="no reply in time"):
            Client(folder / "mute.sock", timeout=0.3, patience=0.5).get("status")
