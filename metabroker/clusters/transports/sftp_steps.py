"""What is done with files over SFTP, step by step, and whose the folders are on the way there.

SFTP knows paths and no handles. So a gate is only made where nobody but root and the account can
exchange what is on the way (see `trust`); then what was seen to be the account's stays so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence

import paramiko
from paramiko.sftp import (
    CMD_CLOSE,
    CMD_HANDLE,
    CMD_NAME,
    CMD_OPENDIR,
    CMD_READDIR,
)

from .base import LOOKED_FOR, MOST_ENTRIES, REMOVING, TooMany
from .trust import (
    GATE_BELIEVED,
    ROOT_BELIEVED,
    Private,
    Seen,
    SplitPath,
    Unsafe,
    examine,
    owned,
    split,
)

_MOST_TRIES = 5
_MOST_KEPT = 4096  # folders that are remembered

Listing = Mapping[str, paramiko.SFTPAttributes]


class Ways:
    """The folders on the way to one account's gates. `private`: see `trust`; `keeper`: the number
    of the service's account there, if that is another one: a folder for all may be its own."""

    def __init__(self, private: Private, keeper: Callable[[], int | None] = lambda: None) -> None:
        self._private = private
        self._keeper = keeper
        self._own: int | None = None
        self._roots: dict[str, float] = {}
        self._gates: dict[str, float] = {}

    def make(self, sftp: paramiko.SFTPClient, path: str, *, root_believed: bool = False) -> bool:
        """Make a folder, and those between its root and it (mode 0700); fine if they are there.
        Whether it was not."""
        way = split(path)
        if not root_believed:
            self._believe(sftp, way.root)
        new = False
        for attempt in range(_MOST_TRIES):
            try:
                for count in range(1, len(way.parts) + 1):
                    new = self._make(sftp, way, count)
                break
            except FileNotFoundError:
                # `remove_tree` of a sibling may have removed the parent in between.
                if attempt == _MOST_TRIES - 1:
                    raise
                self._gates.clear()
        return new

    def check(self, sftp: paramiko.SFTPClient, path: str) -> None:
        """The folder that the path's last part is in is the account's, if that is in a gate, and
        no link leads there."""
        way = split(path)
        for count in range(1, len(way.parts)):
            self._check(sftp, way, count)

    def rename(self, sftp: paramiko.SFTPClient, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        try:
            self.check(sftp, old)
            if os.path.dirname(new) != os.path.dirname(old):
                self.check(sftp, new)
            sftp.posix_rename(old, new)
        except FileNotFoundError:
            return False
        except OSError as error:
            # It has one word for all failures.
            if error.errno is None and _is_folder(sftp, new):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from error
            raise
        return True

    def forget(self, path: str) -> None:
        """It is about to be removed: another could come in its place."""
        for gate in [gate for gate in self._gates if gate.startswith(path)]:
            self._gates.pop(gate, None)

    def _make(self, sftp: paramiko.SFTPClient, way: SplitPath, count: int) -> bool:
        folder = way.at(count)
        if self._gates.get(folder, 0.0) > time.monotonic():
            return False
        try:
            sftp.mkdir(folder, 0o700)
        except FileNotFoundError:
            raise
        except OSError as error:
            # It has one word for all failures: whether it is there already must be asked.
            try:
                self._check(sftp, way, count)
            except FileNotFoundError:
                raise error from None
            return False
        if count <= way.gates:  # nobody else can have exchanged it since
            self._remember(folder)
        return True

    def _check(self, sftp: paramiko.SFTPClient, way: SplitPath, count: int) -> None:
        folder = way.at(count)
        if self._gates.get(folder, 0.0) > time.monotonic():
            return
        seen = _seen(sftp.lstat(folder))
        if count <= way.gates:
            owned(way.parts[count - 1], seen, {0, self._account(sftp)})
            self._remember(folder)
        elif way.gates and stat.S_ISLNK(seen.mode):
            raise Unsafe(f"{way.parts[count - 1]} has been replaced by a link")
        elif (not way.gates and stat.S_ISLNK(seen.mode)) or not stat.S_ISDIR(seen.mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        elif way.gates and count == way.gates + 1 and seen.uid not in (0, self._account(sftp)):
            raise Unsafe(f"{way.parts[count - 1]} belongs to somebody else")

    def _remember(self, folder: str) -> None:
        if len(self._gates) >= _MOST_KEPT:
            self._gates.clear()
        self._gates[folder] = time.monotonic() + GATE_BELIEVED

    def _believe(self, sftp: paramiko.SFTPClient, root: str) -> None:
        """Look whether the way to a folder can be believed; what can stays so, and is not looked
        at each time."""
        now = time.monotonic()
        if self._roots.get(root, 0.0) > now:
            return

        def look(paths: Sequence[str]) -> dict[str, Seen]:
            found = {}
            for path in paths:
                try:
                    seen = sftp.lstat(path)
                    link = stat.S_ISLNK(seen.st_mode or 0)
                    found[path] = _seen(seen, sftp.readlink(path) or "" if link else "")
                except FileNotFoundError:
                    pass
                except OSError as error:
                    if error.errno is not None or isinstance(error, TimeoutError):
                        raise  # else it is below something that is no folder
            return found

        own = self._account(sftp)
        try:
            examine(root, look, lambda: (0, own), self._private)
        except Unsafe:
            keeper = self._keeper()
            if keeper is None:
                raise
            examine(root, look, lambda: (0, own, keeper), self._private)
        if len(self._roots) >= _MOST_KEPT:
            self._roots.clear()
        self._roots[root] = now + ROOT_BELIEVED

    def _account(self, sftp: paramiko.SFTPClient) -> int:
        """The number of the account: the owner of the process that serves us."""
        if self._own is None:
            uid: int | None = sftp.stat("/proc/self").st_uid
            if uid is None:
                raise OSError(errno.EIO, "the owner of these files cannot be found out")
            self._own = uid
        return self._own


def _seen(file: paramiko.SFTPAttributes, target: str = "") -> Seen:
    return Seen(
        -1 if file.st_uid is None else file.st_uid,
        -1 if file.st_gid is None else file.st_gid,
        file.st_mode or 0,
        target,
    )


def listing(
    sftp: paramiko.SFTPClient, path: str, most: int = MOST_ENTRIES
) -> tuple[dict[str, paramiko.SFTPAttributes], bool] | None:
    """What is in a folder, up to so many files, and whether that is all; None if the folder is not
    there. Names that are not UTF-8 are left out."""
    told = _listed(sftp, os.fsencode(path), most)
    if told is None:
        return None
    found = {}
    for name, file in told[0].items():
        with contextlib.suppress(UnicodeDecodeError):
            found[name.decode()] = file
    return found, told[1]


def _listed(
    sftp: paramiko.SFTPClient, path: bytes, most: int = MOST_ENTRIES
) -> tuple[dict[bytes, paramiko.SFTPAttributes], bool] | None:
    found: dict[bytes, paramiko.SFTPAttributes] = {}
    kind, answer = _ask(sftp, CMD_OPENDIR, path)
    if kind is None:
        return None
    if kind != CMD_HANDLE:
        raise paramiko.SSHException("no handle of a folder")
    handle = answer.get_binary()
    while len(found) < most:
        kind, answer = _ask(sftp, CMD_READDIR, handle)
        if kind is None:
            break
        if kind != CMD_NAME:
            raise paramiko.SSHException("no names of a folder")
        for _ in range(answer.get_int()):
            name, _long = answer.get_string(), answer.get_string()
            found[name] = paramiko.SFTPAttributes._from_msg(answer)
    sftp._request(CMD_CLOSE, handle)
    found.pop(b".", None)
    found.pop(b"..", None)
    return found, kind is None


def _ask(sftp: paramiko.SFTPClient, *words: object) -> tuple[int | None, paramiko.Message]:
    """An answer; None: there is no such folder, or there are no more names."""
    try:
        kind, answer = sftp._request(*words)
    except (EOFError, FileNotFoundError):
        return None, paramiko.Message()
    return kind, answer


def known(sftp: paramiko.SFTPClient, path: str) -> dict[str, paramiko.SFTPAttributes]:
    """Those files of a folder that somebody looks for."""
    found = {}
    for name in LOOKED_FOR:
        with contextlib.suppress(FileNotFoundError):
            found[name] = sftp.lstat(f"{path}/{name}")
    return found


def remove(sftp: paramiko.SFTPClient, path: str) -> None:
    """Remove a folder with all in it; fine if it is not there, or goes meanwhile. However deep it
    is: the folders in a folder of it come up first. What there is no time for is removed next
    time."""
    top, until = os.fsencode(path), time.monotonic() + REMOVING
    while time.monotonic() < until:
        told = _listed(sftp, top)
        if told is None:
            return
        for name, file in told[0].items():
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISDIR(file.st_mode or 0):
                    _raise_up(sftp, top, top + b"/" + name)
                else:
                    sftp.remove(top + b"/" + name)
        if told[1] and not any(stat.S_ISDIR(file.st_mode or 0) for file in told[0].values()):
            with contextlib.suppress(FileNotFoundError):
                sftp.rmdir(top)
            return
    raise TooMany("there is too much to remove at once")


def _raise_up(sftp: paramiko.SFTPClient, top: bytes, folder: bytes) -> None:
    """Remove some of what is in that folder, and the folder once it is empty; folders in it come
    to lie beside it."""
    told = _listed(sftp, folder)
    files, whole = ({}, True) if told is None else told
    for name, file in files.items():
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISDIR(file.st_mode or 0):
                new = top + b"/." + os.urandom(8).hex().encode()
                sftp.posix_rename(folder + b"/" + name, new)
            else:
                sftp.remove(folder + b"/" + name)
    if whole:
        sftp.rmdir(folder)


def _is_folder(sftp: paramiko.SFTPClient, path: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return stat.S_ISDIR(sftp.lstat(path).st_mode or 0)
    return False
