"""A cluster's shared folder as the world and the processes of jobs see it."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Sequence

from metabroker.clusters.gate.positions import Position

from .oracle import Violation
from .virtual.filesystem import FileSystem, Inode

HOME = "/home/u"
_SHUT = Position.ABORT.value


class ClusterFiles(FileSystem):
    """`hung`: whether its file server is away; `fate`: what becomes of each step of a transfer."""

    def __init__(self, clock: Callable[[], float], hung: Callable[[], bool]) -> None:
        super().__init__(clock)
        self._hung = hung
        self._mended = False
        self.fate: Callable[[], str] = lambda: ""
        self.homes: list[str] = []
        self.give_home(HOME)

    def give_home(self, path: str) -> None:
        """Somebody's home is there."""
        if path not in self.homes:
            self.homes.append(path)
            self.make_folders(path)

    @property
    def folders(self) -> Sequence[str]:
        """The folders below homes."""
        return [p for home in self.homes for p, inode in self.walk(home) if inode.is_folder]

    @contextlib.contextmanager
    def mended(self) -> Iterator[None]:
        """Whoever looks now sees what is there, though others cannot."""
        before, self._mended = self._mended, True
        try:
            yield
        finally:
            self._mended = before

    def check(self, path: str) -> None:
        """See `FileSystem.check`."""
        if not self._mended and self._hung():
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def rename(self, source: Inode, name: str, target: Inode, new: str) -> None:
        """See `FileSystem.rename`.

        Raises:
            Violation: a gate that was shut is open again.
        """
        super().rename(source, name, target, new)
        if name == _SHUT and new != _SHUT:
            raise Violation(f"a gate that was shut is at {new}")

    def has(self, folder: str, name: str) -> bool:
        """Whether that is in a folder, whoever can see it now."""
        with self.mended():
            return name in (self.names(folder) or ())
