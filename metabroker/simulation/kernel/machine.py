"""Feeds a program with blocks of jobs and random numbers, and takes what has finished.

Memory: a ring of the jobs from the oldest that has not ended to the last that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Any

import numpy as np

from metabroker.policy import Request
from metabroker.simulation.errors import impossible
from metabroker.simulation.stream import CHUNK
from metabroker.simulation.workloads.blocks import Block, NotCovered, Wholes

from .layout import (
    DONE,
    END,
    ENDED,
    IMPOSSIBLE,
    JOB,
    MORE_DRAWS,
    MORE_JOBS,
    MORE_ROOM,
    NOBODY,
    NOWHERE,
    ORDER,
    OVER,
    QUEUE,
    SPARE,
    STATE,
    Records,
    World,
)

FLUSH = 40 * CHUNK
"""Finished jobs are given on about so many at a time, always a multiple of the readable engine's
chunk: the sums over them are then added up in the same order."""
DRAWS = 4096

Program = Callable[[World], int]
Sink = Callable[[Records], None]
Draw = Callable[[int], Wholes]


def _records(kind: np.dtype[np.void], number: int) -> Records:
    return np.zeros(number, dtype=kind).view(np.recarray)


def _steps(jobs: int) -> int:
    """The room for a profile of so many jobs: each begins two steps at most, and one may be cut."""
    return 2 * jobs + 4


class Machine:
    """One run. `settings`: fields of STATE; `draw(n)`: the next n random numbers of the policy.

    A job mix (`mix`) has a queue for each kind and size of its jobs, CONSERVATIVE a `profile`.
    """

    def __init__(
        self,
        program: Program,
        processors: tuple[int, ...],
        settings: dict[str, int],
        draw: Draw | None = None,
        *,
        mix: bool = False,
        profile: bool = False,
    ) -> None:
        clusters, total = len(processors), sum(processors)
        self._program = program
        self._draw = draw
        self._mix = mix
        self._gangs = False
        self._profile = profile
        self._lines: dict[tuple[int, bool], int] = {}
        self._read = 0
        self._oldest = 0
        self._last = -inf
        state = _records(STATE, 1)
        room = max(2 * clusters + 2, total + 1 if settings.get("pyss") else 0)
        self.world = World(
            state,
            _records(JOB, 1),
            np.zeros((1, 1), dtype=np.int64),
            np.zeros((1, 1), dtype=np.int64),
            _records(QUEUE, 0 if mix else clusters + 1),
            _records(END, total + 1),
            _records(END, _steps(1) if profile else total + 1),
            _records(DONE, FLUSH + total + 1),
            np.array(processors, dtype=np.int64),
            np.array(processors, dtype=np.int64),
            np.zeros(clusters, dtype=np.int64),
            np.zeros((SPARE + 1, room), dtype=np.int64),
            np.zeros(DRAWS if draw else 1, dtype=np.int64),
        )
        self.world.queues.head = self.world.queues.tail = NOBODY
        self.world.lists[ORDER, :clusters] = range(clusters)
        for name, value in {
            "clusters": clusters,
            "free": total,
            "fresh": NOBODY,
            "most_done": FLUSH,
            "draws": 1,
            **settings,
        }.items():
            state[name][0] = value
        if draw is not None:
            self._more_draws()

    def play(self, blocks: Iterable[Block], sink: Sink, *, gangs: bool = False) -> int:
        """Play all jobs; returns their number. `gangs`: they are a job mix, of which the sequential
        ones are counted first (see `Measurements`). Raises as `simulate`."""
        self._gangs = gangs
        stream = iter(blocks)
        state = self.world.state
        while True:
            wanted = self._program(self.world)
            if wanted == MORE_JOBS:
                self._more_jobs(stream)
            elif wanted == MORE_DRAWS:
                self._more_draws()
            elif wanted == MORE_ROOM:
                self._flush(sink, CHUNK)
            elif wanted == IMPOSSIBLE:
                raise self._impossible(int(state.oldest[0]))
            else:
                assert wanted == ENDED
                self._flush(sink, 1)
                return self._read

    def _flush(self, sink: Sink, multiple: int) -> None:
        """Give on finished jobs, a multiple of so many."""
        state, done = self.world.state, self.world.done
        number = int(state.done[0])
        given = number - number % multiple
        if given:
            sink(done[:given])
        done[: number - given] = done[given:number].copy()
        state.done[0] = number - given

    def _more_draws(self) -> None:
        assert self._draw is not None
        self.world.draws[:] = self._draw(DRAWS)
        self.world.state.draw[0] = 0
        self.world.state.draws[0] = DRAWS

    def _more_jobs(self, stream: Iterator[Block]) -> None:
        block = next(stream, None)
        if block is None:
            self.world.state.last[0] = True
            return
        self._check(block)
        self._make_room(len(block.submit), block.sizes.shape[1])
        world = self.world
        number, mask = len(block.submit), int(world.state.mask[0])
        begin = self._read & mask
        slots: Any = slice(begin, begin + number)
        if begin + number > mask + 1:  # around the end of the ring
            slots = np.arange(self._read, self._read + number) & mask
        jobs = world.jobs
        components = block.sizes.T  # numpy sums few columns sooner than many short rows
        total, parts = sum(components), sum(components > 0)
        sequential: Any = block.tasks if block.tasks is not None else np.zeros(number)
        first = sequential > 0 if self._gangs else parts == 1
        columns = {
            "submit": block.submit,
            "run": block.run,
            "estimate": block.estimate,
            "total": total,
            "parts": parts,
            "local": self._lines_of(block) if self._mix else block.local,
            "first": first,
            "queue": NOWHERE,
        }
        for name, values in columns.items():
            jobs[name][slots] = values
        world.sizes[slots, : block.sizes.shape[1]] = block.sizes
        self._read += number
        world.state.given[0] = self._read

    def _check(self, block: Block) -> None:
        """As `stream.in_order`: raises ValueError. Raises NotCovered for a local queue that does
        not exist, which matters to some policies alone."""
        if not (block.local.min() >= 0 and block.local.max() < len(self.world.processors)):
            raise NotCovered("jobs of local queues that do not exist")
        before = np.concatenate(([self._last], block.submit[:-1]))
        good = (before <= block.submit) & (block.submit < inf) & (block.run >= 0)
        good &= block.run < inf
        if not good.all():
            at = int(np.argmin(good))
            raise ValueError(
                f"job {self._read + at}: submitted at {float(block.submit[at])}, after one of "
                f"{float(before[at])}, to run for {float(block.run[at])}"
            )
        self._last = float(block.submit[-1])

    def _make_room(self, number: int, width: int) -> None:
        """Room in the ring for so many more jobs of so many components."""
        world = self.world
        mask = int(world.state.mask[0])
        kept = np.arange(self._oldest, self._read)
        alive = np.flatnonzero(world.jobs.queue[kept & mask] != OVER)
        self._oldest = int(kept[alive[0]]) if len(alive) else self._read
        kept = kept[kept >= self._oldest]
        capacity, wide = mask + 1, world.sizes.shape[1]
        while capacity < len(kept) + number:
            capacity *= 2
        if capacity == mask + 1 and width <= wide:
            return
        jobs = _records(JOB, capacity)
        sizes = np.zeros((capacity, max(width, wide)), dtype=np.int64)
        where = sizes.copy()
        jobs[kept & (capacity - 1)] = world.jobs[kept & mask]
        sizes[kept & (capacity - 1), :wide] = world.sizes[kept & mask]
        where[kept & (capacity - 1), :wide] = world.where[kept & mask]
        world.state.mask[0] = capacity - 1
        self.world = world._replace(jobs=jobs, sizes=sizes, where=where)
        if self._profile:
            steps = _records(END, _steps(capacity))
            steps[: len(world.expected)] = world.expected
            self.world = self.world._replace(expected=steps)

    def _lines_of(self, block: Block) -> Wholes:
        """The queue of each job of a job mix; new kinds get one."""
        assert block.tasks is not None
        gang = block.tasks == 0
        tasks = np.where(gang, block.sizes.sum(axis=1), block.tasks)
        code, index = np.unique(2 * tasks + gang, return_inverse=True)
        lines = []
        for each in code.tolist():
            kind = (each >> 1, bool(each & 1))
            if kind not in self._lines:
                self._lines[kind] = len(self._lines)
                self._add_line(*kind)
            lines.append(self._lines[kind])
        found: Wholes = np.array(lines)[index]
        return found

    def _add_line(self, tasks: int, gang: bool) -> None:
        queues = _records(QUEUE, len(self._lines))
        queues[:-1] = self.world.queues
        queues[-1] = (NOBODY, NOBODY, 0, NOBODY, tasks if gang else 1, gang, tasks)
        self.world = self.world._replace(queues=queues)

    def _impossible(self, key: int) -> Exception:
        slot = key & int(self.world.state.mask[0])
        sizes = self.world.sizes[slot, : self.world.jobs[slot].parts]
        return impossible(key, Request(tuple(sizes.tolist())), self.world.processors)
