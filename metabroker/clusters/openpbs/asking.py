"""Commands that must succeed."""

from __future__ import annotations

from metabroker.clusters.operation import Operation, command
from metabroker.clusters.transports.base import Command, Completed

from .answers import failure


def told(asked: Command, *, also: frozenset[int] = frozenset()) -> Operation[Completed]:
    """A command that must succeed, or exit with one of `also`."""
    done = yield from command(asked)
    if done.exit_status != 0 and done.exit_status not in also:
        raise failure(done, asked.argv[0])
    return done
