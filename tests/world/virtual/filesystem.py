"""A file system in memory: folders, files and links, with times of its owner's clock.

What was written is in memory until it is synced: `lose_power` leaves of each file and folder what
was synced of it last, as a host does that loses its power.
"""

from __future__ import annotations

import errno
import functools
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_numbers = itertools.count(1)
_LINKS = 40
_TYPE = 0o170000  # of a mode, as `stat.S_IFMT` takes it
_FOLDER, _LINK = stat.S_IFDIR, stat.S_IFLNK


@dataclass(slots=True, eq=False)
class Inode:
    """A file, a folder or a link (`target`)."""

    mode: int
    modified: float
    uid: int = 0
    content: bytes = b""
    entries: dict[str, Inode] = field(default_factory=dict)
    target: str = ""
    number: int = field(default_factory=lambda: next(_numbers))
    synced: bytes | None = None
    synced_entries: dict[str, Inode] = field(default_factory=dict)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.mode & _TYPE == _FOLDER

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.mode & _TYPE == _LINK


@functools.lru_cache(maxsize=4096)
def _parts(path: str) -> tuple[str, ...]:
    """The names that a path leads by, the last one first."""
    return tuple(part for part in path.split("/")[::-1] if part not in ("", "."))


class FileSystem:
    """One host's files, or a cluster's. `full`: whether nothing can be written now."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.full: Callable[[], bool] = lambda: False
        self.root = self._folder(0o755)

    # --- by paths, as processes of the cluster's own see them -----------------------------------

    def find(self, path: str) -> Inode | None:
        """What is at a path; None: nothing."""
        try:
            return self.at(self.root, path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: str) -> bytes | None:
        """A file's content; None: there is none."""
        found = self.find(path)
        return None if found is None or found.is_folder else found.content

    def names(self, path: str) -> list[str] | None:
        """What is in a folder; None: there is none."""
        found = self.find(path)
        return None if found is None or not found.is_folder else list(found.entries)

    def write(self, path: str, content: bytes, mode: int = 0o600) -> None:
        """Write a file whole, in its place."""
        folder, name = self.parent(self.root, path)
        file = folder.entries.get(name) or self.make_file(folder, name, mode)
        self.put(file, 0, content, truncate=True)

    def make_folders(self, path: str) -> None:
        """Make a folder, and those above it."""
        here = self.root
        for part in path.strip("/").split("/"):
            below = here.entries.get(part)
            here = self.make_folder(here, part, 0o700) if below is None else below

    def walk(self, path: str = "/") -> Iterator[tuple[str, Inode]]:
        """All that is below a path, and the paths."""
        here = self.find(path)
        for name, inode in [] if here is None else list(here.entries.items()):
            below = f"{path.rstrip('/')}/{name}"
            yield below, inode
            if inode.is_folder:
                yield from self.walk(below)

    # --- by folders, as system calls see them ---------------------------------------------------

    def at(self, folder: Inode, path: str, *, follow: bool = True) -> Inode:
        """What a path leads to. `follow`: also if its last part is a link."""
        self.check(path)
        here = self.root if path[:1] == "/" else folder
        left = list(_parts(path))  # the last first
        links = 0
        while left:
            if here.mode & _TYPE != _FOLDER:
                raise _error(errno.ENOTDIR, path)
            found = here.entries.get(left.pop())
            if found is None:
                raise _error(errno.ENOENT, path)
            if found.mode & _TYPE == _LINK and (left or follow):
                links += 1
                if links > _LINKS:
                    raise _error(errno.ELOOP, path)
                here = self.root if found.target[:1] == "/" else here
                left += _parts(found.target)
            else:
                here = found
        return here

    def parent(self, folder: Inode, path: str) -> tuple[Inode, str]:
        """The folder that the last part of a path is in, and that part."""
        above, _, name = path.rstrip("/").rpartition("/")
        here = self.at(folder, above or ("/" if path.startswith("/") else "."))
        if not here.is_folder:
            raise _error(errno.ENOTDIR, path)
        return here, name

    def make_file(self, folder: Inode, name: str, mode: int) -> Inode:
        """A new, empty file."""
        return self._enter(folder, name, Inode(stat.S_IFREG | mode, self.clock()))

    def make_folder(self, folder: Inode, name: str, mode: int) -> Inode:
        """A new, empty folder."""
        if name in folder.entries:
            raise _error(errno.EEXIST, name)
        return self._enter(folder, name, self._folder(mode))

    def put(self, file: Inode, offset: int, content: bytes, *, truncate: bool = False) -> None:
        """Write into a file."""
        self.check("")
        if content and self.full():
            raise _error(errno.ENOSPC, "")
        before = file.content[:offset].ljust(offset, b"\0")
        after = b"" if truncate else file.content[offset + len(content) :]
        file.content = before + content + after
        file.modified = self.clock()

    def rename(self, source: Inode, name: str, target: Inode, new: str) -> None:
        """One step."""
        self.check(name)
        moved, there = source.entries.get(name), target.entries.get(new)
        if moved is None:
            raise _error(errno.ENOENT, name)
        if there is moved:
            return
        if there is not None and there.is_folder:
            if not moved.is_folder:
                raise _error(errno.EISDIR, new)
            if there.entries:
                raise _error(errno.ENOTEMPTY, new)
        elif there is not None and moved.is_folder:
            raise _error(errno.ENOTDIR, new)
        del source.entries[name]
        target.entries[new] = moved
        source.modified = target.modified = self.clock()

    def remove(self, folder: Inode, name: str, *, is_folder: bool) -> None:
        """A file or link, or an empty folder."""
        self.check(name)
        found = folder.entries.get(name)
        if found is None:
            raise _error(errno.ENOENT, name)
        if found.is_folder is not is_folder:
            raise _error(errno.ENOTDIR if is_folder else errno.EISDIR, name)
        if found.entries:
            raise _error(errno.ENOTEMPTY, name)
        del folder.entries[name]
        folder.modified = self.clock()

    def check(self, path: str) -> None:
        """Raise what is wrong with all of it now."""

    # --- what lasts -----------------------------------------------------------------------------

    @staticmethod
    def sync(inode: Inode) -> None:
        """This file's content lasts, or this folder's names."""
        inode.synced, inode.synced_entries = inode.content, dict(inode.entries)

    def lose_power(self) -> None:
        """What was never synced is gone."""
        left = [self.root]
        while left:
            inode = left.pop()
            inode.content, inode.entries = inode.synced or b"", dict(inode.synced_entries)
            left += inode.entries.values()

    def _folder(self, mode: int) -> Inode:
        return Inode(stat.S_IFDIR | mode, self.clock())

    def _enter(self, folder: Inode, name: str, inode: Inode) -> Inode:
        self.check(name)
        if self.full():
            raise _error(errno.ENOSPC, name)
        folder.entries[name] = inode
        folder.modified = self.clock()
        return inode


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
