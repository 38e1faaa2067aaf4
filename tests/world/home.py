"""The folder in which the world's users submit: their files, and the results they get."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from metabroker.clusters.transports.base import Listed

FOLDER = "/submit"
RESULT = "out/result"


class MemoryHome:
    """`Home` in memory; `full` makes every write fail, as a disk without space does."""

    def __init__(self, full: Callable[[], bool]) -> None:
        self._full = full
        self.files: dict[str, bytes] = {}
        self._times: dict[str, int] = {}
        self._new: dict[str, bytes] = {}

    def look(self, folder: str, name: str) -> Listed | None:
        """A file, if it is there."""
        assert folder == FOLDER
        content = self.files.get(name)
        return None if content is None else Listed(name, len(content), self._times.get(name, 0))

    def get(self, folder: str, was: Listed, offset: int, length: int) -> bytes:
        """A part of a file."""
        assert folder == FOLDER
        return self.files[was.path][offset : offset + length]

    def put(self, folder: str, name: str, offset: int, content: bytes) -> None:
        """A part of a new file."""
        assert folder == FOLDER
        self._check()
        self._new[name] = (self._new[name][:offset] if offset else b"") + content

    def finish(self, folder: str, made: Listed) -> None:
        """The new file is whole."""
        assert folder == FOLDER
        self._check()
        self.files[made.path] = self._new.pop(made.path)
        self._times[made.path] = made.modified

    def _check(self) -> None:
        if self._full():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def inputs(job: int) -> dict[str, bytes]:
    """What the job of a plan sends."""
    return {f"in{job}/a": b"first of %d" % job, f"in{job}/b/c": b"", f"in{job}.d": b"x" * (job + 1)}
