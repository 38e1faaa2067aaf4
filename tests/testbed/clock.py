"""A clock of a server's own, which a test can step: libfaketime, of the distribution's package."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.testbed import apt
from tests.testbed.packages import DEFAULT_SUITE, cache_folder, locked

_PACKAGE = "libfaketime"
_LIBRARY = "libfaketimeMT.so.1"  # for programs that have threads, or processes that share memory


def install() -> Path:
    """The library. Raises `PackagesUnavailable`."""
    folder = cache_folder() / _PACKAGE
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / _LIBRARY
    with locked(folder / "lock"):
        if not library.exists():
            with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as name:
                work = Path(name)
                for archive in apt.download(DEFAULT_SUITE, [_PACKAGE], work / "apt"):
                    if archive.name.startswith(_PACKAGE):
                        apt.run(["dpkg-deb", "-x", archive, work / "root"], 60)
                (found,) = (work / "root").rglob(_LIBRARY)
                found.rename(library)
    return library


class Clock:
    """What time it is for commands that are run by its `words`: as it is, until it is stepped.

    How long something takes is told by another clock, which goes on.
    """

    def __init__(self, folder: Path, library: Path) -> None:
        """`folder`: which the processes' account may enter."""
        self._library = folder / library.name
        shutil.copyfile(library, self._library)
        self._library.chmod(0o755)
        self._offset = folder / "clock"
        self.step(0.0)

    @property
    def words(self) -> tuple[str, ...]:
        """What a command is run by, so that it has this clock."""
        env = {
            "LD_PRELOAD": self._library,
            "FAKETIME_TIMESTAMP_FILE": self._offset,
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        return ("env", *(f"{name}={value}" for name, value in env.items()))

    def step(self, seconds: float) -> None:
        """From now on it is `seconds` ahead of the machine's clock, or behind it if that is less
        than 0."""
        new = self._offset.with_suffix(".new")
        new.write_text(f"{seconds:+.3f}\n")
        new.chmod(0o644)
        new.rename(self._offset)

    def close(self) -> None:
        """Leave nothing of processes that have ended: the library shares memory among them."""
        for left in Path("/dev/shm").glob("*faketime_*"):
            if not Path("/proc", left.name.rpartition("_")[2]).exists():
                left.unlink(missing_ok=True)
