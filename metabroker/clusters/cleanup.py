"""The order in which nothing is left of a token, whatever resource manager it is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metabroker.broker.observation import NativeJob, NativeState

from .operation import Operation, Pause
from .port import UnknownOutcome

# Seconds between two looks at a job that is being cancelled, before the core is told "not yet":
# each look is some commands.
_WAITS = (0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.7)

Find = Callable[[Sequence[NativeJob]], Operation[list[NativeJob]]]
"""Looks for the token's jobs, under other names too if they are among those given."""
Cancel = Callable[[Sequence[NativeJob]], Operation[None]]
Delete = Callable[[], Operation[bool]]


def clean(
    token: str, find: Find, cancel: Cancel, delete: Delete | None, spare: int = 0
) -> Operation[NativeJob | None]:
    """Cancel the token's jobs, wait until they have ended, and only then delete its reservation
    (`delete`: whether that is gone; None: there is none). That is the quickest order everywhere:
    a reservation with jobs in it is refused, or is slow to go.

    `spare`: how many looks at its jobs they are left alone for, since they end by themselves.

    A job that was seen before its end is looked for by its id, too: its script may rename it.
    Answers its job as it was seen last, the liveliest if there are several.

    Raises:
        UnknownOutcome: not yet.
    """
    last: NativeJob | None = None
    asked, living = False, dict[str, NativeJob]()
    for wait in (*_WAITS, None):
        jobs = yield from find(list(living.values()))
        living |= {job.native_id: job for job in jobs}
        living = {n: job for n, job in living.items() if job.state is not NativeState.ENDED}
        last = jobs[0] if jobs else last
        if all(job.state is NativeState.ENDED for job in jobs):
            if delete is None or (yield from delete()):
                return last
        elif spare > 0 and not asked:
            spare -= 1
        elif not asked:
            asked = True
            yield from cancel(jobs)
            continue
        if wait is not None:
            yield Pause(wait)
    word = f" is {last.word}" if last is not None else ""
    raise UnknownOutcome(f"{token}{word}: not gone yet")
