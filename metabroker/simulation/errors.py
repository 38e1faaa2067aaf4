"""What can be wrong with a job or a policy."""

from collections.abc import Iterable

from metabroker.policy import Request


class Impossible(ValueError):
    """A job that could not run even on the empty system."""


class Overbooked(RuntimeError):
    """A policy has started a job on processors that are not idle: a mistake in the policy."""


def impossible(key: int, request: Request, processors: Iterable[int]) -> Impossible:
    """The error for a job that could never run."""
    return Impossible(
        f"job {key} (components of {', '.join(map(str, request.sizes))} processors) can never "
        f"run on clusters of {', '.join(map(str, processors))}"
    )


def overbooked(key: int, cluster: int, size: int, idle: int) -> Overbooked:
    """The error for a start on processors that are not idle."""
    return Overbooked(
        f"job {key} was started with {size} processors on cluster {cluster}; idle there: {idle}"
    )
