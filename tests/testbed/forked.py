"""Python programs of this repository that start in a moment: forked off from a process that has
imported everything already (`forking`). Most of what hundreds of daemons and commands of the tests
cost is these imports.

METABROKER_TEST_FORK=0: each is a Python of its own, as it is for users.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

REPOSITORY = Path(__file__).resolve().parents[2]
LARGEST = 1 << 19  # bytes of a message: words and environment
# What a Python reads when it starts.
_AT_START = ("PYTHONIOENCODING", "PYTHONPATH", "PYTHONUTF8", "PYTHONWARNINGS", "LC_", "LANG")
_ONE = threading.Lock()
FORKS = os.environ.get("METABROKER_TEST_FORK") != "0"


class Process(Protocol):
    """What of `subprocess.Popen` tests use."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...
    def terminate(self) -> None: ...


class Forked:
    """A process that was forked off."""

    def __init__(self, words: Sequence[str], told: socket.socket) -> None:
        self.args = list(words)
        self._told = told
        self._lock = threading.Lock()
        self.returncode: int | None = None
        self.pid = int(told.recv(64))

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None: it runs."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """The same, once it has ended. Raises subprocess.TimeoutExpired."""
        code = self._ended(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _ended(self, seconds: float | None) -> int | None:
        with self._lock:
            if self.returncode is None:
                self._told.settimeout(seconds)
                try:
                    said = self._told.recv(64)
                except (TimeoutError, BlockingIOError):
                    return None
                self._told.close()
                assert said, "who forks has ended"
                self.returncode = int(said)
            return self.returncode


def start(
    module: str,
    words: Sequence[str],
    *,
    streams: tuple[int, int, int],
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> Forked:
    """`python -m MODULE WORDS` in a session of its own. `streams`: descriptors of its standard
    input, output and error."""
    given = {"words": [module, *words], "cwd": str(cwd), "env": dict(env or os.environ)}
    message = json.dumps(given).encode()
    assert len(message) < LARGEST, "use a process of its own for so much"
    told, tells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tells:
        socket.send_fds(_forker(), [message], [*streams, tells.fileno()])
    return Forked([sys.executable, "-m", module, *words], told)


def run(
    module: str,
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    stdin: bytes = b"",
) -> subprocess.CompletedProcess[str]:
    """The same to its end, with what it printed. Raises subprocess.TimeoutExpired."""
    streams = given, out, errors = (
        os.memfd_create("given"),
        os.memfd_create("out"),
        os.memfd_create("errors"),
    )
    try:
        os.pwrite(given, stdin, 0)
        process = start(module, words, streams=streams, cwd=cwd, env=env)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, code, _text(out), _text(errors))
    finally:
        for stream in streams:
            os.close(stream)


def like_ours(env: Mapping[str, str]) -> bool:
    """Whether a Python with these variables would be as the one that forks."""
    return FORKS and all(
        env.get(name) == os.environ.get(name)
        for name in {*env, *os.environ}
        if name.startswith(_AT_START)
    )


def _text(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode()


def _forker() -> socket.socket:
    """Who forks, for this process; it ends with it."""
    with _ONE:  # threads that begin together would each start one
        return _started()


@functools.cache
def _started() -> socket.socket:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * LARGEST)
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.testbed.forking", str(its.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            cwd=REPOSITORY,
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
