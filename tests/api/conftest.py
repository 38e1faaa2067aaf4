"""A served fake, and what tests of sockets need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from metabroker.api.client import Client
from tests.api.fake import FakeService, serving


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def socket_path(service: FakeService, folder: Path) -> Iterator[Path]:
    """The socket of a server of `service`."""
    path = folder / "run" / "mb.sock"
    with serving(service, path):
        yield path


@pytest.fixture
def client(socket_path: Path) -> Client:
    return Client(socket_path, timeout=50.0, patience=50.0)


@pytest.fixture
def other_uid() -> int:
    """The id of another user, that a child process may take."""
    if os.geteuid() != 0:
        pytest.skip("taking another user's id needs root")
    return 12345
