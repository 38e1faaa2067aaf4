"""A cluster's local users as a scenario of their own: what is checked and made of a scenario's
workload is so checked and made of theirs, and blamed on their keys."""

from __future__ import annotations

from collections.abc import Iterable

from metabroker.config.keys import Key
from metabroker.config.problems import Problem

from .model import Local, Scenario, SharedCluster, Workload


def alone(name: str, processors: int, local: Local) -> Scenario:
    """The cluster without the broker. A co-allocated job of a log is one component here."""
    given = local.workload
    swf = None if given.swf is None else given.swf.model_copy(update={"components": "merge"})
    workload = Workload().model_copy(update={"synthetic": given.synthetic, "swf": swf})
    return Scenario(clusters={name: processors}, policy="GS", workload=workload)


def filled_local(cluster: SharedCluster, own: Scenario) -> SharedCluster:
    """The cluster with the defaults that its scenario has."""
    assert cluster.local is not None
    update = {"synthetic": own.workload.synthetic}
    workload = cluster.local.workload.model_copy(update=update)
    local = cluster.local.model_copy(update={"workload": workload})
    return cluster.model_copy(update={"local": local})


def placed(name: str, problems: Iterable[Problem]) -> list[Problem]:
    """The problems of that scenario where the keys stand in the whole one."""
    key: Key = ("clusters", name, "local")
    return [found._replace(key=(*key, *found.key)) for found in problems]
