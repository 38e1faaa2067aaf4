"""A munged of our own: key, socket and log in the test-bed's folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tests.testbed.packages import Installation
from tests.testbed.processes import MARK, Daemon, wait_until

SOCKET_PATH_LIMIT = 100  # sun_path is 108 bytes, and munged adds ".lock"


class Munge:
    """Slurm's authentication service for all clusters of one test-bed."""

    def __init__(self, installation: Installation, folder: Path) -> None:
        folder.mkdir(mode=0o755, exist_ok=True)
        self.folder = folder
        self.socket = self._socket_path()
        self._key = folder / "key"
        argv: list[str | Path] = [
            *(installation.sbin / "munged", "--foreground", "--force"),
            *("--socket", self.socket, "--key-file", self._key),
            *("--pid-file", folder / "munged.pid", "--log-file", folder / "munged.log"),
            *("--seed-file", folder / "seed", "--origin", "127.0.0.1", "--num-threads", "4"),
        ]
        # A PATH and nothing else: what a user exports is no matter of the daemons.
        env = {"PATH": os.defpath, MARK: str(folder)}
        self.daemon = Daemon("munged", argv, folder, env)

    def start(self) -> None:
        if not self._key.exists():
            self._key.touch(mode=0o600)
            self._key.write_bytes(os.urandom(128))
        self.daemon.start()
        wait_until(self.socket.exists, 60, f"munged's socket (see {self.daemon.log})")

    def stop(self) -> None:
        self.daemon.stop()
        if self.socket.parent != self.folder:
            shutil.rmtree(self.socket.parent, ignore_errors=True)

    def _socket_path(self) -> Path:
        """In the folder; in a short temporary one, noted in the folder, if that is too deep."""
        path = self.folder / "socket"
        if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
            return path
        note = self.folder / "socket-folder"
        if not note.exists() or not Path(note.read_text()).is_dir():
            short = tempfile.mkdtemp(prefix="mb-munge-")
            Path(short).chmod(0o755)
            note.write_text(short)
        return Path(note.read_text()) / "socket"
