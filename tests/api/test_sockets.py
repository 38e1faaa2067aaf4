"""One daemon per socket; what a dead one left is replaced, a live one is respected."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from metabroker.api.client import Client
from metabroker.api.server import ApiServer
from metabroker.api.sockets import SocketError
from tests.api.fake import FakeService, serving


def serve(path: Path) -> subprocess.Popen[bytes]:
    """A process that serves a fake at `path`, once it does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.api.serve_fake", str(path)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_the_socket_goes_with_its_server(folder: Path) -> None:
    server = ApiServer(FakeService(), folder / "mb.sock")
    seen = [(server.alive, (folder / "mb.sock").is_socket())]
    server.start()
    seen.append((server.alive, (folder / "mb.sock").is_socket()))
    server.stop()
    seen.append((server.alive, (folder / "mb.sock").is_socket()))
    assert seen == [(False, False), (True, True), (False, False)]
    server.stop()  # once more does no harm


def test_a_server_can_start_again(folder: Path) -> None:
    server = ApiServer(FakeService(), folder / "mb.sock")
    for _ in range(3):
        server.start()
        assert Client(folder / "mb.sock").get("status")
        server.stop()


def test_the_folder_is_made(folder: Path) -> None:
    server = ApiServer(FakeService(), folder / "a" / "b" / "mb.sock")
    server.start()
    server.stop()
    assert (folder / "a" / "b").stat().st_mode & 0o777 == 0o755


def test_a_second_daemon_is_refused_and_the_first_goes_on(folder: Path) -> None:
    path = folder / "mb.sock"
    process = serve(path)
    try:
        with pytest.raises(SocketError, match="another daemon already serves"):
            ApiServer(FakeService(), path).start()
        assert Client(path).get("status")
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert not path.exists()


def test_what_a_killed_daemon_left_is_replaced(folder: Path) -> None:
    path = folder / "mb.sock"
    process = serve(path)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert path.is_socket()
    with serving(FakeService(), path):
        assert Client(path).get("status")


def test_a_live_socket_without_our_lock_is_respected(folder: Path) -> None:
    path = folder / "mb.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(SocketError, match="another daemon already serves"):
            ApiServer(FakeService(), path).start()
        assert path.is_socket()


def test_a_file_that_is_no_socket_is_left_alone(folder: Path) -> None:
    path = folder / "mb.sock"
    path.write_text("precious")
    with pytest.raises(SocketError, match="is not a socket"):
        ApiServer(FakeService(), path).start()
    assert path.read_text() == "precious"


def test_a_folder_that_cannot_be_made_is_an_error(folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(SocketError, match="cannot be made"):
        ApiServer(FakeService(), folder / "file" / "mb.sock").start()


def test_a_path_that_is_too_long_is_an_error(folder: Path) -> None:
    with pytest.raises(SocketError, match="cannot be made"):
        ApiServer(FakeService(), folder / ("x" * 120)).start()


def test_a_refused_start_leaves_nothing_open(folder: Path) -> None:
    (folder / "mb.sock").write_text("")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with pytest.raises(SocketError):
            ApiServer(FakeService(), folder / "mb.sock").start()
    assert len(os.listdir("/proc/self/fd")) == before
