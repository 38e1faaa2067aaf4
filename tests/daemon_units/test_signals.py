"""A wish to end that comes in the moment of a restart."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest

from metabroker.config.errors import ConfigRefusal
from metabroker.daemon import main
from metabroker.daemon.leader import Leader
from metabroker.daemon.signals import Signals

# The first thread counts, and comes to no handler meanwhile.
BUSY = """
import hashlib, os, select, signal, sys, threading, time
from metabroker.daemon.signals import Signals

def send():
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    assert select.select([signals._pipe], [], [], 30)[0], "the system has not delivered it"

def beside():
    began = time.process_time()
    while time.process_time() < began + 0.1:  # until the first thread is at it
        time.sleep(0.01)
    if "before" in sys.argv:
        send()
    print(signals.stop, signals.told_to_end(), signals.reload, flush=True)
    if "after" in sys.argv:
        signals.hand_on()
        send()
        # Another thread may see that it shall end, and ask too.
        print(signals.told_to_end(), flush=True)
        os.execv(sys.executable, [sys.executable, "-c", NEXT])
    os._exit(0)

NEXT = '''
import os
from metabroker.daemon.signals import Signals
signals = Signals(reloads=True)
print(signals.stop, not signals._news.empty(), "METABROKER_SIGNALS" in os.environ)
'''
signals = Signals(reloads=True)
threading.Thread(target=beside).start()
hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1 << 30)
"""


def lines(*words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BUSY, *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_it_is_heard_though_no_handler_has_run(name: str) -> None:
    assert lines(name, "before") == ["False True False"]


def test_it_is_handed_on_to_the_next_start() -> None:
    assert lines("SIGTERM", "after") == ["False False False", "False", "True True False"]


def test_another_signal_is_no_wish_to_end() -> None:
    assert lines("SIGHUP", "before", "after")[0] == "False False False"
    assert lines("SIGHUP", "after")[-1] == "False False False"


@pytest.fixture
def piped() -> Iterator[tuple[Signals, int]]:
    """With where the numbers of signals are written to."""
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    wakeup = signal.set_wakeup_fd(-1)
    try:
        signals = Signals(reloads=False)
        yield signals, signal.set_wakeup_fd(-1)
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)


def test_two_threads_that_ask_at_once_both_hear_of_it(
    piped: tuple[Signals, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them has read it, and has not told yet."""
    signals, into = piped
    os.write(into, bytes([signal.SIGTERM]))
    reads, read, go = threading.Event(), os.read, threading.Event()

    def slow(pipe: int, most: int) -> bytes:
        try:
            return read(pipe, most)
        finally:
            if not reads.is_set():
                reads.set()
                go.wait(30)

    monkeypatch.setattr(os, "read", slow)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(signals.told_to_end)
        assert reads.wait(30)
        second = threads.submit(signals.hand_on)
        with contextlib.suppress(TimeoutError):
            second.result(0.2)
        go.set()
        assert first.result(30) and not second.result(30)


def test_after_very_many_signals_there_is_room_for_the_one_of_a_restart(
    piped: tuple[Signals, int],
) -> None:
    signals, into = piped
    with contextlib.suppress(BlockingIOError):
        while os.write(into, bytes([signal.SIGHUP]) * 4096):
            pass
    signals.wait(0.0)
    assert os.write(into, bytes([signal.SIGTERM])) == 1
    assert not signals.hand_on()


FLOODED = """
import os, signal
from metabroker.daemon.signals import Signals

signals = Signals(reloads=True)
waiting = os.getpid()
if os.fork() == 0:
    for _ in range(100_000):
        os.kill(waiting, signal.SIGHUP)
    os.kill(waiting, signal.SIGTERM)
    os._exit(0)
while not signals.stop:
    signals.wait(1.0)
print("ends")
"""


def test_one_that_comes_while_it_is_waited_for_does_not_make_the_daemon_hang() -> None:
    """In whichever moment of that wait: a handler runs in the middle of it."""
    with subprocess.Popen([sys.executable, "-c", FLOODED], stdout=subprocess.PIPE) as flooded:
        try:
            assert flooded.communicate(timeout=60)[0] == b"ends\n"
        finally:
            flooded.kill()


@pytest.mark.parametrize("named", ["", "x", "-1", "99999", "0"])
def test_a_wrong_name_of_the_pipe_harms_nothing(named: str) -> None:
    code = (
        "from metabroker.daemon.signals import Signals\nprint(Signals(reloads=False).told_to_end())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"METABROKER_SIGNALS": named},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "False\n", done.stderr


def test_a_reload_that_cannot_be_applied_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    daemon = mock.Mock(summary="", alive=True, replaced=False)
    daemon.reconfigure.side_effect = ConfigRefusal("the file of users is no mapping", "write one")
    signals = mock.Mock(stop=False, reload=True)
    signals.wait.side_effect = lambda _seconds: setattr(signals, "stop", not signals.reload)
    main._keep_serving(daemon, mock.Mock(), signals, mock.Mock())
    daemon.reconfigure.assert_called_once()
    assert "is not applied: the file of users" in caplog.text


def test_limits_that_a_busy_core_does_not_take_at_once_are_left_in_its_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = []

    def busy(question: object) -> None:
        asked.append(question)
        raise TimeoutError

    leader = mock.Mock(loop=mock.Mock(ask=busy))
    Leader.reconfigure(leader, mock.Mock(), mock.Mock())
    assert len(asked) == 1 and "once the core has time" in caplog.text
