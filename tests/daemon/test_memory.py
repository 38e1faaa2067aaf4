"""What requests take of memory goes back."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from metabroker.cli.main import main
from metabroker.daemon import memory

# Eight threads that take memory at the same time; then tells of the C library's heaps.
_THREADS = """
import ctypes, threading
from metabroker.daemon import memory
memory.begin()
together = threading.Barrier(8)
def take():
    kept = [bytes(2000) for _ in range(100)]
    together.wait()
    del kept
threads = [threading.Thread(target=take) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
libc = ctypes.CDLL(None)
out = ctypes.c_void_p.in_dll(libc, "stdout")
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="needs glibc")
def test_all_threads_share_one_heap() -> None:
    """Each kept its share of the largest answer: thirty megabytes once 200,000 jobs were listed."""
    told = subprocess.run(
        [sys.executable, "-c", _THREADS], check=True, capture_output=True, text=True, env={}
    )
    assert told.stdout.count("<heap nr=") == 1


@pytest.fixture
def thresholds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Of the youngest objects, whenever they are set."""
    found: list[int] = []
    monkeypatch.setattr(gc, "set_threshold", lambda young, *_: found.append(young))
    yield found


def test_garbage_of_requests_goes_sooner_than_what_a_start_makes(
    thresholds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["metabroker", "--version"])
    with pytest.raises(SystemExit):
        main()
    memory.started()
    assert thresholds[-1] * 10 <= thresholds[0]


# Takes 64 MB in small pieces; what is taken last stays, and lies behind them in the heap.
_LOADS = """
import os
from pathlib import Path
from metabroker.daemon import memory
memory.begin()
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
pieces = [bytes(2000) for _ in range(32_000)]
for number in range(0, 32_000, 2):
    pieces[number] = bytes([1]) * 2000
stays = bytes([1]) * 2000
full = resident()
del pieces
memory.loaded()
print(full - resident())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs glibc")
def test_what_a_start_needed_goes_back_though_something_behind_it_stays() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _LOADS], check=True, capture_output=True, text=True, env={}
    )
    assert int(told.stdout) > 50_000_000
