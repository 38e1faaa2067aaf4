"""Why a job waits: what a user is told."""

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """Why a job waits, from the strongest reason to the weakest."""

    UNREACHABLE = "it could not run even if all reachable clusters were empty"
    BEHIND = "other jobs are in front of it in its queue"
    RULE = "the policy's rule keeps its queue disabled"
    MISFIT = "it does not fit on the idle processors"
    OVERTAKING = "it would overtake a job that has been overtaken often or long enough"
    NEXT = "it can start at the next pass in which its queue is visited"


@dataclass(frozen=True, slots=True)
class Why:
    """Why one job waits."""

    key: int
    queue: int
    position: int
    """The number of jobs in front of it in its queue."""
    reason: Reason
    rule: str | None = None
    """For RULE: the condition that is not met."""
    blocker: int | None = None
    """For BEHIND the key of the queue's head; for OVERTAKING of the oldest protected job."""
    overtaken: int = 0
    """How often it was overtaken, counted up to the bound; 0 without aging."""
    protected: bool = False
    """It is not overtaken again."""
