"""A queue of waiting jobs: a list whose links are in the jobs themselves."""

from __future__ import annotations

from .compiled import inlined
from .layout import NOBODY, NOWHERE, World


@inlined
def append(w: World, index: int, key: int) -> None:
    """A job joins the tail of a queue."""
    mask, queue = w.state[0].mask, w.queues[index]
    job = w.jobs[key & mask]
    job.queue = index
    job.next = NOBODY
    job.previous = queue.tail
    if queue.tail == NOBODY:
        queue.head = key
    else:
        w.jobs[queue.tail & mask].next = key
    queue.tail = key
    queue.length += 1


@inlined
def remove(w: World, key: int) -> None:
    """A job leaves its queue, for ever."""
    mask = w.state[0].mask
    job = w.jobs[key & mask]
    queue = w.queues[job.queue]
    if job.previous == NOBODY:
        queue.head = job.next
    else:
        w.jobs[job.previous & mask].next = job.next
    if job.next == NOBODY:
        queue.tail = job.previous
    else:
        w.jobs[job.next & mask].previous = job.previous
    queue.length -= 1
    job.queue = NOWHERE
