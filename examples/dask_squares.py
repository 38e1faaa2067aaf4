"""Dask over several clusters: the scheduler and this program are in component 0, workers in all."""

import os

from dask.distributed import Client

with Client(os.environ["DASK_SCHEDULER_ADDRESS"]) as client:
    client.wait_for_workers(int(os.environ["METABROKER_NNODES"]), timeout=120)
    print(sorted(worker["name"] for worker in client.scheduler_info()["workers"].values()))
    print(sum(client.gather(client.map(lambda n: n * n, range(100)))))
