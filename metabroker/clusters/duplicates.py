"""Jobs by their tokens and by their ids; of several with one token, which counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from metabroker.broker.observation import NativeJob, NativeState

T = TypeVar("T")
_LIVELIEST = {
    NativeState.RUNNING: 0,
    NativeState.PENDING: 1,
    NativeState.UNKNOWN: 2,
    NativeState.ENDED: 3,
}


class ById(Mapping[str, NativeJob]):
    """Jobs by their ids, each read when it is asked for: an account may have many."""

    def __init__(self, lines: Mapping[str, T], read: Callable[[T], NativeJob]) -> None:
        self._lines, self._read = lines, read

    def __getitem__(self, native_id: str) -> NativeJob:
        return self._read(self._lines[native_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def by_token(jobs: Iterable[tuple[str, NativeJob]]) -> dict[str, NativeJob]:
    """The jobs by their tokens; of several with one token (a twin) the liveliest."""
    found: dict[str, NativeJob] = {}
    for token, job in jobs:
        other = found.get(token)
        if other is None or _LIVELIEST[job.state] < _LIVELIEST[other.state]:
            found[token] = job
    return found


def liveliest_first(jobs: Iterable[NativeJob]) -> list[NativeJob]:
    """The jobs of one token, the liveliest first, then the latest."""
    return sorted(jobs, key=lambda job: (_LIVELIEST[job.state], -(job.submit_time or 0.0)))
