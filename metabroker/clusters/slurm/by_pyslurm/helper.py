"""One helper process: started, asked, and ended when it cannot be trusted any more."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metabroker.clusters.transports.base import CommandLost
from metabroker.clusters.transports.children import end

from .pyslurm_helper.frames import HEAD, BadFrame, length, packed, unpacked

FOLDER = Path(__file__).parent
# Last on the path, so that nothing in that folder hides a module which pyslurm needs.
_BEGIN = (
    "import sys, runpy; sys.path.append(sys.argv[1]); "
    "runpy.run_module('pyslurm_helper', run_name='__main__')"
)
_PIECE = 1 << 16
_MOST_SAID = 4000  # bytes of what it logs between two answers


def words(python: str) -> tuple[str, ...]:
    """The helper as a command of the interpreter that has pyslurm."""
    return (python, "-I", "-B", "-c", _BEGIN, str(FOLDER))


class Helper:
    """A running one. After `CommandLost` it has been ended."""

    def __init__(self, argv: tuple[str, ...], env: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: that cannot be done.
        """
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd="/",
            start_new_session=True,
        )
        self._said = b""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        self._number = 0

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def hello(self, seconds: float) -> dict[str, Any]:
        """One of its first messages: before it imports pyslurm, and after.

        Raises:
            CommandLost: none came.
        """
        return self._exchange(b"", seconds)

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Its answer; with `said`, what it logged meanwhile.

        Raises:
            CommandLost: it died, took too long or answered garbage: what it did is not known.
        """
        self._number += 1
        self._said = b""
        try:
            message = packed({**request, "id": self._number})
        except BadFrame as bad:
            raise CommandLost(f"not asked: {bad}") from bad
        answer = self._exchange(message, seconds)
        if answer.get("id") != self._number:
            self.end()
            raise CommandLost(f"an answer to another question: {str(answer)[:80]}")
        return answer | {"said": self._said.decode("utf-8", "replace")}

    def kill(self) -> None:
        """Kill it, from any thread: one that is asking finds it dead."""
        if self._process.returncode is not None:
            return  # its number may be somebody else's by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, 9)

    def end(self) -> None:
        """Kill it, and let go of its pipes."""
        end(self._process)

    def _exchange(self, message: bytes, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        try:
            self._write(message, deadline)
            head = self._read(HEAD.size, deadline)
            return unpacked(self._read(length(head), deadline))
        except TimeoutError:
            why = f"no answer within {seconds:g} s"
        except BadFrame as bad:
            why = f"garbage: {bad}"
        except (EOFError, BrokenPipeError):
            why = self._last_words()
        except BaseException:
            self.end()
            raise
        self.end()
        raise CommandLost(why)

    def _write(self, message: bytes, deadline: float) -> None:
        assert self._process.stdin is not None
        rest = memoryview(message)
        while rest:
            self._wait(self._process.stdin.fileno(), selectors.EVENT_WRITE, deadline)
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self._process.stdin.fileno(), rest[:_PIECE]) :]

    def _read(self, size: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        found = bytearray()
        while len(found) < size:
            self._wait(self._process.stdout.fileno(), selectors.EVENT_READ, deadline)
            piece = os.read(self._process.stdout.fileno(), min(_PIECE, size - len(found)))
            if not piece:
                raise EOFError
            found += piece
        self._listen()
        return bytes(found)

    def _wait(self, handle: int, event: int, deadline: float) -> None:
        """Until the pipe is ready; what is logged meanwhile must not fill the other one."""
        assert self._process.stderr is not None
        log = self._process.stderr.fileno()
        with selectors.PollSelector() as selector:
            selector.register(handle, event)
            selector.register(log, selectors.EVENT_READ)
            while True:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if any(key.fd == handle for key, _ in ready):
                    return
                if not ready or time.monotonic() > deadline:
                    raise TimeoutError
                if not self._listen():
                    selector.unregister(log)

    def _listen(self) -> bool:
        """Take what it has logged; False at the end of that."""
        assert self._process.stderr is not None
        try:
            while piece := os.read(self._process.stderr.fileno(), _PIECE):
                self._said = (self._said + piece)[-_MOST_SAID:]
        except BlockingIOError:
            return True
        return False

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._listen()
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        return f"it ended ({self._process.poll()}){': ' + lines[-1][:300] if lines else ''}"
