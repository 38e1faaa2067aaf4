"""A stand-in for the part of systemd that a service tells how it is (sd_notify(3))."""

from __future__ import annotations

from pathlib import Path

from tests.testbed.journal import Ear


class Manager(Ear):
    """A service manager's ear."""

    def __init__(self, folder: Path) -> None:
        self.heard: list[dict[str, str]] = []
        super().__init__(folder / "notify")

    def heed(self, data: bytes) -> None:
        self.heard.append(dict(line.split("=", 1) for line in data.decode().splitlines()))

    def count(self, word: str) -> int:
        return sum(word in message for message in self.heard)
