"""What each task of a job needs of the node that it runs on, beside the number of tasks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

LARGEST_MEMORY = 1 << 30  # MB: one petabyte


@dataclass(frozen=True)
class Shape:
    """What a job asks of nodes; every component is given the same. Memory in MB (of 1024 KB).

    `cpus_per_task`: processors of one task, all on one node. `memory`: on each node that the job
    has; `memory_per_cpu`: for each of its processors (0: not said). `gpus`: of each component in
    all, `gpus_per_task`: on the node of each task. `exclusive`: nodes are shared with no other job.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    cpus_per_task: int = 1
    memory: int = 0
    memory_per_cpu: int = 0
    gpus: int = 0
    gpus_per_task: int = 0
    exclusive: bool = False

    def __bool__(self) -> bool:
        """Whether it asks for anything beyond processors wherever they are."""
        return self != ANY_PROCESSORS

    @property
    def beyond_processors(self) -> bool:
        """Whether its tasks need something that a reservation of processors does not keep."""
        return self != Shape(self.cpus_per_task)

    def given(self) -> dict[str, Any]:
        """What it asks for, by name: as JSON has it, in the store and for users."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v for k, v in values.items() if v != getattr(ANY_PROCESSORS, k)}

    def __str__(self) -> str:
        """A task in words: `a task of 8 processors with 4 GB on its node`."""
        cpus = self.cpus_per_task
        words = [f"a task of {cpus} processor{'s' if cpus > 1 else ''}"]
        if self.memory:
            words.append(f"{in_words(self.memory)} on its node")
        if self.memory_per_cpu:
            words.append(f"{in_words(self.memory_per_cpu)} for each processor")
        if self.gpus_per_task or self.gpus:
            words.append(f"{self.gpus_per_task or 1} GPU{'s' if self.gpus_per_task > 1 else ''}")
        return " and ".join(words)


ANY_PROCESSORS = Shape()


def in_words(megabytes: int) -> str:
    """An amount of memory as people write it: `128 GB`, `500 MB`."""
    for size, unit in ((1 << 20, "TB"), (1 << 10, "GB")):
        if megabytes >= size:
            return f"{megabytes / size:.4g} {unit}"
    return f"{megabytes} MB"
