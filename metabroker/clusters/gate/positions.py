"""What the name of a gate's token file can be, and what its own component can make of a gate."""

from __future__ import annotations

import contextlib
import errno
from enum import Enum

from metabroker.clusters.transports.trust import Unsafe

# What a component can make of its own gate: folders in the place of files, files that are closed.
_SPOILT = frozenset(
    {errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY, errno.EEXIST, errno.ELOOP}
    | {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}
)


class Position(Enum):
    """The name of a gate's token file."""

    WAIT = "wait"
    ARMED = "armed"
    GO = "go"
    RUN = "run"
    ABORT = "abort"


def known(name: str) -> str:
    """What a file in a gate is called here: on its way to `run` its token has a component's own."""
    return Position.RUN.value if name.startswith(f"{Position.RUN.value}.") else name


class Spoilt(contextlib.AbstractContextManager[None]):
    """What follows is left out where the gate is not as it was made: exchanged, or spoilt by its
    own component. Then its component alone may be the worse for it, and it is not tried for ever.
    """

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> bool:
        return isinstance(error, Unsafe) or (isinstance(error, OSError) and error.errno in _SPOILT)
