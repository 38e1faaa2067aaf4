"""The world: time, users, faults, the broker's lives, and the oracle that watches."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.clusters.file_transfer import work_folder
from metabroker.clusters.gate.positions import known
from metabroker.runtime.cluster_accounts import Users
from metabroker.runtime.requests import RequestBuilder
from metabroker.store.rows import ClusterNames

from .account_rules import OthersWait
from .accounts import placed
from .administrator import Administrator
from .arrays import too_many
from .befalling import befall
from .cluster import WorldCluster
from .committed import not_committed
from .cut_short import ends_with_its_reservation
from .dependencies import too_early
from .ended_for_nothing import is_to_end
from .ending import at_rest, at_the_end
from .errors import no_error_of_its_own
from .files import ClusterFiles
from .home import HomeFiles, inputs
from .host import Host
from .joining import Joining, too_soon
from .keeping import WorldArchive
from .letters import Letters, Post, quiet
from .life import Life
from .network import Network
from .oracle import Oracle, Violation
from .requests import settings_of
from .rolled_back import RolledBack
from .scenario import (
    BROKERS,
    DATABASE_CLOCK,
    DRAIN,
    FULL,
    HOME,
    MEETS,
    POWER,
    ROLLBACK,
    SPAN,
    TROUBLE,
    Fault,
    Scenario,
    Tally,
)
from .step_times import StepTimes
from .stores import WorldStore
from .users import Users as WorldUsers
from .virtual import installed

START = 1_800_000_000.0
HEALED_BOUND = 6 * 3600.0  # virtual seconds after the last fault in which everything must end
CLEAN_BOUND = 60.0  # P4


class World:
    """One scenario, played."""

    def __init__(self, scenario: Scenario, store: WorldStore, tally: Tally) -> None:
        self.scenario = scenario
        self.lives = 0  # of brokers that have led
        self.tally = tally
        self.now = self.began = START
        self.rng = random.Random(f"{scenario.seed} fates")
        self.network = Network(self, self.rng)
        self.store = store
        self._armed: dict[str, Fault] = {}  # "crash" and "stop", that wait for their moment
        self._instant = 0
        self.claim = ""  # of the broker that leads, by the database
        self.database_ahead = 0.0
        self.clocks_right = scenario.brokers == 1
        store.now = lambda: self.now + self.database_ahead
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self.story: list[str] = []
        self.oracle = Oracle(
            store.instance,
            self.siblings,
            self._gate_position,
            self._held,
            self._ending,
            self._has_files,
            self._wanted,
        )
        self.letters = Letters(store.instance, partial(quiet, self), self.oracle.running)
        self.post = Post(random.Random(f"{scenario.seed} post"))
        given = (self, self.oracle, self.letters)
        self.clusters = [
            WorldCluster(plan, random.Random(f"{scenario.seed} {plan.name}"), *given)
            for plan in scenario.clusters
        ]
        self.by_name = {cluster.plan.name: cluster for cluster in self.clusters}
        self.settings = settings_of(scenario, store.instance)
        self.others_wait = OthersWait(self)
        self.names = ClusterNames([c.plan.name for c in self.clusters])
        self.hosts = [Host(self, i, scenario.brokers) for i in range(scenario.brokers)]
        self.users = WorldUsers(self)
        self.joining = Joining()
        self.step_times = StepTimes()
        self.administrator = Administrator(self)
        self.archive = WorldArchive()
        self._store_until = self._home_until = self.last_fault = 0.0
        self._store_full = False
        self.home = HomeFiles(lambda: self.now, lambda: self.now < self._home_until)
        for index, job in enumerate(scenario.jobs):
            if job.sends:
                self.home.holds(inputs(index))
        for cluster in self.clusters:
            cluster.files.fate = partial(self.network.step_fate, cluster)
            cluster.cut_short = partial(ends_with_its_reservation, self)
            cluster.controller.cancels = partial(is_to_end, self, cluster)
        self.back = RolledBack(self)

    # --- time ---------------------------------------------------------------------------------

    def at(self, time: float, what: Callable[[], None]) -> None:
        """Do something at a moment."""
        self._count += 1
        heapq.heappush(self._queue, (max(time, self.now), self._count, what))

    def tell(self, text: str) -> None:
        """A line of the story."""
        self.story.append(f"{self.now - START:9.3f} {text}")

    def run(self) -> None:
        """Play it to the end.

        Raises:
            Violation: a promise was broken.
        """
        Violation.found.clear()
        with installed(self.network.rest), no_error_of_its_own():
            try:
                self._play()
            finally:
                for host in self.hosts:
                    host.end()
        gone = self.archive.put_back(self.store)
        self.tally.add("jobs put back", len(gone))
        self.home.lose_power()  # what was reported has been there for good
        at_the_end(self, gone)

    def _play(self) -> None:
        for index, plan in enumerate(self.scenario.jobs):
            self.at(START + plan.at, partial(self.users.submit, index))
        for fault in self.scenario.faults:
            self.at(START + fault.at, partial(self.fault, fault))
            self.last_fault = max(self.last_fault, fault.at + fault.lasts)
        # A crash may bring more trouble, when it comes (see `crash`).
        self.last_fault = START + max(self.last_fault, SPAN) + 100.0
        self.at(self.last_fault + 1, self._heal)
        for cluster in self.clusters:
            cluster.lodge(START + SPAN / 2)
        for host in self.hosts:
            host.begin()
        for cluster in self.clusters:
            self._beat(cluster)
        done_since: float | None = None
        while self._queue:
            time, _, what = heapq.heappop(self._queue)
            self._instant = self._instant + 1 if time == self.now else 0
            if self._instant > 20_000:
                raise Violation("liveness: the broker is busy for ever in one instant")
            self.now = time
            what()
            if Violation.found:
                raise Violation.found[0]
            if self.now > self.last_fault + 1 and self._all_ended():
                done_since = self.now if done_since is None else done_since
                if self.now > done_since + CLEAN_BOUND and self.life is not None:
                    at_rest(self, self.life)
                    break
            else:
                done_since = None
            if self.now > self.last_fault + HEALED_BOUND:
                raise Violation(f"liveness: not ended: {self._unfinished()}")

    def _beat(self, cluster: WorldCluster) -> None:
        cluster.step()
        if cluster.model.held_by_jobs() > cluster.model.processors:
            raise Violation(f"{cluster.plan.name} uses more processors than it has")
        self.at(self.now + (1.0 if cluster.active else 5.0), lambda: self._beat(cluster))

    # --- the brokers' lives -------------------------------------------------------------------

    @property
    def life(self) -> Life | None:
        """The life of the broker that leads, by the database's word."""
        if self.hosts[0].alone:
            return self.hosts[0].life
        return next((h.life for h in self.hosts if h.life and h.claims()), None)

    def moment(self, host: Host, *names: str) -> bool:
        """A broker has come to a moment of these names. Whether it has died of that."""
        crash, stop = self._armed.get("crash"), self._armed.get("stop")
        trouble, copied = self._armed.get(TROUBLE), self._armed.get(ROLLBACK)
        if trouble is not None and trouble.how in names:
            del self._armed[TROUBLE]
            self._in_trouble(trouble)
        if copied is not None and copied.then in names:
            self.back.fault(copied)
        if stop is not None and stop.how in names:
            del self._armed["stop"]
            host.stop(stop)
        if crash is not None and crash.how in names:
            del self._armed["crash"]
            host.crash(crash, crash.how)
            return True
        return False

    def awaited(self, what: str) -> Fault | None:
        """The crash, or stop, that waits for its moment."""
        return self._armed.get(what)

    def _victim(self) -> Host:
        """The broker that something happens to: most often the one that leads."""
        if self.hosts[0].alone:
            return self.hosts[0]
        life = self.life
        if life is not None and self.rng.random() < 0.75:
            return life.host
        return self.rng.choice(self.hosts)

    def store_trouble(self) -> str:
        """What is wrong with the store: "before" or "after" it has done something."""
        if self.now < self._store_until:
            self.tally.add("fault store")
            return "before" if self._store_full else self.rng.choice(("before", "before", "after"))
        return ""

    # --- faults -------------------------------------------------------------------------------

    def fault(self, fault: Fault) -> None:
        """Something goes wrong."""
        what = fault.what
        self.tell(f"fault: {what} {fault.where} {fault.lasts or ''}")
        if what == ROLLBACK and fault.then:
            self._armed[what] = fault
        elif what == ROLLBACK:
            self._armed.pop(what, None)
            self.back.fault(fault)
        elif what == DRAIN:
            self.administrator.drain(self.names.index(fault.where) or 0, self.now + fault.lasts)
        elif what in ("crash", POWER) or what in BROKERS:
            self._broker_fault(fault)
        elif what in (TROUBLE, HOME, DATABASE_CLOCK):
            self._store_fault(fault)
        else:
            befall(self, self.by_name[fault.where], fault)

    def _broker_fault(self, fault: Fault) -> None:
        """A broker dies, is stopped, cut off from the database, or ends and is started again."""
        kind = "crash" if fault.what == POWER else fault.what
        if kind in ("crash", "stop") and fault.how not in ("", "now", "slip", MEETS):
            self._armed[kind] = fault
            return
        host = self._victim()
        if kind == "crash":
            self._armed.pop("crash", None)
        if not host.up:
            return
        if kind == "crash":
            if host.life is not None or not host.alone:
                host.crash(fault, "now")
        elif fault.what == "handover":
            host.hand_over(fault)
        elif fault.what == "cut":
            host.cut_until, host.cut_how = self.now + fault.lasts, fault.how
        elif fault.how in ("slip", MEETS):
            host.slip = fault
        else:
            host.stop(fault)

    def _store_fault(self, fault: Fault) -> None:
        """The broker's own store cannot be written, or the folder of those who submit; or its
        clock is set."""
        if fault.what == DATABASE_CLOCK:
            self.database_ahead += float(fault.how)
            self.tally.add("fault database clock")
        elif fault.what == HOME:
            self._home_until = self.now + fault.lasts
            self.tally.add("fault home")
        elif fault.how:
            self._armed[TROUBLE] = fault
        else:
            self._in_trouble(fault)

    def _in_trouble(self, fault: Fault) -> None:
        self.tell("the store cannot be written")
        self._store_until = self.now + fault.lasts
        self._store_full = fault.then == FULL

    def _heal(self) -> None:
        """No faults from now on; what is held is released."""
        self.tell("all is well from now on")
        self._armed.clear()
        for host in self.hosts:
            host.slip = None
        if self.life is not None:
            for job in list(self.life.engine.broker.view.jobs.values()):
                if job.state is JobState.HELD:
                    self.users.act("release", job.id)
        if not self._all_ended():
            self.at(self.now + 60, self._heal)

    # --- what the oracle asks -----------------------------------------------------------------

    def siblings(self, ref: Ref) -> list[Ref]:
        rows = self.back.store_of(ref).jobs.attempt(ref.job, ref.attempt)
        if rows and rows[0]["single"]:
            return [ref]
        return [Ref(ref.job, ref.attempt, row["component"], row["term"]) for row in rows]

    def listed(self) -> Users:
        """Whom the clusters that act for users list now."""
        acting = [cluster for cluster in self.clusters if cluster.accounts.acts]
        return {c.plan.name: c.accounts.users(c.plan.name) for c in acting}

    def gate_of(self, ref: Ref) -> tuple[WorldCluster, str]:
        """The component's cluster, and where its gate is there."""
        store = self.back.store_of(ref)
        builder = RequestBuilder(store, self.settings, _row(store, ref)["cluster"])
        return self.by_name[builder.cluster], placed(builder.gate(ref) or "", builder.account(ref))

    def _gate(self, ref: Ref) -> tuple[ClusterFiles, str]:
        cluster, gate = self.gate_of(ref)
        return cluster.files, gate

    def _gate_position(self, ref: Ref) -> str | None:
        if not self.back.store_of(ref).jobs.attempt(ref.job, ref.attempt):
            return None  # its job has ended, and is in the archive
        files, gate = self._gate(ref)
        with files.mended():
            names = {known(name) for name in files.names(gate) or ()}
        position = next((p for p in ("run", "abort", "go", "armed", "wait") if p in names), None)
        return f"{position} and ready" if "ready" in names else position

    def _has_files(self, ref: Ref) -> bool:
        """Whether all that its job sends is in the component's work folder."""
        plans, known = self.scenario.jobs, self.users.acknowledged
        sent = [index for index, job in known.items() if job == ref.job and plans[index].sends]
        if not sent:
            return True
        wanted = inputs(sent[-1])
        files, gate = self._gate(ref)
        with files.mended():
            found = {name: files.read(f"{work_folder(gate)}/{name}") for name in wanted}
        return found == wanted

    def _wanted(self, ref: Ref) -> bool:
        """Whether its user still wants it to start, and not later."""
        for rule in (too_early, too_many, too_soon, not_committed):
            if early := rule(self, ref):
                raise Violation(early)
        return self.users.wants(ref)

    def _held(self, ref: Ref) -> bool:
        """Whether a component has the reservation that it should have."""
        row = _row(self.back.store_of(ref), ref)
        cluster = self.by_name[row["cluster"]]
        token = tokens.make(self.store.instance, ref)
        needed = cluster.plan.reserves and not row["single"]
        return not needed or cluster.holds(token, row["processors"])

    def _ending(self, ref: Ref) -> bool:
        """Whether the component's attempt is over, or is being ended, by what is written."""
        (row,) = self.back.store_of(ref).jobs.rows(ids=[ref.job])
        running = row["state"] == JobState.RUNNING.value and row["attempt"] == ref.attempt
        return not running or row["goal"] is not None

    def _all_ended(self) -> bool:
        life = self.life
        if life is None or not self.users.all_answered:
            return False
        return not life.engine.broker.view.jobs and not life.engine.broker.view.pending_steps

    def _unfinished(self) -> str:
        if self.life is None:
            return "no daemon"
        broker = self.life.engine.broker
        jobs = [f"job {j.id} {j.state.value} {j.reason}" for j in broker.view.jobs.values()]
        return "; ".join(jobs) + f"; {broker.view.pending_steps} owed"


def _row(store: WorldStore, ref: Ref) -> dict[str, Any]:
    """What the store has of a component."""
    rows = store.jobs.attempt(ref.job, ref.attempt)
    return next(row for row in rows if row["component"] == ref.component)
