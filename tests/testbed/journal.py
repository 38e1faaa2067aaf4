"""A stand-in for systemd's journal: its socket, and its native protocol."""

from __future__ import annotations

import os
import queue
import socket
import struct
import threading
from pathlib import Path


class Ear:
    """Hears datagrams at a path, all the time: who writes to somebody that does not read waits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self.path.chmod(0o666)
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            data, descriptors, _, _ = socket.recv_fds(self._socket, 1 << 20, 1)
            for descriptor in descriptors:  # what is too large comes as a sealed file
                os.lseek(descriptor, 0, os.SEEK_SET)
                with open(descriptor, "rb") as file:
                    data += file.read()
            if not data:
                return
            self.heed(data)

    def heed(self, data: bytes) -> None:
        """One message."""
        raise NotImplementedError

    def close(self) -> None:
        """Hear no more."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", str(self.path))
        self._thread.join()
        self._socket.close()
        self.path.unlink()


class Journal(Ear):
    """Its records, in order."""

    def __init__(self, path: Path) -> None:
        self._records: queue.Queue[dict[str, str]] = queue.Queue()
        super().__init__(path)

    def heed(self, data: bytes) -> None:
        self._records.put(_fields(data))

    def next(self) -> dict[str, str]:
        """The next record's fields."""
        return self._records.get(timeout=30)

    def until(self, words: str) -> dict[str, str]:
        """The next record whose message has these words; what comes before it is dropped."""
        while words not in (record := self.next())["MESSAGE"]:
            pass
        return record


def _fields(data: bytes) -> dict[str, str]:
    """NAME=value, or NAME, the value's length as 64 bits, and the value."""
    found = {}
    while data:
        line, _, data = data.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            (length,) = struct.unpack("<Q", data[:8])
            value, data = data[8 : 8 + length], data[8 + length + 1 :]
        found[name.decode()] = value.decode()
    return found
