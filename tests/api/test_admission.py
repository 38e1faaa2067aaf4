"""Who asks is found out by turns: nobody waits until it is known who another one is."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.client import Client
from metabroker.api.middleware import Middleware
from tests.daemon.harness import eventually

from .fake import FakeService, serving

# As another user: asks over ten connections, and stays until it is told to go.
_ASKS = r"""
import os, socket, sys
os.setgroups([]); os.setuid(int(sys.argv[1]))
kept = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(10)]
for one in kept:
    one.connect(sys.argv[2])
    one.sendall(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
sys.stdin.read()
"""


@pytest.mark.root
def test_one_whose_name_takes_long_to_find_keeps_nobody_waiting(
    folder: Path, other_uid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of a user of a container may, whom no directory knows."""
    admit, go_on, waits = Middleware.admit, threading.Event(), list[int]()

    def slow(self: Middleware, context: Any, header: str) -> Any:
        if context.uid == other_uid:
            waits.append(1)
            go_on.wait(60)
        return admit(self, context, header)

    monkeypatch.setattr(Middleware, "admit", slow)
    path = folder / "mb.sock"
    with serving(FakeService(), path):
        words = [sys.executable, "-c", _ASKS, str(other_uid), str(path)]
        process = subprocess.Popen(words, stdin=subprocess.PIPE)
        try:
            eventually(lambda: len(waits) >= 3)
            assert Client(path, timeout=20.0, patience=1.0).get("status")
        finally:
            go_on.set()
            process.communicate(b"", timeout=60)
