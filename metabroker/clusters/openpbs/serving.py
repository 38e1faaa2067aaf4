"""Whether an OpenPBS server takes and runs our jobs, by what it says of itself, its queues and its
nodes: each thing that is not so has its own advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from metabroker.clusters.examination import CheckResults

from .commands import PbsIdentity
from .parsing import PbsNode
from .states import is_unsettled, takes_jobs

Attributes = Mapping[str, str]
_SERVER = "qstat -B -f -F json"
_MOST_NAMED = 8  # nodes


def is_on(has: Attributes, name: str, default: bool = False) -> bool:
    """A boolean attribute's value; it is not shown where it was never set."""
    return has.get(name, str(default)).lower() in ("true", "1")


def server(found: CheckResults, who: PbsIdentity, has: Attributes, host: str) -> None:
    """What the server allows. `host`: on which commands run."""
    if is_on(has, "scheduling", True):
        found.ok("scheduling", _SERVER, "the server's scheduling is on")
    else:
        found.miss(
            "scheduling", _SERVER, "the server's scheduling is off: no job starts",
            "`qmgr -c 'set server scheduling = True'`, and see that pbs_sched runs",
        )  # fmt: skip
    _submission(found, who, has, host)


def _submission(found: CheckResults, who: PbsIdentity, has: Attributes, host: str) -> None:
    """Whether jobs are taken from this host and account."""
    before = len(found.all)
    if is_on(has, "acl_host_enable") and not _listed(has.get("acl_hosts", ""), host):
        found.warn(
            "submission", _SERVER,
            f"acl_host_enable is on, and acl_hosts does not name this host ({host})",
            f"`qmgr -c 'set server acl_hosts += {host}'`",
        )  # fmt: skip
    if is_on(has, "acl_user_enable") and not _listed(has.get("acl_users", ""), who.user):
        found.warn(
            "submission", _SERVER,
            f"acl_user_enable is on, and acl_users does not name {who.user}",
            f"`qmgr -c 'set server acl_users += {who.user}'`",
        )  # fmt: skip
    if who.user == "root" and not _listed(has.get("acl_roots", ""), who.user):
        found.warn(
            "submission", _SERVER, "root may not submit: acl_roots does not name it",
            "run the daemon under its own account, or `qmgr -c 'set server acl_roots += "
            "root'`",
        )  # fmt: skip
    there = has.get("server_host", "")
    if there and not is_on(has, "flatuid") and _short(there) != _short(host):
        found.warn(
            "submission", _SERVER,
            f"flatuid is off, and this host ({host}) is not the server's ({there}): the server "
            "accepts jobs only from hosts that its /etc/hosts.equiv, or the account's .rhosts, "
            "names",
            "`qmgr -c 'set server flatuid = True'` where an account is the same on all hosts",
        )  # fmt: skip
    if len(found.all) == before:
        found.ok("submission", _SERVER, f"jobs of {who.user} from {host} are accepted")


def queue(found: CheckResults, name: str, has: Attributes) -> None:
    """Whether a queue takes jobs, and runs them."""
    tried = f"qstat -Q -f {name}"
    before = len(found.all)
    if not is_on(has, "enabled"):
        found.miss(
            "queue", tried, f"queue {name} is not enabled: it takes no jobs",
            f"`qmgr -c 'set queue {name} enabled = True'`",
        )  # fmt: skip
    if not is_on(has, "started"):
        found.miss(
            "queue", tried, f"queue {name} is not started: its jobs do not run",
            f"`qmgr -c 'set queue {name} started = True'`",
        )  # fmt: skip
    if len(found.all) == before:
        found.ok("queue", tried, f"queue {name} is enabled and started")


def nodes(found: CheckResults, ours: Sequence[PbsNode]) -> None:
    """Which nodes run no jobs, and why."""
    tried = "pbsnodes -a"
    down = [n.name for n in ours if "down" in n.states or is_unsettled(n.states)]
    offline = [n.name for n in ours if "offline" in n.states and n.name not in down]
    other = [n for n in ours if not takes_jobs(n.states) and n.name not in (*down, *offline)]
    usable = sum(takes_jobs(n.states) for n in ours)
    tell = found.warn if usable else found.miss
    if down:
        tell(
            "nodes", tried, f"{len(down)} of {len(ours)} vnodes are down: {_names(down)}",
            "start pbs_mom there, and see that the server reaches it",
        )  # fmt: skip
    if offline:
        tell(
            "nodes", tried,
            f"{len(offline)} of {len(ours)} vnodes are offline: {_names(offline)}",
            "an administrator has done that: `pbsnodes -r NODE` when they may run jobs again",
        )  # fmt: skip
    if other:
        states = Counter(",".join(node.states) for node in other)
        said = ", ".join(f"{count} {words}" for words, count in sorted(states.items()))
        tell(
            "nodes", tried, f"{len(other)} of {len(ours)} vnodes take no jobs: {said}",
            "see `pbsnodes -av` for their comments",
        )  # fmt: skip
    if usable == len(ours):
        found.ok("nodes", tried, f"all {usable} vnodes take jobs")


def reservability(has: Attributes, who: PbsIdentity, host: str) -> str:
    """What to do where this account may not reserve, by what the server says of that."""
    other = "or set `claim: placeholder` for this cluster"
    if not is_on(has, "resv_enable", True):
        return f"resv_enable is off: `qmgr -c 'set server resv_enable = True'`, {other}"
    for kind, value in (("user", who.operator or who.user), ("host", host), ("group", "ITS_GROUP")):
        listed = has.get(f"acl_resv_{kind}s", "")
        if is_on(has, f"acl_resv_{kind}_enable") and not _listed(listed, value):
            change = f"`qmgr -c 'set server acl_resv_{kind}s += {value}'`"
            return f"acl_resv_{kind}_enable is on: {change}, {other}"
    if (who.operator or who.user) == "root" and not _listed(has.get("acl_roots", ""), "root"):
        return f"root may not: `qmgr -c 'set server acl_roots += root'`, {other}"
    return (
        "see the server's resv_enable, acl_resv_users, acl_resv_groups and acl_resv_hosts (with "
        f"acl_resv_user_enable and so on), and the scheduler's log, {other}"
    )


def _listed(text: str, name: str) -> bool:
    """Whether an access list names it: `+alice@*,-bob,*.example.org`. What cannot be decided here
    (a pattern) counts as named."""
    entries = [entry.strip().lower() for entry in text.split(",") if entry.strip()]
    names = [entry.lstrip("+").partition("@")[0] for entry in entries if entry[0] != "-"]
    name = name.lower()
    wild = any(entry in ("*", "+") or "*" in entry for entry in names) or "+" in entries
    return wild or name in names or _short(name) in map(_short, names)


def _short(host: str) -> str:
    return host.partition(".")[0].lower()


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
