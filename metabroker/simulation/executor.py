"""Many runs at once: on the processes of this machine, or on a Dask cluster.

A task is a picklable function and its argument; its result does not depend on where it is played,
so the results are the same bit for bit however they are spread.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import resource_tracker
from typing import Any, TextIO, TypeVar
from urllib.parse import urlsplit

from metabroker.errors import AdvisedError

A = TypeVar("A")
R = TypeVar("R")


class ExecutorError(AdvisedError):
    """The runs cannot be spread."""


class Executor(ABC):
    """Where tasks are done. A context manager; `progress` is told after each result."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Progress(None)

    def map(self, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        """The results in the order of the arguments. Raises what the function raises."""
        return list(self.stream(function, arguments))

    def stream(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[R]:
        """The same, one by one as they come."""
        self.progress.expect(len(arguments))
        for result in self._results(function, arguments):
            self.progress.done()
            yield result

    @abstractmethod
    def _results(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[R]: ...

    def close(self) -> None:
        """Release the workers."""
        self.progress.end()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()


class InProcess(Executor):
    """In this process, one after another."""

    def _results(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[R]:
        yield from map(function, arguments)


class Processes(Executor):
    """On `count` processes of this machine (None: one per processor that this one may use).

    Ctrl-C is for the caller alone: the processes are then ended with what they are doing. They end
    with the caller however that ends (SIGTERM, SIGKILL).
    """

    def __init__(self, count: int | None = None, progress: Progress | None = None) -> None:
        super().__init__(progress)
        self._pool = ProcessPoolExecutor(
            count or usable_processors(),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_ends_with_its_parent,
        )
        self._others = set(multiprocessing.active_children())

    def _results(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[R]:
        with _deaf():
            futures = [self._pool.submit(function, argument) for argument in arguments]
        for future in futures:
            yield future.result()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            for process in set(multiprocessing.active_children()) - self._others:
                process.terminate()
        self.close()

    def close(self) -> None:
        """Tasks that have not begun are not done any more."""
        super().close()
        self._pool.shutdown(cancel_futures=True)


def _ends_with_its_parent() -> None:
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)  # nobody waits for what it does

    threading.Thread(target=watch, name="parent", daemon=True).start()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C, from their first moment on; who starts
    them hears it a moment later."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Dask(Executor):
    """On the Dask cluster whose scheduler is at `address`; what a lost worker had is done again.

    Raises ExecutorError: dask.distributed is not installed, or nobody answers there.
    """

    def __init__(
        self, address: str, progress: Progress | None = None, *, seconds: float = 20.0
    ) -> None:
        super().__init__(progress)
        try:
            from distributed import Client
        except ImportError as error:
            raise ExecutorError(
                "dask.distributed is not installed", "install it: pip install 'metabroker[dask]'"
            ) from error
        try:
            # A client that finds nobody complains on stderr when it is thrown away.
            socket.create_connection(_host_and_port(address), timeout=seconds).close()
            self._client: Any = Client(address, timeout=seconds, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TimeoutError) as error:
            raise ExecutorError(
                f"no Dask scheduler answers at {address}",
                "start one with `dask scheduler`, and give its address as tcp://HOST:PORT",
            ) from error

    def _results(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[R]:
        # Impure: equal arguments of two calls are two tasks, as everywhere else.
        futures = self._client.map(function, arguments, pure=False, retries=3)
        for future in futures:
            yield future.result()

    def close(self) -> None:
        """Leave the cluster to others."""
        super().close()
        self._client.close()


def _host_and_port(address: str) -> tuple[str, int]:
    """Of tcp://HOST:PORT or tls://HOST:PORT. Raises ValueError for anything else."""
    found = urlsplit(address)
    if found.scheme not in ("tcp", "tls") or not found.hostname or not found.port:
        raise ValueError(f"{address!r} is not of the form tcp://HOST:PORT")
    return found.hostname, found.port


def usable_processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_LINES = 60.0
"""Seconds between two lines of progress where no terminal shows a bar."""


class Progress:
    """A bar with an estimate of what is left, on a terminal; elsewhere (a batch job's log) a line
    now and then, so that short work says nothing."""

    def __init__(self, stream: TextIO | None = None, label: str = "runs") -> None:
        self._stream = stream
        self._bar = stream is not None and stream.isatty()
        self._label = label
        self._all = self._done = 0
        self._began = self._told = time.monotonic()

    def expect(self, count: int) -> None:
        """So many more are to be done."""
        self._all += count
        self._draw()

    def done(self) -> None:
        """One of them is done."""
        self._done += 1
        self._draw()

    def end(self) -> None:
        """Make room for what comes next."""
        if self._stream is not None and self._bar and self._all:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _draw(self) -> None:
        if self._stream is None or not self._all:
            return
        now = time.monotonic()
        if not self._bar and now - self._told < _LINES:
            return
        self._told = now
        spent = now - self._began
        told = f"{self._done}/{self._all} {self._label}"
        if self._done:
            rate = self._done / spent if spent else 0.0
            left = spent * (self._all - self._done) / self._done
            told += f", {rate:.3g} a second, {left:.0f} s left"
        if self._bar:
            filled = 24 * self._done // self._all
            told = f"\r[{'#' * filled + '.' * (24 - filled)}] {told}\x1b[K"
        else:
            told = f"{told.rstrip()}\n"
        self._stream.write(told)
        self._stream.flush()


def executor_of(count: int, dask: str | None) -> Executor:
    """On the Dask cluster at `dask`, else on `count` processes, of which one is this. Progress is
    told on stderr: by a bar if that is a terminal, else by a line a minute.

    Raises ExecutorError.
    """
    progress = Progress(sys.stderr)
    if dask is not None:
        return Dask(dask, progress)
    return InProcess(progress) if count == 1 else Processes(count, progress)
