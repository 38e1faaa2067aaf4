"""A small disk that can be full: a tmpfs in a mount namespace of its own.

Nothing of it can be left behind: the namespace, and with it the disk, is gone when its holder is,
and the holder ends with the test run, whose end of a pipe it reads. Root is not needed where the
system lets everybody have namespaces.
"""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

from tests.daemon.harness import REPOSITORY

_HOLD = 'mount -t tmpfs -o "size=$1,mode=700" none "$2" && echo ready && exec cat'
_BLOCK = 64 * 1024


class NoDisk(Exception):
    """No small disk can be had here: why."""


class SmallDisk:
    """A disk of `size` bytes at `folder`, for processes that are started with `enter`.

    Others find it at `path`. Raises `NoDisk`.
    """

    def __init__(self, folder: Path, size: int) -> None:
        folder.mkdir(exist_ok=True)
        root = os.geteuid() == 0
        own = [] if root else ["--user", "--map-current-user", "--keep-caps"]
        self._holder = subprocess.Popen(
            ["unshare", *own, "--mount", "sh", "-c", _HOLD, "sh", str(size), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._holder.stdout is not None and self._holder.stderr is not None
        if self._holder.stdout.readline() != b"ready\n":
            said = self._holder.stderr.read().decode("utf-8", "replace").strip()
            self.remove()
            raise NoDisk(f"a small disk cannot be mounted here: {said}")
        pid = self._holder.pid
        self.path = Path(f"/proc/{pid}/root{folder}")
        user = [] if root else ["--user", "--preserve-credentials"]
        back = ["sh", "-c", 'cd "$0" && exec "$@"', str(REPOSITORY)]  # nsenter goes to /
        self.enter = ["nsenter", f"--target={pid}", "--mount", *user, *back]
        self._filling = self.path / "filling"

    def fill(self) -> None:
        """Leave not a byte; again, where somebody has let go of some."""
        handle = os.open(self._filling, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        size = _BLOCK
        try:
            while size:
                try:
                    os.write(handle, b"\0" * size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 2
        finally:
            os.close(handle)

    def make_space(self) -> None:
        """What filled it goes away."""
        self._filling.unlink()

    def remove(self) -> None:
        """The disk goes, once nobody uses it any more."""
        self._holder.kill()
        self._holder.communicate()
