"""What an OpenPBS cluster lacks, or does otherwise than one would think."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence

from metabroker.clusters.command_errors import Garbled, answered
from metabroker.clusters.examination import COMMANDS, FAR, CheckResult, CheckResults
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import ClusterRefusal, ReserveRequest, UnknownOutcome

from . import commands, operations, parsing, serving
from .answers import UNKNOWN_QUEUE, failure
from .commands import PbsIdentity
from .entries import QUEUES, SERVERS, entries
from .parsing import PbsNode
from .snapshot import for_us
from .states import is_sole

_REACH = "see that pbs_server runs, and that PBS_CONF_FILE (`env`) names this cluster's pbs.conf"


def examine(who: PbsIdentity, now: float, *, reserves: bool) -> Operation[list[CheckResult]]:
    """Release, server, listing, clock, history, the right to reserve. `now`: the broker's clock,
    Unix seconds."""
    found, tried = CheckResults(), "qstat --version"
    # First of all: how long anything else takes is no matter of clocks.
    offset = yield from _offset(now)
    version = yield from found.attempt("version", tried, operations.release(), _REACH, COMMANDS)
    if version is None:
        return found.all
    found.ok("version", tried, version)
    look = operations.look(who, now, version)
    seen = yield from found.attempt("list", "qselect, pbsnodes, pbs_rstat", look, _REACH)
    if seen is None:
        return found.all
    ours = for_us(seen.nodes, who)
    if not ours:
        found.miss(
            "queue", "pbsnodes -a", "no node serves this queue",
            "correct `queue` or `chunk` of this cluster",
        )  # fmt: skip
        return found.all
    found.ok("list", "qselect, pbsnodes, pbs_rstat", f"{len(seen.nodes)} vnodes")
    serving.nodes(found, ours)
    _whole_nodes(found, who, ours)
    if offset is not None:
        found.clock("date", offset, "the clock of the host that runs the commands")
    host = (yield from command(commands.name_host())).stdout.strip()
    shown = yield from found.attempt("server", "qstat -B -f -F json", _shown(), _REACH)
    if shown is not None:
        serving.server(found, who, shown, host)
        _history(found, shown)
        yield from _queue(found, who.queue or shown.get("default_queue"))
    if reserves:
        what = "one node" if who.unit > 1 else "one processor"
        tried = f"pbs_rsub ({what}, in 30 days), pbs_rdel"
        advice = serving.reservability(shown or {}, who, host)
        made = yield from found.attempt("reserve", tried, _reserved(who, now), advice)
        if made is not None:
            found.ok("reserve", tried, "made and deleted")
    return found.all


def _whole_nodes(found: CheckResults, who: PbsIdentity, nodes: Sequence[PbsNode]) -> None:
    """Whether what jobs are given is what the configuration says."""
    tried = "pbsnodes: sharing"
    sizes: Counter[str] = Counter()
    for node in nodes:
        sizes[node.available.get("host", node.name)] += node.total
    largest = max(sizes.values())
    sole = sum(is_sole(node.sharing) for node in nodes)
    if who.unit == 1 and sole:
        found.warn(
            "whole nodes", tried,
            f"{sole} of {len(nodes)} vnodes are allocated whole to each job (sharing = "
            "default_excl, "
            "default_exclhost, force_excl or force_exclhost)",
            f"set `whole_nodes: {largest}` for this cluster, so that requests are rounded up",
        )  # fmt: skip
    elif who.unit > 1 and who.unit != largest:
        found.warn(
            "whole nodes", tried, f"the largest node has {largest} processors, not {who.unit}",
            f"set `whole_nodes: {largest}` for this cluster",
        )  # fmt: skip
    elif who.unit > 1 and not sole:
        found.warn(
            "whole nodes", tried,
            "jobs share nodes unless they ask for whole nodes, as the broker's jobs do here",
            "remove `whole_nodes` of this cluster, unless its jobs should have whole nodes: it "
            "makes them wait for more than they need",
        )  # fmt: skip
    elif who.unit > 1:
        found.ok("whole nodes", tried, f"requests are rounded up to nodes of {who.unit}")


def _offset(now: float) -> Operation[float | None]:
    """How far the clock of the commands' host is ahead, in seconds; None: it does not say."""
    try:
        return (yield from answered(operations.time_there())) + 0.5 - now
    except (ClusterRefusal, UnknownOutcome):
        return None  # whether it answers at all is seen next


def _history(found: CheckResults, has: Mapping[str, str]) -> None:
    tried = "qstat -B -f -F json"
    if serving.is_on(has, "job_history_enable"):
        found.ok("ended jobs", tried, "job_history_enable is on")
    else:
        found.warn(
            "ended jobs", tried, "job_history_enable is off",
            "`qmgr -c 'set server job_history_enable = True'`: without it PBS forgets a job as "
            "soon as it ends, and only its own record tells how it ended",
        )  # fmt: skip


def _shown() -> Operation[Mapping[str, str]]:
    """The server's attributes."""
    done = yield from command(commands.show_server())
    if done.exit_status != 0:
        raise failure(done, "qstat -B")
    return next(iter(entries(done.stdout, SERVERS).values()), {})


def _queue(found: CheckResults, name: str | None) -> Operation[None]:
    """The queue that jobs go to."""
    if name is None:
        found.miss(
            "queue", "qstat -B -f -F json", "the server has no default_queue",
            "name a `queue` of this cluster",
        )  # fmt: skip
        return
    done = yield from command(commands.show_queue(name))
    if done.exit_status == UNKNOWN_QUEUE:
        advice = "correct `queue` of this cluster (`qstat -Q` lists them)"
        found.miss("queue", f"qstat -Q -f {name}", f"there is no queue {name}", advice)
    elif done.exit_status == 0:
        try:
            has = entries(done.stdout, QUEUES).get(name, {})
        except Garbled:
            return
        serving.queue(found, name, has)


def _reserved(who: PbsIdentity, now: float) -> Operation[bool]:
    request = ReserveRequest(f"mb-doctor-{secrets.token_hex(3)}", 1, 60)
    done = yield from command(commands.reserve(who, request, now + FAR, 10))
    if done.exit_status != 0:
        raise failure(done, "pbs_rsub")
    identity, word = parsing.confirmation(done.stdout)
    yield from operations.delete([identity])
    if word != "CONFIRMED":
        raise UnknownOutcome(f"pbs_rsub: {word}: the scheduler did not confirm it")
    return True
