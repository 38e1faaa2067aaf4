"""What a daemon that is root keeps of its privileges, and all its children after it."""

from __future__ import annotations

import ctypes
import logging
import os
from pathlib import Path

log = logging.getLogger(__name__)

_NO_NEW_PRIVILEGES, _DROP_FROM_BOUNDING_SET, _IN_BOUNDING_SET = 38, 24, 23  # of prctl(2)
# To become users, to end their commands, and to read and make what belongs to them or to nobody.
_KEPT = {"CHOWN": 0, "DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "KILL": 5, "SETGID": 6, "SETUID": 7}


def drop() -> None:
    """No program that is started from now on gets privileges by its file, nor other capabilities
    than those that acting for users needs."""
    libc = ctypes.CDLL(None, use_errno=True)
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    # What is dropped already, before a broker restarted itself, may not be dropped again.
    others = [n for n in range(last + 1) if n not in _KEPT.values()]
    calls = [(_DROP_FROM_BOUNDING_SET, n) for n in others if libc.prctl(_IN_BOUNDING_SET, n) == 1]
    for option, argument in [*calls, (_NO_NEW_PRIVILEGES, 1)]:
        if libc.prctl(option, argument, 0, 0, 0) != 0:
            why = os.strerror(ctypes.get_errno())
            log.warning("privileges are not dropped: prctl %d: %s", option, why)
            return
