"""Standard streams, which may have been closed before we came."""

from __future__ import annotations

from typing import IO, Any


def is_terminal(stream: IO[Any] | None) -> bool:
    """Whether somebody reads it as it is written."""
    return stream is not None and stream.isatty()
