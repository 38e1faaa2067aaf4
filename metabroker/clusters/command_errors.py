"""What adapters make of commands that do not answer, or answer nothing that can be read."""

from __future__ import annotations

from typing import TypeVar

from metabroker.broker.states import Cause
from metabroker.clusters.transports.base import CommandLost, CommandMissing, NotAllowed, Unreached

from .operation import Operation
from .port import ClusterRefusal, UnknownOutcome

R = TypeVar("R")


class Garbled(Exception):
    """A command's output is not of the form it should have."""


def answered(operation: Operation[R]) -> Operation[R]:
    """The operation, with what can go wrong with a command in the port's words.

    Raises:
        ClusterRefusal: the command is not there, may not be run, or its host cannot be reached.
        UnknownOutcome: its outcome is not known, or its output cannot be read.
    """
    try:
        return (yield from operation)
    except CommandLost as lost:
        raise UnknownOutcome(str(lost)) from lost
    except Unreached as away:
        raise ClusterRefusal(Cause.UNREACHABLE, str(away)) from away
    except NotAllowed as denied:
        raise ClusterRefusal(Cause.DENIED, str(denied)) from denied
    except CommandMissing as missing:
        raise ClusterRefusal(
            Cause.UNREACHABLE, f"{missing}; set `bin` or PATH in `env` of this cluster"
        ) from missing
    except Garbled as garbled:
        raise UnknownOutcome(str(garbled)) from garbled


def after_making(step: Operation[R]) -> Operation[R]:
    """The operation, where something may be there already: that the cluster can no longer be asked
    does not undo it.

    Raises:
        UnknownOutcome: for what would be a sure no otherwise.
    """
    try:
        return (yield from step)
    except (ClusterRefusal, CommandMissing) as refusal:
        raise UnknownOutcome(str(refusal)) from refusal
