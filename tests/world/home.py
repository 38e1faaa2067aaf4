"""The folder in which the world's users submit: their files, and the results they get."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports.base import Listed

from .virtual.filesystem import FileSystem
from .virtual.system import on

if TYPE_CHECKING:
    from .host import Host

FOLDER = "/submit"
RESULT = "out/result"


class HomeFiles(FileSystem):
    """The disk that all brokers' hosts share. `full`: whether that has no space now."""

    def __init__(self, clock: Callable[[], float], full: Callable[[], bool]) -> None:
        super().__init__(clock)
        self.make_folders(FOLDER)
        self.full = full
        self.holds({})

    def holds(self, files: dict[str, bytes]) -> None:
        """These files are there for good, each in its folder."""
        for name, content in files.items():
            path = f"{FOLDER}/{name}"
            self.make_folders(path.rpartition("/")[0])
            self.write(path, content)
        for _, inode in (("/", self.root), *self.walk()):
            self.sync(inode)


class WorldHome:
    """The daemon's own `LocalSubmitDirectory`, of one broker."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.files = host.world.home
        self._inner = LocalSubmitDirectory()

    def look(self, folder: str, name: str) -> Listed | None:
        """See `SubmitDirectory.look`."""
        with on(self.files):
            return self._inner.look(folder, name)

    def get(self, folder: str, was: Listed, offset: int, length: int) -> bytes:
        """See `SubmitDirectory.get`."""
        with on(self.files):
            return self._inner.get(folder, was, offset, length)

    def clear(self, folder: str, name: str) -> None:
        """See `SubmitDirectory.clear`."""
        self._change(lambda: self._inner.clear(folder, name))

    def put(self, folder: str, new: str, offset: int, content: bytes) -> None:
        """See `SubmitDirectory.put`."""
        self._change(lambda: self._inner.put(folder, new, offset, content))

    def finish(self, folder: str, new: str, made: Listed) -> None:
        """See `SubmitDirectory.finish`."""
        self._change(lambda: self._inner.finish(folder, new, made))

    def sync(self, folder: str, name: str) -> None:
        """See `SubmitDirectory.sync`."""
        self._change(lambda: self._inner.sync(folder, name))

    def _change(self, change: Callable[[], None]) -> None:
        self._host.acts()
        with on(self.files):
            change()


def inputs(job: int) -> dict[str, bytes]:
    """What the job of a plan sends."""
    return {f"in{job}/a": b"first of %d" % job, f"in{job}/b/c": b"", f"in{job}.d": b"x" * (job + 1)}
