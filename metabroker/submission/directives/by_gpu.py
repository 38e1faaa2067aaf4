"""Tasks that are counted by GPUs: `--ntasks-per-gpu` and `--cpus-per-gpu` of sbatch."""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.submission.requests import LARGEST

NOT_WITH_GPUS = frozenset({"gpus-per-task", "ntasks-per-node"})
"""Options that say how many tasks there are in another way, beside which Slurm takes none of these
either."""


@dataclass(frozen=True)
class ByGpu:
    """What they come to. `nodes`: at least and at most, and `per_node`: tasks on each (None: not
    said); `cpus`: of each task; `one_each`: each of several tasks has a GPU of its own."""

    tasks: int
    cpus: int | None
    nodes: tuple[int, int] | None
    per_node: int | None
    one_each: bool

    @classmethod
    def of(
        cls,
        nodes: tuple[int, int] | None,
        tasks: int | None,
        each: int,
        gpus: tuple[int | None, int | None],
        cpus: tuple[int | None, int | None],
    ) -> ByGpu | None:
        """`tasks`: as it was said; `each`: for each GPU; `gpus`: in all, and on each node; `cpus`:
        of each GPU, and of each task. None: that does not say how many tasks there are, or they
        would not have the same processors each."""
        in_all, of_node = gpus
        if of_node is not None:
            # As in Slurm: one node, if no number is said.
            nodes = nodes or (1, 1)
            if nodes[0] != nodes[1] or in_all not in (None, of_node * nodes[0]):
                return None
            in_all = of_node * nodes[0]
        if not in_all or in_all * each > LARGEST or tasks not in (None, in_all * each):
            return None
        of_gpu, of_task = cpus
        if of_gpu is not None and (of_task is not None or of_gpu % each):
            return None
        several = of_node is not None and nodes is not None and nodes[0] > 1
        return cls(
            tasks=in_all * each,
            cpus=of_task if of_gpu is None else of_gpu // each,
            nodes=nodes,
            per_node=(of_node or 0) * each if several else None,
            one_each=each == 1 and in_all > 1 and not several,
        )
