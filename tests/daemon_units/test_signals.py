"""A wish to end that comes in the moment of a restart."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    print(signals.stop.is_set(), signals.told_to_end(), signals.reload.is_set(), flush=True)
    if "after" in sys.argv:
        signals.hand_on()
        send()
        print(signals.stop.is_set(), flush=True)
        os.execv(sys.executable, [sys.executable, "-c", NEXT])
    os._exit(0)

NEXT = '''
import os
from metabroker.daemon.signals import Signals
signals = Signals(reloads=True)
print(signals.stop.is_set(), signals.news.is_set(), "METABROKER_SIGNALS" in os.environ)
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
