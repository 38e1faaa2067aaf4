"""Accounts of this host: our own, which need not be in the user database, and users'.

That there is no such account, and that the user database cannot be asked now (no file descriptor
is left, a directory service is away), are two things: the first is None, the second an error.
Python's `pwd` tells both by the same KeyError, so that the C library is asked which it was; and
since that goes by the last of several services (`passwd: files systemd`), which may know nothing,
/etc/passwd is read as well.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Of getpwnam(3): what some systems answer where there is no such account.
_NO_ERROR = frozenset({0, errno.ENOENT, errno.ESRCH})
_PASSWD = "/etc/passwd"
_DESCRIPTORS = 4  # that a directory service may need for an answer
_LARGEST_ENTRY = 1 << 20  # bytes


class NotNow(OSError):
    """The user database cannot be asked now."""

    def __init__(self, number: int) -> None:
        super().__init__(number, f"the user database cannot be read now: {os.strerror(number)}")


@dataclass(frozen=True, slots=True)
class Account:
    """Name (the number, if it has none), home and shell."""

    name: str
    home: str
    shell: str


def own() -> Account:
    """Our own account. Raises `NotNow`."""
    uid = os.geteuid()
    found = entry_by_uid(uid)
    if found is None:
        return Account(str(uid), os.environ.get("HOME", "/"), "/bin/sh")
    return Account(found.pw_name, found.pw_dir, found.pw_shell or "/bin/sh")


@dataclass(frozen=True, slots=True)
class Identity:
    """All that makes a process a user's: ids, supplementary groups, home and shell."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str


def identity(name: str) -> Identity | None:
    """The user of that name on this host; None if there is none. Raises `NotNow`."""
    found = entry_by_name(name)
    if found is None:
        return None
    return Identity(
        name,
        found.pw_uid,
        found.pw_gid,
        tuple(os.getgrouplist(name, found.pw_gid)),
        found.pw_dir,
        found.pw_shell or "/bin/sh",
    )


def name_of(uid: int) -> str:
    """An account's name; the number, if it has none. Raises `NotNow`."""
    found = entry_by_uid(uid)
    return str(uid) if found is None else found.pw_name


def entry_by_uid(uid: int) -> pwd.struct_passwd | None:
    """The user database's entry; None: there is none. Raises `NotNow`."""
    return _entry(lambda: pwd.getpwuid(uid), "getpwuid_r", uid, 2, str(uid))


def entry_by_name(name: str) -> pwd.struct_passwd | None:
    """The user database's entry; None: there is none. Raises `NotNow`."""
    if "\0" in name:
        return None
    return _entry(lambda: pwd.getpwnam(name), "getpwnam_r", os.fsencode(name), 0, name)


def _entry(
    look: Callable[[], pwd.struct_passwd],
    function: str,
    key: int | bytes,
    column: int,
    text: str,
) -> pwd.struct_passwd | None:
    """What `look` finds; `function`, `key`: the C library's for the same; `column`, `text`: where
    it would stand in /etc/passwd, and how."""
    try:
        return look()
    except KeyError:
        why = _why_not(function, key)
    if why is None:  # it is there by now
        try:
            return look()
        except KeyError:
            raise NotNow(errno.EAGAIN) from None
    if why not in _NO_ERROR:
        raise NotNow(why)
    if _in_file(column, text):
        raise NotNow(errno.EAGAIN)
    return None


def _in_file(column: int, text: str) -> bool:
    """Whether the host's own file has it. That takes descriptors, as a service does."""
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(_DESCRIPTORS):
                stack.enter_context(open(os.devnull, "rb"))
            file = stack.enter_context(open(_PASSWD, encoding="utf-8", errors="surrogateescape"))
            return any(line.split(":")[column : column + 1] == [text] for line in file)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise NotNow(error.errno or errno.EIO) from error


def _why_not(function: str, key: int | bytes) -> int | None:
    """The error by which the C library finds no entry, 0: there is none; None: it finds one."""
    import ctypes  # seldom needed, and no command shall wait for it

    libc: Any = ctypes.CDLL(None)
    entry, found = ctypes.create_string_buffer(512), ctypes.c_void_p()
    given: Any = ctypes.c_uint32(key) if isinstance(key, int) else ctypes.c_char_p(key)
    size = 1024
    while True:
        room = ctypes.create_string_buffer(size)
        status: int = getattr(libc, function)(
            given, entry, room, ctypes.c_size_t(size), ctypes.byref(found)
        )
        if status != errno.ERANGE or size >= _LARGEST_ENTRY:
            return None if found.value else status
        size *= 4
