"""`os`, as the daemon's modules see it in a world: system calls on a file system in memory.

Which file system that is depends on what the thread is doing (`on`). Before each call that changes
something another thread may go first, the process may be stopped, and it may be killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self

from .filesystem import FileSystem, Inode, _error
from .processes import check, running, sleep

_USED: ContextVar[FileSystem] = ContextVar("file system")
_FIRST = 1000  # no number of a real file
_WRITING = os.O_WRONLY | os.O_RDWR


@contextlib.contextmanager
def on(files: FileSystem) -> Iterator[None]:
    """What this thread does with files happens there."""
    token = _USED.set(files)
    try:
        yield
    finally:
        _USED.reset(token)


@dataclass(slots=True)
class _Opened:
    files: FileSystem
    inode: Inode
    offset: int = 0


class Stat(NamedTuple):
    """See `os.stat_result`."""

    st_mode: int
    st_uid: int
    st_gid: int
    st_size: int
    st_mtime: float
    st_ino: int


def _stat(inode: Inode) -> Stat:
    size = len(inode.target or inode.content)
    return Stat(inode.mode, inode.uid, 0, size, inode.modified, inode.number)


class _Entry:
    """See `os.DirEntry`."""

    __slots__ = ("_inode", "name")

    def __init__(self, name: str, inode: Inode) -> None:
        self.name = name
        self._inode = inode

    def stat(self, *, follow_symlinks: bool = True) -> Stat:
        assert not follow_symlinks
        return _stat(self._inode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        assert not follow_symlinks
        return self._inode.is_folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        assert not follow_symlinks
        return stat.S_ISREG(self._inode.mode)


class _File:
    """See `io.FileIO`."""

    __slots__ = ("_handle", "_system")

    def __init__(self, system: System, handle: int) -> None:
        self._system = system
        self._handle = handle

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._system.close(self._handle)

    def fileno(self) -> int:
        return self._handle

    def flush(self) -> None:
        """All is written at once."""

    def seek(self, offset: int) -> None:
        self._system.handles[self._handle].offset = offset

    def read(self, length: int = -1) -> bytes:
        opened = self._system.handles[self._handle]
        opened.files.check("")
        end = None if length < 0 else opened.offset + length
        found = opened.inode.content[opened.offset : end]
        opened.offset += len(found)
        return found

    def write(self, content: bytes) -> int:
        opened = self._system.handles[self._handle]
        _others()
        opened.files.put(opened.inode, opened.offset, bytes(content))
        opened.offset += len(content)
        return len(content)


def _others() -> None:
    """Another thread may go first now."""
    check()
    thread = running()
    if thread is not None and thread.process.preempted():
        sleep(0.0)


class System:
    """The names of `os` that the daemon uses for files."""

    DirEntry = _Entry
    stat_result = Stat
    strerror = staticmethod(os.strerror)
    fsencode = staticmethod(os.fsencode)
    O_PATH, O_DIRECTORY, O_CLOEXEC = os.O_PATH, os.O_DIRECTORY, os.O_CLOEXEC
    O_NOFOLLOW, O_NONBLOCK, O_NOCTTY = os.O_NOFOLLOW, os.O_NONBLOCK, os.O_NOCTTY
    O_RDONLY, O_WRONLY, O_RDWR = os.O_RDONLY, os.O_WRONLY, os.O_RDWR
    O_CREAT, O_EXCL, O_TRUNC = os.O_CREAT, os.O_EXCL, os.O_TRUNC

    def __init__(self) -> None:
        self.handles: dict[int, _Opened] = {}
        self._next = _FIRST

    # --- handles --------------------------------------------------------------------------------

    def open(self, path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """See `os.open`."""
        files, folder = self._from(dir_fd)
        follow = not flags & os.O_NOFOLLOW
        if flags & os.O_CREAT:
            inode = self._create(files, folder, path, flags, mode)
        else:
            inode = files.at(folder, path, follow=follow)
        if inode.is_folder:
            if flags & _WRITING:
                raise _error(errno.EISDIR, path)
        elif flags & os.O_DIRECTORY:
            raise _error(errno.ENOTDIR, path)
        elif inode.is_link:
            raise _error(errno.ELOOP, path)
        if flags & os.O_TRUNC:
            files.put(inode, 0, b"", truncate=True)
        self._next += 1
        self.handles[self._next] = _Opened(files, inode)
        return self._next

    def _create(self, files: FileSystem, folder: Inode, path: str, flags: int, mode: int) -> Inode:
        _others()
        parent, name = files.parent(folder, path)
        found = parent.entries.get(name)
        if found is None:
            return files.make_file(parent, name, mode)
        if flags & os.O_EXCL:
            raise _error(errno.EEXIST, path)
        return files.at(parent, name, follow=not flags & os.O_NOFOLLOW)

    def close(self, handle: int) -> None:
        """See `os.close`."""
        del self.handles[handle]

    def fdopen(self, handle: int, _mode: str = "r", _buffering: int = -1, **_given: Any) -> _File:
        """See `os.fdopen`."""
        return _File(self, handle)

    def fstat(self, handle: int) -> Stat:
        """See `os.fstat`."""
        return _stat(self.handles[handle].inode)

    def fchmod(self, handle: int, mode: int) -> None:
        """See `os.fchmod`."""
        self._mode(self.handles[handle].inode, mode)

    def fsync(self, handle: int) -> None:
        """See `os.fsync`."""
        _others()
        opened = self.handles[handle]
        opened.files.check("")
        opened.files.sync(opened.inode)

    fdatasync = fsync

    def utime(self, handle: int, times: tuple[float, float]) -> None:
        """See `os.utime`."""
        self.handles[handle].inode.modified = times[1]

    def scandir(self, handle: int) -> contextlib.AbstractContextManager[Iterator[_Entry]]:
        """See `os.scandir`."""
        opened = self.handles[handle]
        opened.files.check("")
        entries = [_Entry(name, inode) for name, inode in opened.inode.entries.items()]
        return contextlib.nullcontext(iter(entries))

    # --- paths ----------------------------------------------------------------------------------

    def mkdir(self, path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """See `os.mkdir`."""
        files, folder = self._from(dir_fd)
        _others()
        parent, name = files.parent(folder, path)
        files.make_folder(parent, name, mode)

    def rename(
        self, old: str, new: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
    ) -> None:
        """See `os.rename`."""
        files, source = self._from(src_dir_fd)
        _, target = self._from(dst_dir_fd)
        _others()
        source, name = files.parent(source, old)
        target, named = files.parent(target, new)
        files.rename(source, name, target, named)

    replace = rename

    def unlink(self, path: str, *, dir_fd: int | None = None) -> None:
        """See `os.unlink`."""
        self._remove(path, dir_fd, is_folder=False)

    def rmdir(self, path: str, *, dir_fd: int | None = None) -> None:
        """See `os.rmdir`."""
        self._remove(path, dir_fd, is_folder=True)

    def _remove(self, path: str, dir_fd: int | None, *, is_folder: bool) -> None:
        files, folder = self._from(dir_fd)
        _others()
        parent, name = files.parent(folder, path)
        files.remove(parent, name, is_folder=is_folder)

    def stat(self, path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> Stat:
        """See `os.stat`."""
        files, folder = self._from(dir_fd)
        return _stat(files.at(folder, path, follow=follow_symlinks))

    def lstat(self, path: str) -> Stat:
        """See `os.lstat`."""
        return self.stat(path, follow_symlinks=False)

    def readlink(self, path: str) -> str:
        """See `os.readlink`."""
        files, folder = self._from(None)
        return files.at(folder, path, follow=False).target

    def chmod(self, path: str, mode: int) -> None:
        """See `os.chmod`."""
        own = "/proc/self/fd/"
        if path.startswith(own):
            self._mode(self.handles[int(path.removeprefix(own))].inode, mode)
        else:
            files, folder = self._from(None)
            self._mode(files.at(folder, path), mode)

    @staticmethod
    def geteuid() -> int:
        """See `os.geteuid`."""
        return 0

    @staticmethod
    def listxattr(_path: str) -> list[str]:
        """See `os.listxattr`."""
        return []

    @staticmethod
    def _mode(inode: Inode, mode: int) -> None:
        inode.mode = stat.S_IFMT(inode.mode) | mode

    def _from(self, dir_fd: int | None) -> tuple[FileSystem, Inode]:
        if dir_fd is None:
            files = _USED.get()
            return files, files.root
        opened = self.handles[dir_fd]
        return opened.files, opened.inode
