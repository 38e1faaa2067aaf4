"""What the engine is told: events, and what users ask, with whom to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from metabroker.broker.events import Event, Outcome
from metabroker.submission.dependency import Named
from metabroker.submission.model import Submission

Answer = Callable[[int | Exception], None]
"""Told a job's number once what was asked is durable, or why it was not done."""


class Undecided(Exception):
    """The request is taken over and not yet durable: nobody can tell now whether it will be."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A user's request on a job, or on a cluster: an event that may be refused, and whom to answer
    with that job's number, or that cluster's index."""

    event: Event
    job: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class AskToSubmit:
    """A user's submission. `spec` is what only the job's start needs, as it is stored; `closed`:
    clusters, by name, that cannot be asked for all that it asks for; `over`: what had become of the
    jobs that it depends on when it was asked for, of those that had ended then: the core's thread
    need not ask for them again."""

    submission: Submission
    user: str
    home: str | None
    time_limit: int
    spec: Mapping[str, Any]
    answer: Answer
    closed: tuple[str, ...] = ()
    over: Mapping[Named, Outcome] = field(default_factory=dict)


Item = Event | Ask | AskToSubmit
