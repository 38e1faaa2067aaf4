"""Child processes: spoken with up to a time and a size, then ended with all their children."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time

from .base import MOST_OUTPUT, CommandLost

_PIECE = 1 << 16


def talk(process: subprocess.Popen[bytes], stdin: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Give it its input and take both outputs, to their ends and its own.

    Raises:
        CommandLost: that took too long, or it said too much; it has been ended.
    """
    deadline = time.monotonic() + seconds
    try:
        outputs = _exchange(process, stdin, deadline, seconds)
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        end(process)
        raise CommandLost(f"no answer within {seconds:g} s") from None
    except BaseException:
        end(process)
        raise
    return outputs


def _exchange(
    process: subprocess.Popen[bytes], stdin: bytes, deadline: float, seconds: float
) -> tuple[bytes, bytes]:
    assert process.stdin is not None
    found: dict[int, bytearray] = {}
    rest = memoryview(stdin)
    with selectors.PollSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            found[pipe.fileno()] = bytearray()
            selector.register(pipe, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, seconds)
            for key, _ in selector.select(left):
                if key.fileobj is process.stdin:
                    rest = _write(key.fd, rest)
                    ended = not rest
                else:
                    ended = _read(key.fd, found[key.fd])
                if ended:
                    selector.unregister(key.fileobj)
                    with contextlib.suppress(BrokenPipeError):
                        key.fileobj.close()  # type: ignore[union-attr]
    stdout, stderr = found.values()
    return bytes(stdout), bytes(stderr)


def _write(handle: int, rest: memoryview) -> memoryview:
    """Write a piece; what is left, which is nothing where nobody reads it."""
    try:
        return rest[os.write(handle, rest[:_PIECE]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def _read(handle: int, into: bytearray) -> bool:
    """Read a piece; whether that was the end."""
    piece = os.read(handle, _PIECE)
    into += piece
    if len(into) > MOST_OUTPUT:
        raise CommandLost(f"its output is larger than {MOST_OUTPUT >> 20} MB")
    return not piece


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a hung command with its children, without waiting for pipes they hold open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, 9)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
