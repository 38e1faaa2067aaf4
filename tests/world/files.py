"""A cluster's shared folder as the world and the processes of jobs see it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from metabroker.clusters.transports.base import FolderEntry

from .virtual.filesystem import FileSystem

HOME = "/home/u"


class ClusterFiles(FileSystem):
    """`fate`: what becomes of each step of a transfer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.fate: Callable[[], str] = lambda: ""
        self.make_folders(HOME)

    @property
    def folders(self) -> Sequence[str]:
        """The folders below home."""
        return [path for path, inode in self.walk(HOME) if inode.is_folder]

    @contextlib.contextmanager
    def mended(self) -> Iterator[None]:
        """Whoever looks now sees what is there, though others cannot."""
        broken, self.broken = self.broken, False
        try:
            yield
        finally:
            self.broken = broken

    def has(self, folder: str, name: str) -> bool:
        """Whether that is in a folder, whoever can see it now."""
        with self.mended():
            return name in (self.names(folder) or ())


class AsFiles:
    def __init__(self, inner: ClusterFiles) -> None:
        self._i = inner
        self.write = inner.write

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder."""
        folder = self._i.find(path)
        if folder is None:
            return None
        return [FolderEntry(name, inode.modified) for name, inode in folder.entries.items()]

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False: there is nothing to rename."""
        try:
            source, name = self._i.parent(self._i.root, old)
            target, named = self._i.parent(self._i.root, new)
            self._i.rename(source, name, target, named)
        except FileNotFoundError:
            return False
        return True
