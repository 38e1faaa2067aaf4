"""The account that this process runs under; it need not be in the user database."""

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
