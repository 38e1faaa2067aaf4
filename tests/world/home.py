"""The folder in which the world's users submit: their files, and the results they get."""

from __future__ import annotations

from collections.abc import Callable

from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports.base import Listed

from .virtual.filesystem import FileSystem
from .virtual.system import on

FOLDER = "/submit"
RESULT = "out/result"


class WorldHome:
    """The daemon's own `LocalSubmitDirectory`, on a disk in memory. `full`: whether that has no
    space now."""

    def __init__(self, clock: Callable[[], float], full: Callable[[], bool]) -> None:
        self.files = FileSystem(clock)
        self.files.make_folders(FOLDER)
        self.files.full = full
        self._inner = LocalSubmitDirectory()

    def holds(self, files: dict[str, bytes]) -> None:
        """These files are there, each in its folder."""
        for name, content in files.items():
            path = f"{FOLDER}/{name}"
            if "/" in name:
                self.files.make_folders(path.rpartition("/")[0])
            self.files.write(path, content)

    def look(self, folder: str, name: str) -> Listed | None:
        """See `SubmitDirectory.look`."""
        with on(self.files):
            return self._inner.look(folder, name)

    def get(self, folder: str, was: Listed, offset: int, length: int) -> bytes:
        """See `SubmitDirectory.get`."""
        with on(self.files):
            return self._inner.get(folder, was, offset, length)

    def put(self, folder: str, name: str, offset: int, content: bytes) -> None:
        """See `SubmitDirectory.put`."""
        with on(self.files):
            self._inner.put(folder, name, offset, content)

    def finish(self, folder: str, made: Listed) -> None:
        """See `SubmitDirectory.finish`."""
        with on(self.files):
            self._inner.finish(folder, made)


def inputs(job: int) -> dict[str, bytes]:
    """What the job of a plan sends."""
    return {f"in{job}/a": b"first of %d" % job, f"in{job}/b/c": b"", f"in{job}.d": b"x" * (job + 1)}
