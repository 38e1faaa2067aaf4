"""A farm of tasks whose workers come and go: each optional component brings some while it runs."""

import os
import sys
import time

from dask.distributed import Client, as_completed, get_worker

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 400


def square(n: int) -> tuple[str, int]:
    """A task that takes a moment: who did it, and its result."""
    time.sleep(0.1)
    return get_worker().name, n * n


with Client(os.environ["DASK_SCHEDULER_ADDRESS"]) as client:
    total, done = 0, {}
    for _, (name, result) in as_completed(client.map(square, range(COUNT)), with_results=True):
        total += result
        done[name] = done.get(name, 0) + 1
        if done[name] == 1:
            print(f"{name} has done its first task", flush=True)
    print(f"{sum(done.values())} tasks by {len(done)} workers: {total}")
