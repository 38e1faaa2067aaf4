"""What the daemon logs as an error of its own is one, in a world too."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from greenlet import GreenletExit

from .oracle import Violation


class _Errors(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """An entry of the log."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, GreenletExit | Violation):
            Violation(f"an error of the broker's own: {record.getMessage()}: {error!r}")


@contextlib.contextmanager
def no_error_of_its_own() -> Iterator[None]:
    """An unexpected exception, which the daemon logs and survives, breaks a promise."""
    log, handler = logging.getLogger("metabroker"), _Errors()
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.ERROR)
    log.propagate = False
    try:
        yield
    finally:
        log.setLevel(level)
        log.propagate = propagate
        log.removeHandler(handler)
