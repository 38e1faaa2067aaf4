"""A broker that leads no more begins anew: the same process, and nothing left of the old one."""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn

log = logging.getLogger(__name__)


def begin_anew() -> NoReturn:
    """Execute this program again, with the same arguments.

    Every thread ends at once, whatever it was in the middle of, and may do no step more; the
    process keeps its number, so whoever watches over it notices nothing.
    """
    for handler in logging.getLogger().handlers:
        handler.flush()
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    except OSError as error:
        log.critical("cannot begin anew, so the daemon ends: %s", error)
    os._exit(1)
