"""Which tasks an array of jobs has: numbers, as sbatch's `--array` says them (`0-15:4`, `1,3,5-7`),
and how many of them may be under way at once (`%2`)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import gcd

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

MOST_TASKS = 100_000
MOST_RANGES = 4096
LARGEST_TASK = 4_000_000  # as in Slurm
_LONGEST = 16 * 1024  # characters
_PART = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?")
_ADVICE = "write for example --array 0-99, 1,3,5-7 or 0-15:4%2"


@dataclass(frozen=True)
class TaskSet:
    """Numbers of tasks: ranges that do not overlap, the lowest first."""

    ranges: tuple[range, ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> TaskSet:
        """These."""
        ordered = sorted(frozenset(numbers))
        if len(ordered) > 2:
            step = ordered[1] - ordered[0]
            whole = range(ordered[0], ordered[-1] + 1, step)
            if len(whole) == len(ordered) and list(whole) == ordered:
                return cls((whole,))
        found: list[range] = []
        for number in ordered:
            if found and found[-1].stop == number:
                found[-1] = range(found[-1].start, number + 1)
            else:
                found.append(range(number, number + 1))
        return cls(tuple(found))

    @classmethod
    def parse(cls, text: str) -> TaskSet:
        """What a user says.

        Raises:
            SubmissionError: these are no tasks, or too many.
        """
        found = cls.read(text) if 0 < len(text) <= _LONGEST else None
        if found is None or len(found.ranges) > MOST_RANGES:
            raise SubmissionError("the array has no tasks, or too many ranges of them", _ADVICE)
        return found

    @classmethod
    def read(cls, text: str) -> TaskSet:
        """As `str` writes them. Raises `SubmissionError`."""
        if not text:
            return cls()
        given: list[range] = []
        for part in text.split(","):
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise SubmissionError(f"{shown(text)} are no numbers of tasks", _ADVICE)
            first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
            if last < first or not step:
                raise SubmissionError(f"{shown(part)} has no tasks in it", _ADVICE)
            if last > LARGEST_TASK:
                what = f"a task has the number {last}"
                raise SubmissionError(what, f"use numbers up to {LARGEST_TASK}")
            given.append(range(first, last + 1, step))
        if sum(map(len, given)) > MOST_TASKS:
            raise SubmissionError("the array has too many tasks", f"ask for at most {MOST_TASKS}")
        given.sort(key=lambda each: each.start)
        if all(one[-1] < other[0] for one, other in zip(given, given[1:])):
            return cls(tuple(given))
        return cls.of(chain.from_iterable(given))

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return sum(map(len, self.ranges))

    @cached_property
    def _starts(self) -> list[int]:
        return [each.start for each in self.ranges]

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.ranges)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number in self.ranges[place]

    def first_from(self, number: int) -> int | None:
        """The lowest that is not below `number`."""
        place = max(0, bisect_right(self._starts, number) - 1)
        for each in self.ranges[place : place + 2]:
            least = max(0, -(-(number - each.start) // each.step))
            if least < len(each):
                return each[least]
        return None

    def from_(self, number: int) -> TaskSet:
        """Those that are not below `number`."""
        parts = (e[max(0, -(-(number - e.start) // e.step)) :] for e in self.ranges)
        return TaskSet(tuple(part for part in parts if part))

    def below(self, number: int) -> TaskSet:
        """Those that are."""
        parts = (e[: max(0, -(-(number - e.start) // e.step))] for e in self.ranges)
        return TaskSet(tuple(part for part in parts if part))

    def __sub__(self, other: TaskSet) -> TaskSet:
        """It costs the ranges, and not what is in them: it is asked for with each listing."""
        if not other:
            return self
        parts = chain.from_iterable(_without(each, other) for each in self.ranges)
        return TaskSet(tuple(part for part in parts if part))

    def __and__(self, other: TaskSet) -> TaskSet:
        few, many = sorted((self, other), key=len)
        return TaskSet.of(n for n in few if n in many)

    def __or__(self, other: TaskSet) -> TaskSet:
        return TaskSet.of(chain(self, other))

    def __str__(self) -> str:
        return ",".join(map(_text, self.ranges))


def _without(each: range, other: TaskSet) -> Iterator[range]:
    """What is left of a range, the lowest first; parts may be empty."""
    begin, step = 0, each.step
    for gone in other.ranges[max(0, bisect_right(other._starts, each[0]) - 1) :]:
        if gone[0] > each[-1]:
            break
        common = _common(each, gone)
        if not common:
            continue
        first, last = ((number - each.start) // step for number in (common[0], common[-1]))
        yield each[begin:first]
        every = common.step // step  # of its numbers one goes
        if every == 2:
            yield each[first + 1 : last : 2]
        elif every > 2:
            yield from (each[at + 1 : at + every] for at in range(first, last, every))
        begin = last + 1
    yield each[begin:]


def _common(one: range, other: range) -> range:
    """The numbers that are in both."""
    apart, both = other.start - one.start, gcd(one.step, other.step)
    if apart % both:
        return range(0)
    step = one.step // both * other.step
    turns = apart // both * pow(one.step // both, -1, other.step // both) % (other.step // both)
    meet = one.start + one.step * turns  # then again after each `step`
    least = max(one.start, other.start)
    first = meet + max(0, -(-(least - meet) // step)) * step
    return range(first, min(one[-1], other[-1]) + 1, step)


def _text(numbers: range) -> str:
    first, last = numbers[0], numbers[-1]
    if first == last:
        return str(first)
    return f"{first}-{last}" + (f":{numbers.step}" if numbers.step > 1 else "")


@dataclass(frozen=True)
class ArraySpec:
    """The tasks of an array; `most` of them are under way at once (0: any number)."""

    tasks: TaskSet
    most: int = 0

    def __str__(self) -> str:
        return f"{self.tasks}%{self.most}" if self.most else str(self.tasks)


def parse_array(text: str) -> ArraySpec:
    """What `--array` says; `%0` is any number at once, as in sbatch.

    Raises:
        SubmissionError: it cannot be understood, or has too many tasks.
    """
    tasks, percent, most = text.partition("%")
    if percent and not re.fullmatch(r"[0-9]{1,9}", most):
        raise SubmissionError(f"{shown(text)} does not say how many tasks at once", _ADVICE)
    return ArraySpec(TaskSet.parse(tasks), int(most or 0))
