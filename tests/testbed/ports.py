"""Ports that no other test-bed takes.

Slurm must be told its ports before it starts. They come from below the range that the kernel
hands out to connections, in blocks; an abstract socket, which the kernel removes with its
holder, keeps a block from test-beds started at the same moment, whoever runs them.
"""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

from tests.testbed.apt import SlurmUnavailable

FIRST, LAST = 20_000, 32_000


def require_network() -> None:
    """Raise `SlurmUnavailable` where Slurm could resolve no address, not even 127.0.0.1.

    It asks for addresses of configured families only, and loopback does not count as one.
    """
    try:
        socket.getaddrinfo("127.0.0.1", 1, socket.AF_INET, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror as error:
        raise SlurmUnavailable("no network interface is up but loopback") from error


class PortBlock:
    """`count` ports in a row, free at this moment and kept until `release`."""

    def __init__(self, count: int) -> None:
        starts = list(range(FIRST, LAST - count, count))
        random.shuffle(starts)
        for first in starts:
            self.ports = range(first, first + count)
            if self._claim():
                return
        raise OSError(f"no {count} free ports in a row between {FIRST} and {LAST}")

    def release(self) -> None:
        self._locks.close()

    def _claim(self) -> bool:
        with ExitStack() as locks, ExitStack() as probes:
            try:
                for port in self.ports:
                    lock = locks.enter_context(socket.socket(socket.AF_UNIX))
                    lock.bind(f"\0metabroker-testbed-port-{port}")
                    probe = probes.enter_context(socket.socket())
                    probe.bind(("0.0.0.0", port))
            except OSError:
                return False
            self._locks = locks.pop_all()
        return True
