"""Where mistakes are registered, and how one is planted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from metabroker.clusters.openpbs import cluster as openpbs_cluster
from metabroker.clusters.slurm import cluster as slurm_cluster
from tests.world.kinds import FOR_SEVERAL

Plant = Callable[[contextlib.ExitStack], None]

MUTATIONS: dict[str, Plant] = {}
SHARED: set[str] = set()
"""Those that only show where several brokers share a store."""


AMONG: dict[str, str] = {}
"""The kind of worlds that only can show a mistake, or show it soon."""


def mutation(plant: Plant) -> Plant:
    """Register a mistake under its function's name."""
    MUTATIONS[plant.__name__.replace("_", "-")] = plant
    return plant


def shared(plant: Plant) -> Plant:
    """Register one that needs several brokers."""
    SHARED.add(plant.__name__.replace("_", "-"))
    return mutation(plant)


def among(kind: str) -> Callable[[Plant], Plant]:
    """Such a mistake is hunted for in worlds of that kind (see `kinds`)."""

    def noted(plant: Plant) -> Plant:
        AMONG[plant.__name__.replace("_", "-")] = kind
        if kind in FOR_SEVERAL:
            SHARED.add(plant.__name__.replace("_", "-"))
        return plant

    return noted


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """With this mistake in the code; "" is none."""
    with contextlib.ExitStack() as stack:
        if name:
            MUTATIONS[name](stack)
        yield


def swap(stack: contextlib.ExitStack, owner: Any, name: str, new: Any) -> Any:
    """Replace an attribute until the stack is closed; answers the old one."""
    old = getattr(owner, name)
    setattr(owner, name, new)
    stack.callback(setattr, owner, name, old)
    return old


def rewrite(stack: contextlib.ExitStack, old: str, new: str) -> None:
    """Replace a piece of the wrapper's text until the stack is closed."""

    def wrapper(*given: Any, **more: Any) -> bytes:
        text: str = before(*given, **more).decode()
        assert text.count(old) == 1, old
        return text.replace(old, new).encode()

    before = swap(stack, slurm_cluster, "wrapper", wrapper)
    swap(stack, openpbs_cluster, "wrapper", wrapper)
