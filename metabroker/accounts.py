"""Accounts of this host: our own, which need not be in the user database, and users'."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """Name (the number, if it has none), home and shell."""

    name: str
    home: str
    shell: str


def own() -> Account:
    """Our own account."""
    uid = os.geteuid()
    try:
        found = pwd.getpwuid(uid)
    except KeyError:
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
    """The user of that name on this host; None if there is none."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
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
    """An account's name; the number, if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
