"""The daemon's memory and open files: sampled by pid and life, and whether they stay flat."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.federation import resident

Json = dict[str, Any]
YOUNG = 60.0  # seconds of a life that belong to its start
SETTLED = 600.0  # for so long a daemon remembers what it has cleaned away: it fills until then
STORE = "metabroker.db"  # what the names of the store's files begin with
FILLED = 300.0  # for so long a cluster remembers what has ended, and tells it to whoever looks
_RISE = 0.05  # of the median: what a flat line may rise from its first to its last sample
_FEW = 6  # samples that tell no slope


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading of one process."""

    life: int
    time: float  # since the soak began
    age: float  # of the process
    memory: float  # MB
    files: int  # open file descriptors


@dataclass
class Gauge:
    """Samples whichever process `living` names (life, pid, when it began), until it is stopped."""

    living: Callable[[], tuple[int, int, float] | None]
    every: float
    samples: list[Sample] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        began = time.monotonic()
        while not self._stopped.wait(self.every):
            if (living := self.living()) is None:
                continue
            life, pid, born = living
            now = time.monotonic()
            try:
                memory, files = resident(pid), len(_open_files(pid))
            except (OSError, IndexError):
                continue  # it has just died
            self.samples.append(Sample(life, now - began, now - born, memory, files))

    def stop(self) -> None:
        self._stopped.set()


def at_rest(pid: int) -> Json:
    """A process's memory in MB, and its open file descriptors: of the store, and all others.

    Raises:
        OSError: it is gone.
    """
    files = _open_files(pid)
    of_store = sum(STORE in Path(file).name for file in files)
    return {"memory": resident(pid), "of_store": of_store, "others": len(files) - of_store}


def _open_files(pid: int) -> list[str]:
    return [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]


def figures(samples: list[Sample]) -> Json:
    """The longest lives, each for itself; and all lives at the same age, over the whole soak."""
    lives = [list(group) for _, group in groupby(samples, lambda sample: sample.life)]
    old = [kept for life in lives if (kept := _settled(life))]
    longest = sorted(old, key=len, reverse=True)[:3]
    told = [_life(life) for life in sorted(longest, key=lambda life: life[0].time)]
    return {
        "samples": len(samples),
        "lives": len(lives),
        "longest": told,
        "same_age": _same_age(samples),
    }


def _settled(life: list[Sample]) -> list[Sample]:
    """The part of a life in which it should be flat; of a short one, what is not its start."""
    long = life[-1].age >= 1.4 * SETTLED
    return [sample for sample in life if sample.age >= (SETTLED if long else YOUNG)]


def _life(samples: list[Sample]) -> Json:
    ages = [sample.age for sample in samples]
    return {
        "life": samples[0].life,
        "from": samples[0].age,
        "to": samples[-1].age,
        "memory": _trend(ages, [sample.memory for sample in samples]),
        "files": _trend(ages, [float(sample.files) for sample in samples]),
    }


def _same_age(samples: list[Sample]) -> Json:
    """Of a soak that is long enough, only what comes after the clusters' memory has filled up."""
    filled = FILLED if samples and samples[-1].time >= 3 * FILLED else 0.0
    same = [s for s in samples if YOUNG / 3 <= s.age < YOUNG and s.time >= filled]
    times = [sample.time for sample in same]
    return {
        "from": YOUNG / 3,
        "to": YOUNG,
        "memory": _trend(times, [sample.memory for sample in same]),
        "files": _trend(times, [float(sample.files) for sample in same]),
    }


def _trend(times: list[float], values: list[float]) -> Json:
    """Medians of the first and last third, and the slope of Theil and Sen with its 95 % interval.

    Flat: over its whole length the line rises by at most a twentieth of the median, or its slope
    cannot be told from none.
    """
    third = max(1, len(values) // 3)
    if len(values) < _FEW or max(times) <= min(times):
        return {"first": None, "last": None, "rise": None, "flat": None}
    from scipy.stats import theilslopes  # takes a second to import

    slope, _, low, high = theilslopes(values, times)
    length, median = max(times) - min(times), statistics.median(values)
    rise = slope * length
    return {
        "first": statistics.median(values[:third]),
        "last": statistics.median(values[-third:]),
        "largest": max(values),
        "rise": float(rise),
        "interval": [float(low * length), float(high * length)],
        "flat": bool(rise <= _RISE * median or low <= 0.0),
    }
