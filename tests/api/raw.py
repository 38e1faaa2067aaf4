"""Requests as a hostile or broken client makes them."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection
from pathlib import Path
from typing import Any


class RawConnection(HTTPConnection):
    """HTTP over the socket at `path`, with nothing checked."""

    def __init__(self, path: Path, timeout: float = 120.0) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def request(path: Path, method: str, url: str, body: bytes | None = None) -> tuple[int, Any]:
    """The status and the JSON of one reply."""
    connection = RawConnection(path)
    try:
        connection.request(method, url, body)
        response = connection.getresponse()
        assert response.headers.get_content_type() == "application/json"
        return response.status, json.loads(response.read())
    finally:
        connection.close()
