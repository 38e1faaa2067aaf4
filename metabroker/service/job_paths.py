"""Whether a job's folder and output can work at all, as far as this host can see.

A job whose folder or output cannot be written fails on its node, and its native system hardly says
why. So what is certain to fail is refused at submission: in clusters whose files are this host's, a
folder that is missing where the folder above it is there, or that the account which jobs run under
may not write. What this host cannot see (a file system of the nodes alone, another user's closed
home) is let through.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from metabroker.fair_pool import FairPool
from metabroker.submission.model import Submission

_PATIENCE = 1.0  # seconds for a file system that may hang; then the job is let through
_AT_A_TIME = 4
_OF_ONE_USER = _AT_A_TIME - 1  # who has a folder that hangs leaves a look for others


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that the job could be put on. `here`: its files are this host's; `meets`: its jobs
    meet the broker in their own folders; `account`: whose the jobs are; None: the daemon's."""

    cluster: str
    here: bool
    meets: bool
    account: str | None = None


_Alike = tuple[bool, str | None]  # whether jobs meet the broker in their own folders, as whom
_Found = Mapping[_Alike, str | None]


class Paths:
    """Looks, and never waits for long: a file system that hangs holds up threads of its own."""

    def __init__(self) -> None:
        self._pool = FairPool(_AT_A_TIME, "paths")
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()  # by user

    def close(self) -> None:
        """Look no more; what hangs is not waited for."""
        self._pool.shutdown(wait=False)

    def wrong(self, user: str, submission: Submission, places: Iterable[Candidate]) -> str | None:
        """Why this user's job could run nowhere: with named clusters because of one, else because
        of all; None: it may."""
        wanted = list(places)
        # Where clusters do the same with this host's files the same is found.
        alike = {(each.meets, each.account): each for each in wanted if each.here}
        if not alike:
            return None
        found = self._in_time(user, partial(_all_wrong, submission, alike))
        named = submission.processors.on is not None or submission.processors.cluster is not None
        told = [found.get((each.meets, each.account)) if each.here else None for each in wanted]
        reasons = [why for why in told if why is not None]
        return reasons[0] if reasons and (named or len(reasons) == len(told)) else None

    def _in_time(self, user: str, look: Callable[[], _Found]) -> _Found:
        """Nothing, where that takes too long."""
        if not self._begins(user):
            return {}
        told: Future[_Found] = Future()

        def work() -> None:
            try:
                told.set_result(look())
            finally:
                self._has_ended(user)

        try:
            self._pool.submit(user, work)
        except RuntimeError:  # the daemon ends
            return {}
        try:
            return told.result(_PATIENCE)
        except TimeoutError:
            return {}

    def _begins(self, user: str) -> bool:
        with self._lock:
            if self._under_way.total() >= _AT_A_TIME or self._under_way[user] >= _OF_ONE_USER:
                return False
            self._under_way[user] += 1
            return True

    def _has_ended(self, user: str) -> None:
        with self._lock:
            self._under_way[user] -= 1
            if not self._under_way[user]:
                del self._under_way[user]


def _all_wrong(submission: Submission, alike: Mapping[_Alike, Candidate]) -> _Found:
    return {kind: _wrong(submission, place) for kind, place in alike.items()}


def _wrong(submission: Submission, place: Candidate) -> str | None:
    """In a cluster whose files are this host's."""
    folder = PurePosixPath(submission.chdir)
    if place.meets and (why := _unusable(folder, place, sure=True)) is not None:
        return why
    closed = place.account is None and os.path.isdir(folder)
    if closed and not os.access(folder, os.X_OK, effective_ids=True):
        return f"its jobs run as this daemon's account, which may not enter {folder}"
    outputs = {folder} if submission.output is None else set()
    for pattern in (submission.output, submission.error):
        if pattern is not None and "%" not in str(parent := (folder / pattern).parent):
            outputs.add(parent)
    told = (_unusable(path, place, sure=False) for path in sorted(outputs) if path != _DEVICES)
    return next((why for why in told if why is not None), None)


_DEVICES = PurePosixPath("/dev")


def _unusable(folder: PurePosixPath, place: Candidate, *, sure: bool) -> str | None:
    """`sure`: the daemon itself must make something there."""
    missing = _missing(folder)
    if missing is not None:
        # Below a folder of this host; a whole file system may be the nodes' alone.
        known = len(missing.parents) > 1
        return f"there is no folder {missing}" if known or sure else None
    if place.account is None and not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
        return f"its jobs run as this daemon's account, which may not write in {folder}"
    return None


def _missing(folder: PurePosixPath) -> PurePosixPath | None:
    """The first part of it that is not there, or is no folder; None: all are, or nobody knows."""
    for part in (*reversed(folder.parents), folder):
        try:
            if not os.path.isdir(part) and not _hidden(part):
                return part
        except ValueError:
            return None
    return None


def _hidden(part: PurePosixPath) -> bool:
    """Whether it may be there, for others to see."""
    try:
        os.stat(part)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return False
