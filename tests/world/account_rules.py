"""What must be so where clusters act for users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.events import Refused
from metabroker.broker.job import Job
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref
from metabroker.clusters.simulated.model import State
from metabroker.clusters.transports.base import Command

from .accounts import UNLISTED, Accounts, named_in
from .asked import submitted
from .cluster import WorldCluster
from .controller import owner
from .oracle import Violation
from .scenario import ACCOUNT, DENIES, Fault, JobPlan

if TYPE_CHECKING:
    from .world import World

_SLOW = 200.0  # seconds from a look at `users` to the command, over stops and lost answers
_CALM = 200.0  # seconds without other faults, after which nobody is kept waiting for them
_TOLD_TO_END = {"over its time limit", "cancel", "results kept"}
_AGAIN = 60.0  # seconds in which who could run must have been started


# --- commands ---------------------------------------------------------------------------------


def under_its_account(world: World, cluster: WorldCluster, command: Command) -> None:
    """A job is submitted and ended as the account that it was submitted for.

    Raises:
        Violation: else.
    """
    argv, account = command.argv, command.account
    token = submitted(argv) or _cancelled(argv)
    wanted = _account(world, cluster, token)
    if wanted is not None and account != wanted:
        raise Violation(f"{argv[0]} for {token} as {account}, and not as {wanted}")
    if argv[0] == "qdel":
        numbers = {native_id.partition(".")[0] for native_id in argv[1:]}
        jobs = [job for job in cluster.model.jobs.values() if str(job.id) in numbers]
        if any(owner(job) != (account or "root") for job in jobs):
            raise Violation(f"qdel of {[job.name for job in jobs]} as {account}")


def _cancelled(argv: tuple[str, ...]) -> str:
    """The token whose jobs a command ends; "": none."""
    return argv[argv.index("-n") + 1] if argv[0] == "scancel" and "-n" in argv else ""


def submitted_in_time(world: World, cluster: WorldCluster, command: Command) -> None:
    """Nothing new is begun for a user whom the cluster's `users` do not list any more.

    Raises:
        Violation: else.
    """
    account = _account(world, cluster, submitted(command.argv))
    since = None if account is None else cluster.accounts.since(account, UNLISTED)
    if since is not None and world.now > since + _SLOW:
        raise Violation(f"{command.argv[0]} as {account}, who is listed no more since {since}")


def _account(world: World, cluster: WorldCluster, token: str) -> str | None:
    """Of a token's job there; None: it is not known."""
    ref = tokens.parse(world.store.instance, token)
    return None if ref is None else account_there(world, ref, cluster.plan.name)


def account_there(world: World, ref: Ref, cluster: str) -> str | None:
    """The account of a component's job in a cluster; None: the broker's own, or the store does not
    know it."""
    try:
        return world.back.store_of(ref).jobs.target(ref.job, cluster).account
    except KeyError:
        return None


# --- what is told -----------------------------------------------------------------------------


def discarded(world: World, ref: Ref) -> None:
    """The gate of a component counts as removed. Where its records are gone, another broker has
    removed them while this one was stopped: where the gate was is not known any more.

    Raises:
        Violation: it is still there.
    """
    if not any(cluster.accounts.acts for cluster in world.clusters):
        return
    if not world.back.store_of(ref).jobs.attempt(ref.job, ref.attempt):
        return
    cluster, gate = world.gate_of(ref)
    with cluster.files.mended():
        names = cluster.files.names(gate)
    late = {gate, *(f"{gate}/{name}" for name in names or ())} <= cluster.litter
    if cluster.accounts.acts and names is not None and not late:
        raise Violation(f"the gate of {ref} counts as removed, and has {names}")


def not_given_up(refused: Refused) -> None:
    """A step was refused.

    Raises:
        Violation: a component that others of its job may run without is not opened, since nobody
            may act for its account now. (P3)
    """
    if refused.step is Step.OPEN and named_in(refused.detail) is not None:
        raise Violation(f"P3: {refused.ref} is given up at its gate: {refused.detail}")


def not_closed(world: World, broker: Broker) -> None:
    """Accounts that are refused are a matter of their users: a cluster is closed to all only when
    several were. (Others may deny it for reasons of their own.)

    Raises:
        Violation: else.
    """
    other = {f.where for f in world.scenario.faults if f.what in (DENIES, "lossy")}
    for scope, suspension in broker._queues.refusals.suspensions.items():
        cluster = world.clusters[scope.cluster]
        named = named_in(suspension.detail)
        if named is None or cluster.plan.name in other or suspension.cause is not Cause.DENIED:
            continue
        users = {user for user, account in cluster.accounts.table.items() if account == named}
        if scope.user is not None and scope.user not in users:
            raise Violation(f"{scope.user} is kept from {cluster.plan.name}: {suspension.detail}")
        if scope.user is None and len(cluster.accounts.touched) < 2:
            raise Violation(f"{cluster.plan.name} is closed to all: {suspension.detail}")


class OthersWait:
    """While accounts are refused for long, and all else is well for a while, nobody waits but who
    has no room beside what these accounts' jobs may still hold."""

    def __init__(self, world: World) -> None:
        self._world = world
        ends = [f.at + f.lasts + 90.0 for f in world.scenario.faults if f.what != ACCOUNT]
        self._calm = world.now + max([240.0, *ends]) + _CALM
        self._due: set[float] = set()

    def begins(self, fault: Fault) -> None:
        """A trouble of an account's begins."""
        until = self._world.now + fault.lasts
        moment = max(self._calm, self._world.now + _CALM)
        while moment + _AGAIN < until:
            if moment not in self._due:
                self._due.add(moment)
                self._world.at(moment, self._look)
            moment += 4 * _AGAIN

    def _look(self) -> None:
        kept = self._kept()
        self._world.tally.add("looked who waits for others' accounts")
        if kept:
            self._world.at(self._world.now + _AGAIN, lambda: self._again(kept))

    def _again(self, before: set[tuple[int, int]]) -> None:
        kept = self._kept()
        if kept & before:
            job = min(kept & before)[0]
            raise Violation(f"accounts: job {job} waits, and only others' accounts are refused")

    def _kept(self) -> set[tuple[int, int]]:
        """Jobs (and their attempts) of users whose accounts are well that wait though all that wait
        could run; empty where one of theirs is under way."""
        world, life = self._world, self._world.life
        if life is None or life.loop.trouble is not None or life.host.stopped:
            return set()
        touched = set().union(*(c.accounts.touched for c in world.clusters))
        broker = life.engine.broker
        jobs = [j for j in broker.view.jobs.values() if j.state is not JobState.HELD]
        waiting = [j for j in jobs if j.state is JobState.QUEUED]
        if any(j.state is not JobState.QUEUED and j.user not in touched for j in jobs):
            return set()
        rooms = [_room(c, broker, index) for index, c in enumerate(world.clusters)]
        if not all(_fits(job, rooms) for job in waiting):
            return set()
        return {(job.id, job.attempt) for job in waiting if job.user not in touched}


def _room(cluster: WorldCluster, broker: Broker, index: int) -> int:
    """Processors beside what others have there, and what the broker claims."""
    jobs = cluster.model.jobs.values()
    foreign = sum(j.processors for j in jobs if j.state is State.RUNNING and "gate" not in j.extra)
    claimed = sum(part.claimed for part in broker.view.components(index))
    return max(0, cluster.model.processors - cluster.model.down - foreign - claimed)


def _fits(job: Job, rooms: list[int]) -> bool:
    sizes = job.request.sizes
    if job.request.clusters is None:
        if len(sizes) > len(rooms):
            return False
        largest = sorted(rooms, reverse=True)
        return all(a <= b for a, b in zip(sorted(sizes, reverse=True), largest, strict=False))
    return all(
        size <= rooms[where] for size, where in zip(sizes, job.request.clusters, strict=True)
    )


# --- the end ----------------------------------------------------------------------------------


def at_the_end(world: World, row: dict[str, Any], plan: JobPlan) -> None:
    """A job has ended: its reason names no account but its user's, and names that if it was refused
    for it; and what was told to have ended well is no failure.

    Raises:
        Violation: else.
    """
    tables: list[Accounts] = [c.accounts for c in world.clusters if c.accounts.acts]
    if not tables:
        return
    own = {accounts.table[plan.user] for accounts in tables}
    told = named_in(row["reason"] or "")
    if told is not None:
        world.tally.add(f"{row['state']} for an account")
    if told is not None and told not in own:
        raise Violation(f"job {row['id']} of {plan.user} is {row['state']}: {row['reason']}")
    events = [e for e in world.store.jobs.events(row["id"]) if e["attempt"] == row["attempt"]]
    known = {event["what"] for event in events}
    refused = [event["detail"]["why"] for event in events if event["what"] == "refused"]
    ends = [event["detail"] for event in events if event["what"] == "ended"]
    well = {end["component"] for end in ends if end["exit_code"] == 0}
    now = [part for part in row["components"] if part["attempt"] == row["attempt"]]
    parts = {part["component"] for part in now if part["processors"]}
    refs = [Ref(row["id"], row["attempt"], part["component"], part["term"]) for part in now]
    named = named_in(refused[-1]) if refused and not world.oracle.starts.keys() & refs else None
    if row["state"] == "FAILED" and named is not None and named not in row["reason"]:
        raise Violation(f"job {row['id']} was refused for {named}, and is FAILED: {row['reason']}")
    by_themselves = all(world.oracle.exits.get(ref) == 0 for ref in refs)
    failed = row["state"] in ("FAILED", "TIMEOUT") and not known & _TOLD_TO_END
    if parts and parts <= well and by_themselves and failed:
        raise Violation(f"job {row['id']} has ended well, and is {row['state']}: {row['reason']}")
