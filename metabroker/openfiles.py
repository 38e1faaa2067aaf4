"""How many files this process may have open: more than its children, which keep what it was started
with. A cluster's submit command may hand its own limits on to the job (Slurm's does), and users'
programs must not find others than they would natively."""

from __future__ import annotations

import resource
from collections.abc import Sequence

ENOUGH = 65536
"""More is of no use to the daemon, and a hard limit of a thousand million is common."""

_LOWERED = 'ulimit -S -n "$1" 2>/dev/null; shift; exec "$@"'
_before: int | None = None  # where it was raised


def raise_limit() -> int:
    """Raise the soft limit as far as the hard one allows; what it is then."""
    global _before
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    _before = soft
    return wanted


def restore_limit() -> None:
    """As it was, for a program that takes the place of this one."""
    if _before is not None:
        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (_before, hard))


def words(argv: Sequence[str], program: str | None = None) -> list[str]:
    """The command of a child, which then has the limit that this process began with. `program`:
    the file that is run."""
    named = [program or argv[0], *argv[1:]]
    return named if _before is None else ["/bin/sh", "-c", _LOWERED, "sh", str(_before), *named]


def share(parts: int, most: int, least: int = 16) -> int:
    """One of so many parts of the files that may be open, within bounds."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if soft == resource.RLIM_INFINITY else max(least, min(most, soft // parts))
