"""A broker that no longer leads restarts itself: the same process, nothing left of the old one."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from pathlib import Path
from typing import NoReturn

from metabroker import openfiles

log = logging.getLogger(__name__)


def reexec() -> NoReturn:
    """Execute this program again, with the same arguments.

    Every thread ends at once, whatever it was in the middle of, and may do no step more; the
    process keeps its number, so whoever watches over it notices nothing.
    """
    openfiles.restore_limit()
    for handler in logging.getLogger().handlers:
        handler.flush()
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    except OSError as error:
        log.critical("the daemon cannot restart itself, so it ends: %s", error)
    os._exit(1)


def reap_former() -> None:
    """Wait for the commands that were under way when this process restarted, so that they do not
    stay as zombies. To be called before any is started."""
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    except OSError:
        return  # a kernel that does not tell
    if listed:
        former = [int(pid) for pid in listed]
        threading.Thread(target=_bury, args=(former,), name="former", daemon=True).start()


def _bury(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
