"""`threading` and `time`, as the daemon's modules see them in a world."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType, TracebackType
from typing import Any

from metabroker import fair_pool
from metabroker.clusters import submit_directory
from metabroker.clusters.transports import local_files
from metabroker.daemon.sharing import background, lease
from metabroker.runtime import carrier, clock, executor, loop, watcher

from .processes import Process, Running, check, current, running, sleep
from .system import System

_THREADS: tuple[ModuleType, ...] = (
    background, carrier, clock, executor, fair_pool, lease, loop, watcher,
)  # fmt: skip
Names = Mapping[str, Any]
_FILES: tuple[ModuleType, ...] = (local_files, submit_directory)


@contextlib.contextmanager
def installed(rest: Callable[[float], float]) -> Iterator[None]:
    """The daemon's modules run in virtual time. `rest`: how long a pause of so many seconds
    takes."""
    threads: Names = {"threading": _Threading, "time": _Time(rest)}
    with contextlib.ExitStack() as stack:
        for module in _THREADS:
            _give(stack, module, threads)
        for module in _FILES:
            _give(stack, module, {"os": System(), "_umask": lambda: 0o022})
        yield


def _give(stack: contextlib.ExitStack, module: ModuleType, names: Names) -> None:
    for name, stands_for in names.items():
        if name in vars(module):
            stack.callback(setattr, module, name, vars(module)[name])
            setattr(module, name, stands_for)


def _now() -> float:
    return current().process.moments.now


def _until(timeout: float | None) -> float | None:
    return None if timeout is None else _now() + max(0.0, timeout)


class Lock:
    """See `threading.Lock`."""

    def __init__(self) -> None:
        self._holder: Running | None = None
        self._waiting: list[Running] = []

    def __enter__(self) -> bool:
        thread = running()
        if thread is None:
            assert self._holder is None, "a lock that a waiting thread holds"
            return True
        if thread.process.dead:
            return True
        if thread.process.preempted():
            sleep(0.0)
        while self._holder is not None:
            self._waiting.append(thread)
            thread.park(None)
        self._holder = thread
        return True

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._holder = None
        if self._waiting:
            self._waiting.pop(0).wake()


class Condition(Lock):
    """See `threading.Condition`."""

    def __init__(self) -> None:
        super().__init__()
        self._asleep: list[Running] = []

    def wait(self, timeout: float | None = None) -> bool:
        """See `threading.Condition.wait`."""
        thread, until = current(), _until(timeout)
        self._asleep.append(thread)
        self.__exit__(None, None, None)
        woken = thread.park(until)
        if not woken and thread in self._asleep:
            self._asleep.remove(thread)
        self.__enter__()
        return woken

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        """See `threading.Condition.wait_for`."""
        until = _until(timeout)
        while not (result := predicate()):
            left = None if until is None else until - _now()
            if left is not None and left <= 0:
                break
            self.wait(left)
        return result

    def notify(self, n: int = 1) -> None:
        """See `threading.Condition.notify`."""
        woken, self._asleep = self._asleep[:n], self._asleep[n:]
        for thread in woken:
            thread.wake()

    def notify_all(self) -> None:
        """See `threading.Condition.notify_all`."""
        self.notify(len(self._asleep))


class Event:
    """See `threading.Event`."""

    def __init__(self) -> None:
        self._flag = False
        self._asleep: list[Running] = []

    def is_set(self) -> bool:
        """See `threading.Event.is_set`."""
        return self._flag

    def set(self) -> None:
        """See `threading.Event.set`."""
        self._flag = True
        woken, self._asleep = self._asleep, []
        for thread in woken:
            thread.wake()

    def clear(self) -> None:
        """See `threading.Event.clear`."""
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        """See `threading.Event.wait`."""
        if not self._flag:
            thread = current()
            self._asleep.append(thread)
            if not thread.park(_until(timeout)) and thread in self._asleep:
                self._asleep.remove(thread)
        return self._flag


class Thread:
    """See `threading.Thread`: of the process that starts it."""

    def __init__(
        self,
        target: Callable[..., object],
        args: Sequence[Any] = (),
        name: str = "",
        daemon: bool = False,
    ) -> None:
        self._target = target
        self._args = args
        self.name = name
        self.daemon = daemon
        self._running: Running | None = None

    def start(self) -> None:
        """See `threading.Thread.start`."""
        check()
        self._running = current().process.start(self._work)
        self._running.owner = self

    def _work(self) -> None:
        self._target(*self._args)

    def is_alive(self) -> bool:
        """See `threading.Thread.is_alive`."""
        return self._running is not None and not self._running.ended

    def join(self, timeout: float | None = None) -> None:
        """See `threading.Thread.join`."""
        assert self._running is not None
        self._running.join(_until(timeout))


class Timer(Thread):
    """See `threading.Timer`."""

    def __init__(
        self, interval: float, function: Callable[..., object], args: Sequence[Any] = ()
    ) -> None:
        super().__init__(function, args)
        self._interval = interval

    def _work(self) -> None:
        sleep(self._interval)
        super()._work()


class _Threading:
    """The names of `threading` that the daemon uses."""

    Condition = Condition
    Event = Event
    Lock = Lock
    Thread = Thread
    Timer = Timer

    @staticmethod
    def current_thread() -> Any:
        """See `threading.current_thread`."""
        return current().owner


class _Time:
    """The names of `time` that the daemon uses, by the clocks of the process that asks."""

    CLOCK_BOOTTIME = 7

    def __init__(self, rest: Callable[[float], float]) -> None:
        self._rest = rest

    def sleep(self, seconds: float) -> None:
        """See `time.sleep`."""
        sleep(self._rest(seconds))

    def monotonic(self) -> float:
        """See `time.monotonic`."""
        return _process().monotonic

    def time(self) -> float:
        """See `time.time`."""
        return _process().wall

    def clock_gettime(self, clock: int) -> float:
        """See `time.clock_gettime`."""
        assert clock == self.CLOCK_BOOTTIME
        return _process().monotonic


def _process() -> Process:
    return current().process
