"""The arrays that the programs work on.

A job is known by its key, its index in the stream; what is known of it lies in `jobs[key & mask]`,
a ring that holds all jobs that wait or run, and those that have been read ahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Records = Any
"""A record array: numpy's types do not know the fields."""

NOBODY = -1
"""In the place of a key: no job."""
NOWHERE, OVER = -1, -2
"""In the place of a queue: the job is in none, the job has ended."""

JOB = np.dtype(
    [
        ("submit", "f8"), ("run", "f8"), ("estimate", "f8"), ("start", "f8"),
        ("slot", "f8"), ("until", "f8"),
        ("total", "i8"), ("parts", "i8"), ("local", "i8"), ("first", "i8"),
        ("queue", "i8"), ("next", "i8"), ("previous", "i8"), ("new", "i8"),
    ]
)  # fmt: skip
"""`parts`: the number of components. `first`: it is of the first kind (see `JobOutcome`).
`queue`: where it waits; else NOWHERE, and OVER when it has ended. `next`, `previous`: the
keys of its neighbours there. `new`: it is to be tried as one that has just arrived."""

QUEUE = np.dtype(
    [
        ("head", "i8"), ("tail", "i8"), ("length", "i8"), ("scan", "i8"),
        ("needs", "i8"), ("gang", "i8"), ("tasks", "i8"),
    ]
)  # fmt: skip
"""Keys; `scan`: the first job that this pass has not tried. The last three: of a job mix."""

END = np.dtype([("time", "f8"), ("tie", "i8"), ("key", "i8")])
"""A running job's end; at one instant those with the lesser `tie` come first."""

DONE = np.dtype(
    [
        ("key", "i8"),
        ("submit", "f8"),
        ("start", "f8"),
        ("end", "f8"),
        ("total", "i8"),
        ("first", "i8"),
    ]
)  # fmt: skip
"""A job that has run."""

STATE = np.dtype(
    [
        (name, "i8")
        for name in (
            "clusters", "family", "version", "option", "reuse", "fpfs", "pyss", "foresees",
            "blocking", "mask", "given", "last", "oldest", "submitted", "waiting", "running",
            "serial", "since", "departed", "done", "draw", "draws", "released", "opened",
            "free", "settled", "fresh", "extra", "expecting", "early", "late",
            "most_done",
        )
    ]
    + [("shadow", "f8")]
)  # fmt: skip
"""What there is one of. `given`: the jobs that have been read; `last`: there are no more."""


class World(NamedTuple):
    """A system with its policy and its jobs."""

    state: Records
    """One STATE."""
    jobs: Records
    """JOBs."""
    sizes: Any
    """Of each job in the ring, the processors of its components in decreasing order."""
    where: Any
    """The clusters on which they are."""
    queues: Records
    """QUEUEs: the local ones, then the global one; of a job mix, one for each kind and size."""
    ends: Records
    """ENDs: a heap."""
    expected: Records
    """ENDs by estimate, in their order; under CONSERVATIVE the steps of the profile."""
    done: Records
    """DONE since the last return."""
    processors: Any
    """Of each cluster."""
    idle: Any
    """Those that nobody has."""
    left: Any
    """Room for a placement to count in."""
    lists: Any
    """Room for lists of queues or jobs, see below."""
    draws: Any
    """Random numbers, drawn ahead."""


# The rows of `lists`.
ENABLED, DISABLED, ORDER, RELEASED, SPARE = range(5)

# What a program returns.
MORE_JOBS, MORE_ROOM, MORE_DRAWS, ENDED, IMPOSSIBLE = range(5)

# The families of policies, and how their versions order the queues.
GS, LS, GP, LP, EQ, LQ = range(6)
FIXED, RANDOM, RELEASE_ORDER, DISABLE_ORDER, LOCAL_FIRST, GLOBAL_FIRST = range(6)
# The options, where they are not the default.
NEXT_DEPARTURE, DEPARTURES, AT_ARRIVALS = range(1, 4)
