"""Ends a test-bed whose owner was killed: a process of its own, which waits for that.

The owner holds the other end of this process's standard input. When that closes while the
folder still says that the clusters are up, nobody else will stop them.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

from tests.testbed.packages import REPOSITORY


class Guard:
    """A guard over the test-bed in `folder`, for as long as this process lives."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()", str(folder)],
            stdin=subprocess.PIPE,
            cwd=REPOSITORY,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """The owner has stopped the test-bed itself."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(60)


def main() -> None:
    """The guard's own process: its argument is the folder."""
    from tests.testbed.testbed import STATE, Testbed

    folder = Path(sys.argv[1])
    sys.stdin.read()
    if (folder / STATE).exists():
        Testbed.attach(folder).stop()
        shutil.rmtree(folder, ignore_errors=True)
