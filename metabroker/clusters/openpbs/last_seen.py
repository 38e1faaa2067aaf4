"""How long jobs were seen to run, and may: where the server keeps no history of ended jobs, that is
how one that was ended for its time limit is told from one that somebody ended."""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker.states import Cause
from metabroker.clusters.port import ComponentRecord

from .snapshot import PbsPoll

_KEPT = 3600.0  # seconds after which a job that was not seen again is forgotten


@dataclass(frozen=True, slots=True)
class _Life:
    limit: float
    lasted: float
    seen_at: float


class LastSeen:
    """The jobs of an account that run, as they were last seen; by token."""

    def __init__(self) -> None:
        self._lives: dict[str, _Life] = {}

    def seen(self, look: PbsPoll, offset: float = 0.0) -> None:
        """Remember what a poll showed. `offset`: seconds that the cluster's clock was last seen
        ahead of the broker's."""
        for job in look.jobs:
            if job.limit is not None and job.start_time is not None:
                lasted = look.taken_at + offset - job.start_time
                self._lives[job.name] = _Life(job.limit, lasted, look.taken_at)
        self._lives = {
            token: life
            for token, life in self._lives.items()
            if life.seen_at > look.taken_at - _KEPT
        }

    def cause(
        self, token: str, marks: ComponentRecord | None, *, ended: bool = False
    ) -> Cause | None:
        """Why a job ended that its server has forgotten; None: by itself, or that is not known.
        `ended`: it was told to end, and was not ending yet."""
        life = self._lives.pop(token, None)
        if marks is not None and marks.exit_code is not None and not marks.signalled:
            # The script may have had the signal before its wrapper, and have ended well for that.
            return Cause.KILLED if ended and marks.exit_code == 0 else None
        if life is None or marks is None or marks.started is None:
            return None
        # Its record is by one clock alone; what was seen, by the broker's and the server's.
        lasted = life.lasted if marks.ended is None else marks.ended - marks.started
        if lasted >= life.limit - 1.0:
            return Cause.OVERTIME
        # A signal need not have been sent to end it, where the script ended well.
        return None if marks.exit_code == 0 else Cause.KILLED
