"""The process behind `forked`: a Python that has imported the program once, and forks.

    python -m tests.testbed.forking FD

Each message on the socket FD asks for one run of a module, as by `python -m`: its words, folder and
environment, and four files, which are its standard input, output and error, and the socket on which
whoever asks is told its number and, at last, how it has ended. It ends when nobody holds the other
end of FD any more.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
from typing import Any

LARGEST = 1 << 20  # bytes of one message
_MODULES = (
    "metabroker.daemon.main",
    "metabroker.config",
    "metabroker.doctor",
    "tests.daemon.killing",
    "tests.faults.pausing",
)


def _prepare() -> None:
    """Import what is imported in any case, and nothing that starts a thread."""
    gc.disable()  # what is imported stays
    for name in _MODULES:
        importlib.import_module(name)
    commands = importlib.import_module("metabroker.cli")
    for found in pkgutil.iter_modules(commands.__path__, "metabroker.cli."):
        importlib.import_module(found.name)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()
    gc.enable()


def main() -> None:
    """Fork for each message."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    _prepare()
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([asked, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _tell(told)
        if asked not in ready:
            continue
        message, fds, _, _ = socket.recv_fds(asked, LARGEST, 4)
        if not message:
            return
        *streams, answer = fds
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for each in (asked, woken, wakes, *told.values()):
                each.close()
            os.close(answer)
            _become(json.loads(message), streams)
            return
        for fd in streams:
            os.close(fd)
        told[pid] = socket.socket(fileno=answer)
        told[pid].send(str(pid).encode())


def _tell(told: dict[int, socket.socket]) -> None:
    """How those have ended who have."""
    for pid, answer in list(told.items()):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            del told[pid]
            with contextlib.suppress(OSError):  # nobody wants to know
                answer.send(str(os.waitstatus_to_exitcode(status)).encode())
            answer.close()


def _become(asked: dict[str, Any], streams: list[int]) -> None:
    """Be `python -m MODULE WORDS`, in a session of its own."""
    os.setsid()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    module, *words = asked["words"]
    sys.orig_argv[:] = [sys.executable, "-m", module, *words]
    sys.argv[:] = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
