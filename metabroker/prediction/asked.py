"""What a job asks for, as far as its start depends on it."""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.policy import Request


@dataclass(frozen=True, slots=True)
class Asked:
    """A job: its request, its time limit in seconds, whose it is, the queue that it is in, and its
    name, if that is known."""

    request: Request
    limit: float
    user: str = ""
    queue: int = 0
    name: str = ""
