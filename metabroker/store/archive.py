"""The archive: files of what was removed from the store, written before it is removed.

For each month there are two files, `2026-11.jsonl` (all that was removed, a JSON object a line) and
`2026-11.swf` (the jobs as a log). Where several brokers share the store, the names of both end with
the term of the broker that writes them, so that no two ever write to one file.

What is written counts once the store says so: in the transaction that removes the rows it notes
how long the files are (`Archived`). After a crash between the two the files are longer than that,
and the store has all the jobs of what is beyond: the files are cut back, and these jobs are
archived again. Where the store lacks one of them (it came back from a backup, say), nothing is cut:
the next files are begun. Files of former months, and of leaders whose terms are over, are nobody's
next ones: each run looks at these first (`settle`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from metabroker.traces.appending import SwfLines

from .ended import Archived, EndedJob, What
from .records import line_of, record_of

LINES, SWF = ".jsonl", ".swf"
_AT_ONCE = 500  # jobs that the store is asked of
_CHUNK = 1 << 20  # bytes
_NAME = re.compile(r"\d{4}-\d\d(?:-t(\d{1,18}))?(?:\.\d{1,9})?")


class ArchiveError(Exception):
    """It cannot be written: why. Nothing may be removed."""


Committed = Callable[[str], Archived | None]
"""The files of a name as far as they count; None: the store knows of none."""
Submitted = Callable[[Sequence[int]], Mapping[int, float]]
"""When jobs were submitted, of those that the store has."""


@dataclass(frozen=True, slots=True)
class Archive:
    """The files in one folder. `suffix`: of the names of those that this broker writes."""

    folder: Path
    committed: Committed
    submitted: Submitted
    clusters: Callable[[], Mapping[str, int]] = dict
    suffix: str = ""
    _logs: dict[tuple[str, int], SwfLines] = field(default_factory=dict)  # by name and size

    def append(self, what: What, jobs: Sequence[EndedJob], now: float) -> Archived:
        """Write these down, durably when this returns; what the store is to note of the files.

        Raises:
            ArchiveError: nothing of it counts.
        """
        found = None
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700)
                _sync(self.folder.parent)
            found = self._files(now)
            return self._append(found, what, jobs, now)
        except OSError as error:
            if found is not None:
                with contextlib.suppress(OSError):  # else the next time
                    self._shorten(found)
            raise ArchiveError(f"{error.filename or self.folder}: {error.strerror}") from error

    def settle(self, known: Iterable[Archived], latest: int | None) -> None:
        """Cut back whatever in this folder was written and not removed, of terms up to the `latest`
        (None: files that no term has named), as far as the store has it all. `known`: all files,
        as the store says. Nobody may write to any of these files meanwhile.

        Raises:
            ArchiveError: a file cannot be read, or cut.
        """
        told = {each.name: each for each in known}
        try:
            for path in sorted(self.folder.glob(f"*{LINES}")):
                name = path.name.removesuffix(LINES)
                match = _NAME.fullmatch(name)
                if match is None or (match[1] is not None and int(match[1]) > (latest or 0)):
                    continue
                found = told.get(name) or Archived(name, str(self.folder), 0.0, 0.0)
                if found.folder == str(self.folder) and self._cut_back(found):
                    self._leave_none_empty(found)
        except OSError as error:
            raise ArchiveError(f"{error.filename or self.folder}: {error.strerror}") from error

    def _leave_none_empty(self, found: Archived) -> None:
        for path, size in self._sizes(found):
            if size == 0 and path.exists():
                path.unlink()

    def _append(
        self, found: Archived, what: What, jobs: Sequence[EndedJob], now: float
    ) -> Archived:
        lines = b"".join(line_of(what, job, now) for job in jobs)
        lines_size = _written(self._path(found, LINES), found.lines_size, lines)
        if what is not What.JOB:
            return replace(found, latest=now, lines_size=lines_size)
        swf_path = self._path(found, SWF)
        swf = self._logs.pop((found.name, found.swf_size), None)
        if swf is None:  # nothing was written yet, or not by this process, or not for good
            swf = SwfLines(_comments(swf_path, found.swf_size), self.clusters())
        records = (record_of(j.row, j.components) for j in jobs if j.row["array"] is None)
        swf_text = "".join(swf.lines(records))
        swf_size = _written(swf_path, found.swf_size, swf_text.encode())
        self._logs.clear()
        self._logs[found.name, swf_size] = swf
        numbers = [job.number for job in jobs]
        known = [number for number in (found.first_job, found.last_job) if number is not None]
        return replace(
            found,
            latest=now,
            jobs=found.jobs + len(jobs),
            first_job=min(*numbers, *known) if known else min(numbers),
            last_job=max(*numbers, *known) if known else max(numbers),
            lines_size=lines_size,
            swf_size=swf_size,
        )

    def _files(self, now: float) -> Archived:
        """Those to write to, as long as the store says."""
        month = time.strftime("%Y-%m", time.gmtime(now))
        number = 1
        while True:
            name = f"{month}{self.suffix}{f'.{number}' if number > 1 else ''}"
            found = self.committed(name) or Archived(name, str(self.folder), now, now)
            if found.folder == str(self.folder) and self._cut_back(found):
                return found
            number += 1

    def _cut_back(self, found: Archived) -> bool:
        """Let the files be as long as the store says, if nothing is lost by that."""
        lengths = [_length(path) for path, _size in self._sizes(found)]
        counted = [size for _path, size in self._sizes(found)]
        if any(length < size for length, size in zip(lengths, counted, strict=True)):
            return False  # somebody took them away, or shortened them
        if lengths != counted:
            if not self._all_in_store(self._path(found, LINES), found.lines_size):
                return False
            self._shorten(found)
        return True

    def _shorten(self, found: Archived) -> None:
        for path, size in self._sizes(found):
            if _length(path) > size:
                _truncate(path, size)

    def _sizes(self, found: Archived) -> list[tuple[Path, int]]:
        """Both files, and how long they are as far as they count."""
        sizes = ((LINES, found.lines_size), (SWF, found.swf_size))
        return [(self._path(found, ending), size) for ending, size in sizes]

    def _all_in_store(self, path: Path, start: int) -> bool:
        """Whether the store has all jobs of what is beyond this place of a file."""
        told: dict[int, float] = {}
        for line in _lines_from(path, start):
            try:
                entry = json.loads(line)
                told[int(entry["job"])] = float(entry["submit_time"])
            except (ValueError, KeyError, TypeError):
                return False  # somebody else's
            if len(told) >= _AT_ONCE:
                if self.submitted(list(told)) != told:
                    return False
                told.clear()
        return not told or dict(self.submitted(list(told))) == told

    def _path(self, found: Archived, ending: str) -> Path:
        return self.folder / f"{found.name}{ending}"


def _written(path: Path, size: int, data: bytes) -> int:
    """Append to a file of that size, durably; its size then. Raises OSError."""
    new = not path.exists()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(path, flags, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(handle)
    if new:
        _sync(path.parent)
    return size + len(data)


def _truncate(path: Path, size: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.ftruncate(handle, size)
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _lines_from(path: Path, start: int) -> Iterator[bytes]:
    """The whole lines beyond this place: one that was cut off by a crash is none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(start)
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _comments(path: Path, size: int) -> Iterator[str]:
    """The comments of a log, as far as it counts."""
    if size == 0:
        return
    with path.open("rb") as file:
        while file.tell() < size and (line := file.readline(_CHUNK)):
            if line.startswith(b";"):
                yield line.decode()
