"""Files of this host, reached by handles of folders: what is looked at is what is used.

From a path's root on (see `trust`) each folder is opened in the one above it, and no link is
followed; the gate must be our own. Nothing but a regular file is ever read, so nothing is waited
for; and what a job can make large is read and listed up to a bound.
"""

from __future__ import annotations

import contextlib
import errno
import grp
import itertools
import os
import pwd
import secrets
import stat
import time
from collections.abc import Iterator, Sequence

from .base import (
    LOOKED_FOR,
    MOST_BYTES,
    MOST_DEPTH,
    MOST_ENTRIES,
    MOST_FILES,
    REMOVING,
    FolderEntry,
    Listed,
    TooMany,
)
from .trust import Seen, SplitPath, Unsafe, examine, owned, split

_MOST_TRIES = 10
_WAY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_BELOW = _WAY | os.O_NOFOLLOW
_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe is not waited for: what is no regular file is closed again, unread.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_GONE = (FileNotFoundError, NotADirectoryError)


class LocalFiles:
    """Files of this host. Errors other than "not there" are `OSError`."""

    def make_folder(self, path: str) -> bool:
        """Make a folder, and those between its root and it (mode 0700); fine if they are there."""
        way = split(path)
        examine(way.root, _look, _owners, _private)
        new = False
        for attempt in range(_MOST_TRIES):
            try:
                for count in range(len(way.parts)):
                    new = False
                    with _entered(way, count) as folder, contextlib.suppress(FileExistsError):
                        os.mkdir(way.parts[count], 0o700, dir_fd=folder)
                        new = True
                with _entered(way, len(way.parts)):
                    break
            except FileNotFoundError:
                # `remove_tree` of a sibling may have removed the parent in between.
                if attempt == _MOST_TRIES - 1:
                    raise
        return new

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one."""
        with _beside(path) as (folder, name):
            new = f".{name[:200]}.{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            handle = os.open(new, flags, 0o600, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    os.fchmod(handle, 0o700 if executable else 0o600)
                os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(new, dir_fd=folder)
                raise

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        try:
            with _beside(old) as (source, name), _beside(new) as (target, named):
                os.rename(name, named, src_dir_fd=source, dst_dir_fd=target)
        except _GONE:
            return False
        return True

    def read(self, path: str) -> bytes | None:
        """The content, up to `MOST_BYTES`; None if it is not there."""
        try:
            with _beside(path) as (folder, name):
                handle = _regular(name, _READING, folder)
        except _GONE:
            return None
        with os.fdopen(handle, "rb") as file:
            return file.read(MOST_BYTES)

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder; None if the folder is not there."""
        way = split(path)
        try:
            with _entered(way, len(way.parts)) as folder, _opened(folder) as handle:
                return _entries(handle)
        except _GONE:
            return None

    def bulk_read(self, _folders: Sequence[str], _names: Sequence[str]) -> LocalFiles:
        """The files themselves: they are near."""
        return self

    def is_there(self, _path: str) -> None:
        """See `Files.is_there`: a folder that is near is listed as fast."""

    def remove_tree(self, path: str) -> None:
        """See `Files.remove_tree`."""
        way = split(path)
        with contextlib.suppress(*_GONE), _entered(way, len(way.parts)) as folder:
            _empty(folder)
        with contextlib.suppress(*_GONE), _beside(path) as (parent, name):
            os.rmdir(name, dir_fd=parent)
        if way.gates == len(way.parts) == 2:
            with contextlib.suppress(OSError), _entered(way, 0) as root:
                os.rmdir(way.parts[0], dir_fd=root)

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder; no link is followed."""
        way = split(path)
        try:
            with _entered(way, len(way.parts)) as folder:
                return _tree(folder)
        except _GONE:
            return []

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on."""
        with _beside(path) as (folder, name):
            handle = _regular(name, _READING, folder)
        with os.fdopen(handle, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made."""
        begins = os.O_CREAT | os.O_EXCL if offset == 0 else 0
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | begins
        with _beside(path) as (folder, name):
            if offset == 0:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
            handle = _regular(name, flags, folder, 0o700 if executable else 0o600)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            file.seek(offset)
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]


@contextlib.contextmanager
def _entered(way: SplitPath, count: int) -> Iterator[int]:
    """A handle of the folder of the first so many parts, each a real folder in the one above; to
    the gate, our own."""
    owners = _owners()
    here = os.open(way.root, _WAY)
    try:
        for index, name in enumerate(way.parts[:count]):
            below = _folder_in(here, name)
            os.close(here)
            here = below
            if index < way.gates:
                owned(name, _seen(os.fstat(here)), owners)
            elif index == way.gates > 0 and os.fstat(here).st_uid not in owners:
                raise Unsafe(f"{name} belongs to somebody else")
        yield here
    finally:
        os.close(here)


@contextlib.contextmanager
def _beside(path: str) -> Iterator[tuple[int, str]]:
    """A handle of the folder that the path's last part is in, and that part."""
    way = split(path)
    with _entered(way, len(way.parts) - 1) as folder:
        yield folder, way.parts[-1]


@contextlib.contextmanager
def _opened(folder: int, name: str = ".", flags: int = _LISTING) -> Iterator[int]:
    """A handle of a folder in that one, or of itself, for its entries."""
    handle = os.open(name, flags, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


def _folder_in(folder: int, name: str) -> int:
    try:
        return os.open(name, _BELOW, dir_fd=folder)
    except NotADirectoryError:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise Unsafe("a link is in the place of its folder") from None
        raise


def _regular(name: str, flags: int, folder: int, mode: int = 0o600) -> int:
    """A handle of a regular file; of nothing else, since that could take for ever."""
    try:
        handle = os.open(name, flags, mode, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a pipe that nobody reads
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
        raise
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    directory = stat.S_ISDIR(os.fstat(handle).st_mode)
    os.close(handle)
    word = errno.EISDIR if directory else errno.ELOOP
    raise OSError(word, os.strerror(word))


def _entries(handle: int) -> Sequence[FolderEntry]:
    """What is in a folder. Names that are no text are nobody's who is looked for; of too many,
    only those that somebody looks for: in the order in which a gate's positions follow another, so
    that the one that is taken is not missed."""
    found: list[FolderEntry] = []
    with os.scandir(handle) as entries:
        for count, file in enumerate(entries):
            if count >= MOST_ENTRIES:
                break
            if _is_text(file.name):
                found.append(_entry(file))
        else:
            return found
    few = [each for each in (_looked_for(handle, name) for name in LOOKED_FOR) if each is not None]
    return [*few, *(each for each in found if each.name not in LOOKED_FOR)]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _entry(file: os.DirEntry[str]) -> FolderEntry:
    """A file that is renamed while it is looked at was there: its time is not known."""
    try:
        return FolderEntry(file.name, file.stat(follow_symlinks=False).st_mtime)
    except FileNotFoundError:
        return FolderEntry(file.name, 0.0)


def _looked_for(handle: int, name: str) -> FolderEntry | None:
    try:
        return FolderEntry(name, os.stat(name, dir_fd=handle, follow_symlinks=False).st_mtime)
    except FileNotFoundError:
        return None


def _tree(top: int) -> list[Listed]:
    found: list[Listed] = []
    seen = 0
    left: list[tuple[str, ...]] = [()]
    while left:
        names = left.pop()
        if len(names) > MOST_DEPTH:
            raise TooMany(f"its folders are nested more than {MOST_DEPTH} deep")
        with contextlib.suppress(*_GONE), _deep(top, names) as folder, os.scandir(folder) as files:
            for file in files:
                seen += 1
                if seen > MOST_FILES:
                    raise TooMany(f"there are more than {MOST_FILES:,} files in it")
                if file.is_dir(follow_symlinks=False):
                    left.append((*names, file.name))
                elif file.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):
                        found.append(_listed((*names, file.name), file))
    return found


@contextlib.contextmanager
def _deep(top: int, names: Sequence[str]) -> Iterator[int]:
    """A handle of a folder some folders down, for its entries."""
    here = os.open(".", _WAY, dir_fd=top)
    try:
        for name in names:
            below = os.open(name, _BELOW, dir_fd=here)
            os.close(here)
            here = below
        with _opened(here) as handle:
            yield handle
    finally:
        os.close(here)


def _listed(names: Sequence[str], file: os.DirEntry[str]) -> Listed:
    """One of the files; a name that is no text has marks in it, and is refused later."""
    path = os.fsencode("/".join(names)).decode("utf-8", "replace")
    seen = file.stat(follow_symlinks=False)
    return Listed(path, seen.st_size, int(seen.st_mtime), bool(seen.st_mode & stat.S_IXUSR))


def _empty(top: int) -> None:
    """Remove all that is in a folder, however deep: what is in a folder of it comes up first."""
    until = time.monotonic() + REMOVING
    while time.monotonic() < until:
        found = _some(top)
        if not found:
            return
        for name, is_folder in found:
            with contextlib.suppress(FileNotFoundError):
                if is_folder:
                    _raise_up(top, name)
                else:
                    os.unlink(name, dir_fd=top)
    raise TooMany("there is too much to remove at once")


def _raise_up(top: int, name: str) -> None:
    """Remove some of what is in that folder, and the folder once it is empty; folders in it come
    to lie beside it."""
    with _opened(top, name, _BELOW) as here:
        os.chmod(f"/proc/self/fd/{here}", 0o700)  # its user may have made it read-only
        found = _some(here)
        for inner, is_folder in found:
            with contextlib.suppress(FileNotFoundError):
                if is_folder:
                    _move_up(here, inner, top)
                else:
                    os.unlink(inner, dir_fd=here)
    if len(found) < MOST_ENTRIES:
        os.rmdir(name, dir_fd=top)


def _move_up(here: int, inner: str, top: int) -> None:
    new = f".{secrets.token_hex(8)}"
    try:
        os.rename(inner, new, src_dir_fd=here, dst_dir_fd=top)
    except PermissionError:
        with _opened(here, inner, _BELOW) as below:
            os.chmod(f"/proc/self/fd/{below}", 0o700)
        os.rename(inner, new, src_dir_fd=here, dst_dir_fd=top)


def _some(folder: int) -> list[tuple[str, bool]]:
    """Some of what is in a folder, and whether it is a folder; nothing: there is nothing."""
    with _opened(folder) as handle, os.scandir(handle) as entries:
        few = itertools.islice(entries, MOST_ENTRIES)
        return [(file.name, file.is_dir(follow_symlinks=False)) for file in few]


# --- whose folders these are ------------------------------------------------------------------


def _owners() -> frozenset[int]:
    return frozenset({0, os.geteuid()})


def _look(paths: Sequence[str]) -> dict[str, Seen]:
    found = {}
    for path in paths:
        with contextlib.suppress(*_GONE):
            seen = os.lstat(path)
            target = os.readlink(path) if stat.S_ISLNK(seen.st_mode) else ""
            found[path] = _seen(seen, target)
    return found


def _seen(seen: os.stat_result, target: str = "") -> Seen:
    return Seen(seen.st_uid, seen.st_gid, seen.st_mode, target)


def _private(path: str, gid: int) -> bool:
    """Whether the group is our own alone, and no list of more users is at this folder."""
    with contextlib.suppress(OSError):
        if "system.posix_acl_access" in os.listxattr(path):
            return False
    try:
        group, own = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return own.pw_gid == gid and group.gr_name == own.pw_name and {*group.gr_mem} <= {own.pw_name}
