"""Sequential jobs: several tasks, one after another on the same processor (KH 2.1)."""

from dataclasses import dataclass

from metabroker.policy.request import Request


@dataclass(frozen=True, slots=True)
class Sequential(Request):
    """A sequential job of `tasks` tasks; its `sizes` are (1,). All other requests are gangs.

    Raises ValueError for fewer than one task, or more than one processor.
    """

    tasks: int = 1

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.sizes != (1,):
            raise ValueError(f"a sequential job has one processor, not {self.sizes}")
        if self.tasks < 1:
            raise ValueError(f"a sequential job has at least one task, not {self.tasks}")


def sequential(tasks: int) -> Sequential:
    """The request of a sequential job of that many tasks."""
    return Sequential((1,), None, tasks)
