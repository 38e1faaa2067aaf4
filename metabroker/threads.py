"""Pools whose threads have all started before there is work for them.

Python waits for a new thread to say that it has begun. With too little memory a thread can die
before that, and who started it waits for ever: the event loop that serves, or whoever holds the
pool's lock. So a daemon starts its pools' threads as it begins, and none for a request.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor


def started_pool(count: int, name: str) -> ThreadPoolExecutor:
    """A pool of `count` threads, all of which have begun.

    Raises:
        RuntimeError: a thread cannot be started.
    """
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    # A pool starts a thread for a task that no thread is free for.
    all_have_one = threading.Barrier(count + 1)
    try:
        for _ in range(count):
            pool.submit(all_have_one.wait)
    except RuntimeError:
        all_have_one.abort()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    all_have_one.wait()
    return pool
