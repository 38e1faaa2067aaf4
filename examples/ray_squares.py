"""Ray over several clusters: its head and this program are in component 0."""

import os
import time

import ray

ray.init(address=os.environ["RAY_ADDRESS"])
while sum(node["Alive"] for node in ray.nodes()) < int(os.environ["METABROKER_NNODES"]):
    time.sleep(0.5)


@ray.remote
def square(n: int) -> int:
    """What a worker does."""
    return n * n


print(sum(ray.get([square.remote(n) for n in range(100)])))
