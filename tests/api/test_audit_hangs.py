"""An audit log whose disk hangs keeps changes waiting, and nobody else."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from metabroker.access.audit import AuditLog
from metabroker.api.bodies import Bodies
from metabroker.api.client import Client
from metabroker.api.middleware import Middleware
from metabroker.api.server import ApiServer

from .fake import FakeService


class Hanging:
    """What is told of a change's outcome does not get to the disk until it may `go_on`."""

    def __init__(self) -> None:
        self.told_of = threading.Event()
        self.go_on = threading.Event()
        self.outcomes: list[str] = []

    def asked(self, *_about: Any) -> str:
        return "1"

    def told(self, _id: str, _who: Any, _what: str, _about: Any, outcome: str, _why: str) -> None:
        self.told_of.set()
        assert self.go_on.wait(60)
        self.outcomes.append(outcome)


def test_who_leaves_while_the_audit_log_hangs_keeps_nobody_waiting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit, path, is_read, read = Hanging(), folder / "mb.sock", threading.Event(), Bodies._read

    async def told(self: Bodies, *request: Any) -> bytes:
        is_read.set()
        return await read(self, *request)

    monkeypatch.setattr(Bodies, "_read", told)
    server = ApiServer(FakeService(), path, middleware=Middleware(audit=cast(AuditLog, audit)))
    server.start()
    try:
        with socket.socket(socket.AF_UNIX) as leaves:
            leaves.connect(str(path))
            leaves.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            assert is_read.wait(60)
        assert audit.told_of.wait(60)
        assert Client(path, timeout=20.0, patience=1.0).get("status")
    finally:
        audit.go_on.set()
        server.stop()
    assert audit.outcomes == ["unknown"], "and it is written down"
