"""Nobody keeps the others out by connecting more often."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from metabroker.api.client import Client
from metabroker.api.server import ApiServer
from tests.api.fake import FakeService
from tests.api.test_routes import WIRE
from tests.api.test_waiting import eventually

# Connects as another user so many times, prints how many were refused, and waits to be told to go.
_CROWD = r"""
import os, socket, sys
os.setgroups([]); os.setuid(int(sys.argv[1]))
refused, kept = 0, []
# The first is answered at once, which tells that one is let in; the second keeps one connected.
ASKED = b"/v1/status", b"/v1/jobs/1/wait?timeout=300"
for _ in range(int(sys.argv[3])):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(sys.argv[2])
    kept.append(connection)
    try:
        connection.sendall(b"".join(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in ASKED))
    except OSError:
        pass  # it was refused before it had asked
    refused += connection.recv(12) == b"HTTP/1.1 503"
print(refused, flush=True)
sys.stdin.read()
"""


def crowd(uid: int, path: Path, connections: int) -> tuple[subprocess.Popen[bytes], int]:
    """A process of user `uid` with so many connections, and how many of them were refused."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CROWD, str(uid), str(path), str(connections)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def leave(process: subprocess.Popen[bytes]) -> None:
    process.communicate(b"", timeout=60)


@pytest.mark.root
def test_one_user_gets_half_and_whoever_has_fewer_gets_in_all_the_same(
    folder: Path, other_uid: int
) -> None:
    path = folder / "mb.sock"
    server = ApiServer(FakeService(), path, connections=8)
    server.start()
    try:
        Client(path).submit(WIRE)
        one, refused = crowd(other_uid, path, 6)
        assert refused == 2
        two, refused = crowd(other_uid + 1, path, 4)
        assert refused == 0
        three, refused = crowd(other_uid + 2, path, 4)
        assert refused == 2, "a third of what there is: others lose theirs for no more"
        assert Client(path).get("status")  # root is let in
        for process in (one, two, three):
            leave(process)
        eventually(lambda: _refused_of_one(other_uid, path) == 0)
    finally:
        server.stop()


def _refused_of_one(uid: int, path: Path) -> int:
    process, refused = crowd(uid, path, 1)
    leave(process)
    return refused
