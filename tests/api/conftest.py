"""A served fake, and what tests of sockets need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from metabroker.api.client import Client
from metabroker.api.server import ApiServer
from tests.api.fake import FakeService


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def socket_path(service: FakeService, folder: Path) -> Iterator[Path]:
    """The socket of a server of `service`."""
    server = ApiServer(service, folder / "run" / "mb.sock")
    server.start()
    yield folder / "run" / "mb.sock"
    server.stop()


@pytest.fixture
def client(socket_path: Path) -> Client:
    return Client(socket_path, timeout=50.0, patience=50.0)


@pytest.fixture
def other_uid() -> int:
    """The id of another user, that a child process may take."""
    if os.geteuid() != 0:
        pytest.skip("taking another user's id needs root")
    return 12345
