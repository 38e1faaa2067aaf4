"""What an OpenPBS cluster lacks, or does otherwise than one would think."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any

from metabroker.clusters.findings import Finding, Findings
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import Doubt, ReserveOrder

from . import commands, operations, parsing
from .answers import failure
from .commands import Account
from .parsing import Node
from .snapshot import for_us
from .states import is_sole

_FAR = 30 * 86400  # seconds: a reservation that is made only to see whether it may be
_MOST_OFFSET = 2.0  # seconds
_COMMANDS = "install this cluster's client commands, and set `bin` or PATH in `env`"
_REACH = "see that pbs_server runs, and that PBS_CONF_FILE (`env`) names this cluster's pbs.conf"
_RESERVE = (
    "see the server's acl_resv_user, acl_resv_group and acl_resv_host (and acl_roots for root), or "
    "set `claim: placeholder` for this cluster"
)


def examine(who: Account, now: float, *, reserves: bool) -> Operation[list[Finding]]:
    """Release, server, listing, clock, history, the right to reserve. `now`: the broker's clock,
    Unix seconds."""
    found, tried = Findings(), "qstat --version"
    version = yield from found.attempt("version", tried, operations.identify(), _REACH, _COMMANDS)
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
            "queue", "pbsnodes -a", "no node is for this queue",
            "correct `queue` or `chunk` of this cluster",
        )  # fmt: skip
        return found.all
    found.ok("list", "qselect, pbsnodes, pbs_rstat", f"{len(seen.nodes)} vnodes")
    _nodes(found, who, ours)
    yield from _server(found, now)
    if reserves:
        what = "one node" if who.unit > 1 else "one processor"
        tried = f"pbs_rsub ({what}, in 30 days), pbs_rdel"
        made = yield from found.attempt("reserve", tried, _reserved(who, now), _RESERVE)
        if made is not None:
            found.ok("reserve", tried, "made and deleted")
    return found.all


def _nodes(found: Findings, who: Account, nodes: Sequence[Node]) -> None:
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
            f"{sole} of {len(nodes)} vnodes are given whole to each job (sharing = default_excl, "
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
            "nodes are shared by jobs unless these ask for whole ones, as the broker's do here",
            "leave out `whole_nodes` of this cluster, unless its jobs are to have whole nodes: it "
            "makes them wait for more than they need",
        )  # fmt: skip
    elif who.unit > 1:
        found.ok("whole nodes", tried, f"requests are rounded up to nodes of {who.unit}")


def _server(found: Findings, now: float) -> Operation[None]:
    tried = "qstat -B -f -F json"
    shown = yield from found.attempt("server", tried, _shown(), _REACH)
    if shown is None:
        return
    offset = float(shown.get("timestamp", now)) + 0.5 - now
    if abs(offset) - 0.5 > _MOST_OFFSET:
        words = f"the clock of the commands' host differs by {offset:+.0f} s"
        found.warn("clock", tried, words, "let all hosts keep time by NTP")
    else:
        found.ok("clock", tried, "the same within 2 s")
    servers: dict[str, dict[str, Any]] = shown.get("Server", {})
    history = any(str(s.get("job_history_enable", "")).lower() == "true" for s in servers.values())
    if history:
        found.ok("ended jobs", tried, "job_history_enable is on")
    else:
        found.warn(
            "ended jobs", tried, "job_history_enable is off",
            "`qmgr -c 'set server job_history_enable = True'`: without it a job that ends is "
            "forgotten at once, and only its own record tells how",
        )  # fmt: skip


def _shown() -> Operation[dict[str, Any]]:
    done = yield from command(commands.show_server())
    if done.exit_status != 0:
        raise failure(done, "qstat -B")
    try:
        shown = json.loads(done.stdout)
    except ValueError as error:
        raise Doubt(f"qstat -B: its JSON cannot be read: {error}") from error
    return shown if isinstance(shown, dict) else {}


def _reserved(who: Account, now: float) -> Operation[bool]:
    order = ReserveOrder(f"mb-doctor-{secrets.token_hex(3)}", 1, 60)
    done = yield from command(commands.reserve(who, order, now + _FAR, 10))
    if done.exit_status != 0:
        raise failure(done, "pbs_rsub")
    identity, word = parsing.confirmation(done.stdout)
    yield from operations.delete([identity])
    if word != "CONFIRMED":
        raise Doubt(f"pbs_rsub: {word}: the scheduler did not confirm it")
    return True
