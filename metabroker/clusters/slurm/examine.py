"""What a Slurm cluster lacks, or does otherwise than one would think."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from metabroker.clusters.examination import COMMANDS, FAR, CheckResult, CheckResults
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.transports.base import Command, first_line

from . import commands, operations
from .commands import SlurmIdentity
from .operations import told
from .parsing import NodeLine
from .system_cores import keeps, left_for_jobs, without

OLDEST, NEWEST = (22, 5), (26, 5)
"""The releases that are tested."""
_REACH = "see that slurmctld runs, and that SLURM_CONF (`env`) names this cluster's slurm.conf"
_RESERVE = (
    "only Slurm operators may reserve: `sacctmgr modify user where name={user} set "
    "adminlevel=operator`, or set `claim: placeholder` for this cluster"
)


def examine(
    who: SlurmIdentity, now: float, *, reserves: bool, least_age: float
) -> Operation[list[CheckResult]]:
    """Release, controller, listing, clock, what is remembered, whole nodes, the right to reserve.

    `now`: the broker's clock, Unix seconds; `least_age`: seconds for which ended jobs must be
    remembered.
    """
    found = CheckResults()
    if not (yield from _release(found)):
        return found.all
    look = operations.look(who, now, "mb-", "known")
    seen = yield from found.attempt(
        "list", "squeue, sinfo, scontrol show reservation", look, _REACH
    )
    if seen is None:
        return found.all
    nodes = [n for n in seen.nodes if who.partition is None or n.partition == who.partition]
    if not nodes:
        found.miss(
            "partition", "sinfo", f"no node belongs to partition {who.partition}",
            "correct `partition` of this cluster: `sinfo` shows them",
        )  # fmt: skip
        return found.all
    found.ok("list", "squeue, sinfo, scontrol", f"{len({n.name for n in nodes})} nodes")
    linear = yield from _settings(found, now, least_age)
    exclusive, keeping = yield from _partition(found, who)
    if keeping and not linear:
        nodes = yield from _system_cores(found, keeping, nodes)
    _nodes(found, who, nodes, whole=linear or exclusive)
    if reserves:
        yield from _reserving(found, who)
    return found.all


def _release(found: CheckResults) -> Operation[bool]:
    tried = "sinfo --version"
    done = yield from found.attempt("version", tried, told(commands.version()), _REACH, COMMANDS)
    if done is None:
        return False
    said = first_line(done.stdout)
    release = re.search(r"(\d+)\.(\d+)", said)
    if release is None:
        found.miss("version", tried, said, COMMANDS)
        return False
    number = (int(release[1]), int(release[2]))
    if OLDEST <= number <= NEWEST:
        found.ok("version", tried, said)
    else:
        tested = f"{OLDEST[0]}.{OLDEST[1]:02} to {NEWEST[0]}.{NEWEST[1]:02}"
        found.warn("version", tried, said, f"releases {tested} are tested: try a job first")
    return True


def _settings(found: CheckResults, now: float, least_age: float) -> Operation[bool]:
    """Clock and memory; answers whether jobs are given whole nodes."""
    tried = "scontrol show config"
    done = yield from found.attempt("settings", tried, told(commands.show_settings()), _REACH)
    if done is None:
        return False
    said = dict(re.findall(r"^(\w+)\s*= (.*)$", done.stdout, re.MULTILINE))
    time = re.match(r"Configuration data as of (\d+)", done.stdout)
    if time is not None:
        found.clock(tried, int(time[1]) + 0.5 - now, "the controller's clock")
    age = re.match(r"(\d+) sec", said.get("MinJobAge", ""))
    if age is not None and 0 < int(age[1]) < least_age:
        found.warn(
            "ended jobs", tried, f"MinJobAge is {age[1]} s",
            f"set MinJobAge in slurm.conf to at least {least_age:g}: of a job that slurmctld "
            "forgets between two polls only its own record is left",
        )  # fmt: skip
    else:
        found.ok("ended jobs", tried, f"MinJobAge {said.get('MinJobAge', 'unknown')}")
    return bool(said.get("SelectType", "").strip() == "select/linear")


def _nodes(
    found: CheckResults, who: SlurmIdentity, nodes: Sequence[NodeLine], *, whole: bool
) -> None:
    """Whether what is given to jobs is what the configuration says."""
    tried, largest = "SelectType, OverSubscribe", max(node.total for node in nodes)
    if whole and who.unit != largest:
        found.warn(
            "whole nodes", tried, f"jobs are given whole nodes, of {largest} processors at most",
            f"set `whole_nodes: {largest}` for this cluster, so that requests are rounded up",
        )  # fmt: skip
    elif whole:
        found.ok("whole nodes", tried, f"requests are rounded up to nodes of {who.unit}")
    elif who.unit > 1:
        found.warn(
            "whole nodes", tried, "jobs are given processors one by one",
            "remove `whole_nodes` of this cluster: it makes jobs wait for more than they need",
        )  # fmt: skip


def _partition(found: CheckResults, who: SlurmIdentity) -> Operation[tuple[bool, str]]:
    """Whether it is up; answers whether jobs are given whole nodes there, and its name if these
    keep cores for the system."""
    exclusive, keeping = False, ""
    asked = ("scontrol", "-o", "show", "partition", *((who.partition,) if who.partition else ()))
    done = yield from found.attempt("partition", " ".join(asked), told(Command(asked)), _REACH)
    lines = [] if done is None else done.stdout.splitlines()
    ours = [line for line in lines if who.partition is not None or " Default=YES " in line]
    for line in ours:
        words = dict(word.partition("=")[::2] for word in line.split())
        name = words.get("PartitionName", "?")
        if words.get("OverSubscribe", "").startswith("EXCLUSIVE"):
            exclusive = True
        keeping = name if keeps(line) else keeping
        if words.get("State", "UP") != "UP":
            advice = f"`scontrol update partitionname={name} state=up`"
            found.miss("partition", " ".join(asked), f"{name} is {words['State']}", advice)
        else:
            found.ok("partition", " ".join(asked), f"{name} is up")
    return exclusive, keeping


def _system_cores(
    found: CheckResults, partition: str, nodes: list[NodeLine]
) -> Operation[list[NodeLine]]:
    """Tell that some of the nodes' processors do not count; answers with the nodes without them."""
    tried = "scontrol show node"
    told = yield from found.attempt("system cores", tried, left_for_jobs(partition), _REACH)
    if told is None:
        return nodes
    left = without(nodes, told[0], 1)
    kept = sum(n.total for n in nodes) - sum(n.total for n in left)
    said = f"{kept} processors are kept for the system (CoreSpecCount): they do not count"
    found.ok("system cores", tried, said)
    return left


def _reserving(found: CheckResults, who: SlurmIdentity) -> Operation[None]:
    tried = "scontrol create reservation (one core, in 30 days), delete"
    made = yield from found.attempt(
        "reserve", tried, _reserved(who), _RESERVE.format(user=who.user)
    )
    if made is not None:
        found.ok("reserve", tried, "made and deleted")


def _reserved(who: SlurmIdentity) -> Operation[bool]:
    name = f"mb-doctor-{secrets.token_hex(4)}"
    start, cores = f"now+{FAR}seconds", 1 if who.unit == 1 else None
    try:
        yield from told(commands.create_reservation(who, name, 60, 1, cores, start))
    finally:
        yield from command(commands.delete_reservation(name))
    return True
