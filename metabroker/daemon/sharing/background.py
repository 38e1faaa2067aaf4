"""What goes on in a thread of its own."""

from __future__ import annotations

import threading


class Background:
    """Runs `_run` in a thread, from `start` on; `_run` returns once `_stopping` is set."""

    def __init__(self, name: str) -> None:
        """`name`: the thread's."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Go on from now on."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> None:
        """Go on no more; waits for the thread, for so long at most, unless it is this one."""
        self._stopping.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _run(self) -> None:
        raise NotImplementedError
