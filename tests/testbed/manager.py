"""A stand-in for the part of systemd that a service tells how it is (sd_notify(3))."""

from __future__ import annotations

import socket
import threading
from pathlib import Path


class Manager:
    """A service manager's ear."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "notify"
        self.heard: list[dict[str, str]] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self.path))
        self.path.chmod(0o666)
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while message := self._socket.recv(4096).decode():
            self.heard.append(dict(line.split("=", 1) for line in message.splitlines()))

    def count(self, word: str) -> int:
        return sum(word in message for message in self.heard)

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", str(self.path))
        self._thread.join()
        self._socket.close()
        self.path.unlink()
