"""A TCP proxy that can be told to drop, hold back, slow down or cut off what goes through it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

_PIECE = 1 << 14


class Proxy:
    """Listens on a free port of loopback, and leads to `port` there."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.accepted = 0
        self.delay = 0.0  # seconds that each piece is held back
        self._silent = False
        self._refusing = False
        self.passed = 0  # bytes
        self._left: int | None = None  # bytes until everything is cut, or falls silent
        self._falls_silent = False
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._thread(self._accept)

    def cut(self) -> None:
        """Every connection ends now."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _end(*pair)

    def cut_after(self, count: int) -> None:
        """Every connection ends once so many more bytes have come through, to either side."""
        self._left, self._falls_silent = count, False

    def silence_after(self, count: int) -> None:
        """Nothing more comes through after so many bytes."""
        self._left, self._falls_silent = count, True

    @property
    def tripped(self) -> bool:
        """Whether that has happened."""
        return self._left == 0

    def silence(self, on: bool = True) -> None:
        """Nothing comes through any more, and nobody is told: a broken way."""
        self._silent = on

    def refuse(self, on: bool = True) -> None:
        """New connections are ended at once."""
        self._refusing = on

    def heal(self) -> None:
        """All is well again, for new connections."""
        self._silent = self._refusing = False
        self.delay, self._left = 0.0, None

    @property
    def open(self) -> int:
        """How many connections there are."""
        with self._lock:
            return len(self._pairs)

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _thread(self, target: object, *args: object) -> None:
        threading.Thread(target=target, args=args, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            if self._refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(self._target, timeout=10)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            for side in (near, far):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.append((near, far))
            self._thread(self._pump, near, far)
            self._thread(self._pump, far, near)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(_PIECE):
                if self.delay:
                    time.sleep(self.delay)
                if self._silent:
                    self._swallow(source)
                    break
                if not self._send(sink, piece):
                    break
        with self._lock:
            self._pairs = [pair for pair in self._pairs if source not in pair]
        _end(source, sink)

    def _swallow(self, source: socket.socket) -> None:
        """What comes is taken and lost, up to the end of the connection."""
        while source.recv(_PIECE):
            pass

    def _send(self, sink: socket.socket, piece: bytes) -> bool:
        """Pass it on; False where the limit is reached in the middle of it."""
        with self._lock:
            self.passed += len(piece)
            left = self._left
            if left is not None:
                self._left = max(0, left - len(piece))
        if left is None or left > len(piece):
            sink.sendall(piece)
            return True
        sink.sendall(piece[:left])
        if self._falls_silent:
            self._silent = True
            return True
        self.cut()
        return False


def _end(*sides: socket.socket) -> None:
    for side in sides:
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
        side.close()
