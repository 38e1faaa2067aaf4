"""One seeded stream of random numbers per purpose and replication."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CHUNK = 4096
"""Jobs drawn at a time; it does not change what is drawn."""


class Purpose(Enum):
    """What a stream is for; the numbers are part of what a seed means."""

    ARRIVALS = 0
    SIZES = 1
    QUEUES = 2
    SERVICE = 3
    POLICY = 4
    INPUTS = 6


_OF_CLUSTERS = 5  # no purpose's


def stream(seed: int, replication: int, purpose: Purpose) -> np.random.Generator:
    """The stream of a purpose, independent of all others. Raises ValueError for a seed below 0."""
    if seed < 0 or replication < 0:
        raise ValueError(f"seed {seed} and replication {replication} must not be negative")
    sequence = np.random.SeedSequence(seed, spawn_key=(replication, purpose.value))
    return np.random.Generator(np.random.PCG64(sequence))


def seed_of_cluster(seed: int, cluster: int) -> int:
    """The seed of the local users of a cluster: their jobs differ from all others' jobs, and are
    the same whatever the broker does."""
    sequence = np.random.SeedSequence(seed, spawn_key=(0, _OF_CLUSTERS, cluster))
    return int(sequence.generate_state(1, np.uint64)[0])


def arrivals(mean_gap: float, gaps: np.random.Generator, count: int) -> Iterator[Floats]:
    """The moments of `count` Poisson arrivals, at most `CHUNK` of them at a time."""
    now = 0.0
    for first in range(0, count, CHUNK):
        uniforms = gaps.random(min(CHUNK, count - first))
        moments = now + np.cumsum(-mean_gap * np.log1p(-uniforms))
        now = float(moments[-1])
        yield moments
