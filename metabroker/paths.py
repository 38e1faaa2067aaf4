"""Where the daemon and its commands keep things when nobody says otherwise.

Imported by every command, so it imports nothing that is slow to load.
"""

from __future__ import annotations

import os
from pathlib import Path

SYSTEM_SOCKET = Path("/run/metabroker/metabroker.sock")
SYSTEM_STATE = Path("/var/lib/metabroker")
FRONT_ENDS = ".metabroker-front-ends"
"""The file that says that a folder has front ends (`metabroker.frontends`)."""


def default_socket() -> Path:
    """The socket a daemon makes by default: the system's for root, else one of the user's own."""
    if os.geteuid() == 0:
        return SYSTEM_SOCKET
    return _own_socket()


def find_socket() -> Path:
    """The socket a command looks for: the user's own daemon if there is one, else the system's."""
    own = default_socket()
    # os.path, since after `su` or `runuser` HOME may be a folder that we may not look into.
    return own if os.path.exists(own) or not os.path.exists(SYSTEM_SOCKET) else SYSTEM_SOCKET


def state_directory() -> Path:
    """The folder of the default store: the system's for root, else one of the user's own."""
    if os.geteuid() == 0:
        return SYSTEM_STATE
    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    return folder / "metabroker"


def token_file() -> Path:
    """The file of the token that a daemon elsewhere is asked with."""
    named = os.environ.get("METABROKER_TOKEN_FILE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".config"
    return folder / "metabroker" / "token"


def without_front_ends(path: str) -> str:
    """A PATH in which `sbatch` and the others are the clusters' own."""
    marks = ((folder, os.path.join(folder, FRONT_ENDS)) for folder in path.split(os.pathsep))
    return os.pathsep.join(folder for folder, mark in marks if not os.path.exists(mark))


def _own_socket() -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(base) / "metabroker" if base.startswith("/") else Path.home() / ".metabroker"
    return folder / "metabroker.sock"
