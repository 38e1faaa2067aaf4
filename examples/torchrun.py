"""PyTorch over several clusters, by gloo."""

import os

import torch
import torch.distributed as distributed

distributed.init_process_group("gloo")
rank = distributed.get_rank()
total = torch.ones(1) * (rank + 1)
distributed.all_reduce(total)
print(f"rank {rank}: sum {int(total.item())} in {os.environ['METABROKER_CLUSTER']}", flush=True)
distributed.destroy_process_group()
