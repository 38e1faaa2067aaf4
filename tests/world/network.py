"""The way between brokers and clusters: what becomes of commands, and how long things take."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from metabroker.broker.effects import Arm, Discard, Fetch, Open, PendingEffect, Stage
from metabroker.clusters.transports.base import Command, CommandLost, Completed, Unreached

from . import openpbs
from .cluster import WorldCluster
from .controller import denial, refusal
from .scenario import CLINGS, DENIES, HOST, LATE, TWICE, UNHEARD, Fault

if TYPE_CHECKING:
    from .world import World

COMMAND_TIMEOUT = 8.0
_FAR = 0.4  # of the clusters have their commands run elsewhere
_DELETES = {"delete", "pbs_rdel"}

_UNREACHABLE = Completed(1, "", "error: Unable to contact slurm controller (connect failure)\n")


class Network:
    """Carries commands, in a world full of faults."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng

    def send(self, cluster: WorldCluster, command: Command, reply: Callable[[Any], None]) -> None:
        """A command goes to a cluster; `reply` gets what it says, or the exception it ends in."""
        latency = self._rng.uniform(0.002, 0.05)
        arrives = self._world.now + latency
        lost = CommandLost(f"{command.argv[0]}: no answer")
        fate = self._fate(cluster, command)

        def execute(answer: bool, garble: bool = False) -> None:
            done = self._carry_out(cluster, command, answer)
            if garble:
                cut = self._rng.randint(0, max(0, len(done.stdout) - 1))
                done = Completed(done.exit_status, done.stdout[:cut], done.stderr)
                cluster.asked.cut(command, done)
            if answer:
                self._world.at(self._world.now + latency, lambda: reply(done))

        if fate == "down":
            away = self._away(cluster)
            self._world.at(arrives, lambda: reply(away))
        elif fate == "frozen":
            thaw = cluster.until["frozen"] + self._rng.uniform(0, 1)
            if thaw < self._world.now + COMMAND_TIMEOUT:
                self._world.at(thaw, lambda: execute(True))
            else:
                self._world.at(thaw, lambda: execute(False))
                self._world.at(self._world.now + COMMAND_TIMEOUT, lambda: reply(lost))
        elif fate in ("denied", "refused"):
            no = self._refused(cluster, command, denied=fate == "denied")
            self._world.at(arrives, lambda: reply(no or cluster.execute(command)))
        elif fate == "much later":
            self._much_later(cluster, lambda: execute(False), lambda: reply(lost))
        elif fate in ("lost request", "lost reply", "late"):
            self._world.at(self._world.now + COMMAND_TIMEOUT, lambda: reply(lost))
            if fate != "lost request":
                late = self._rng.choice((9.0, 30.0, self._rng.uniform(5, 150)))
                when = arrives if fate == "lost reply" else self._world.now + late
                self._late(when, lambda: execute(False))
        elif fate in ("repeat", TWICE):
            self._world.at(arrives, lambda: execute(True))
            again = self._rng.uniform(0, 1 if fate == TWICE else 60)
            self._late(arrives + again, lambda: self._again(cluster, command))
        else:
            self._world.at(arrives, lambda: execute(True, fate == "garbled"))

    def _late(self, when: float, carry_out: Callable[[], None]) -> None:
        """What nobody waits for any more is carried out; the world does not end before that."""
        self._world.at(when, carry_out)
        self._world.last_fault = max(self._world.last_fault, when)

    def _carry_out(self, cluster: WorldCluster, command: Command, answer: bool) -> Completed:
        if not answer:
            cluster.others_waiting.unanswered(self._world.now)
        return cluster.execute(command)

    def _again(self, cluster: WorldCluster, command: Command) -> None:
        """It is carried out a second time, though it was answered. A reservation that is made so
        may be of another size than the one that the broker has looked at."""
        there = set(cluster.model.reservations)
        self._carry_out(cluster, command, False)
        if cluster.suffers("missized"):
            cluster.disturbed |= set(cluster.model.reservations) - there

    def host_is_away(self, cluster: WorldCluster) -> bool:
        """Whether the host on which commands run cannot be reached."""
        return cluster.suffers("down") and isinstance(self._away(cluster), Unreached)

    def _away(self, cluster: WorldCluster) -> Completed | Unreached:
        """What one hears of a controller that is down; or of the host on which commands run, if
        that cannot be reached either."""
        drawn = random.Random(f"{self._world.scenario.seed} {cluster.plan.name}").random()
        if drawn < _FAR or cluster.how.get("down") == HOST:
            return Unreached(f"{cluster.plan.name}: no route to host")
        pbs = isinstance(cluster.controller, openpbs.Server)
        return openpbs.UNREACHABLE if pbs else _UNREACHABLE

    @staticmethod
    def _refused(
        cluster: WorldCluster, command: Command, *, denied: bool = False
    ) -> Completed | None:
        pbs = isinstance(cluster.controller, openpbs.Server)
        if denied:
            return (openpbs.denial if pbs else denial)(command, cluster.how[DENIES])
        return openpbs.refusal(command) if pbs else refusal(command)

    def _much_later(
        self, cluster: WorldCluster, carry_out: Callable[[], None], unanswered: Callable[[], None]
    ) -> None:
        """One command is carried out when nobody waits for it any more; soon after that its cluster
        loses requests, at times."""
        cluster.until[LATE], clings = 0.0, cluster.how[LATE] == CLINGS
        when = self._world.now + self._rng.uniform(30, 400)
        self._world.at(self._world.now + COMMAND_TIMEOUT, unanswered)
        self._world.at(when, carry_out)
        self._world.last_fault = max(self._world.last_fault, when + 60)
        if clings:
            self._world.at(when, lambda: cluster.until.update({CLINGS: when + 60}))
        elif self._rng.random() < 0.7:
            lossy = Fault(0.0, "lossy", cluster.plan.name, self._rng.uniform(10, 60))
            self._world.at(when, partial(self._world.fault, lossy))

    def gate_latency(self, effect: PendingEffect) -> float:
        """What is done at gates takes its time too: little, or in a lossy world any."""
        if not isinstance(effect, Arm | Open | Discard | Stage | Fetch):
            return 0.0
        cluster = self._world.clusters[effect.cluster]
        if cluster.suffers("lossy") and self._rng.random() < 0.4:
            return self._rng.uniform(0, 100)
        return self._rng.uniform(0.001, 0.05)

    def step_fate(self, cluster: WorldCluster) -> str:
        """What becomes of one step of a transfer."""
        trouble = any(cluster.suffers(what) for what in ("down", "frozen", "lossy"))
        if not trouble or self._rng.random() >= 0.4:
            return "well"
        return self._rng.choice(("request", "reply"))

    def rest(self, seconds: float) -> float:
        """How long a pause of an operation takes: none of no time at all, since parts of files
        take theirs."""
        return seconds or self._rng.choice((0.001, 0.05, self._rng.uniform(0, 20)))

    def _fate(self, cluster: WorldCluster, command: Command) -> str:
        fate = self._drawn(cluster, command)
        self._world.tally.add(f"fate {fate}")
        if fate != "well":
            cluster.struck = self._world.now
        return fate

    def _drawn(self, cluster: WorldCluster, command: Command) -> str:
        fate = self._trouble(cluster)
        if fate in ("down", "refused") and command.argv in openpbs.OF_THE_CLIENT:
            return "well"
        if cluster.suffers(LATE) and self._refused(cluster, command) is not None:
            how = cluster.how[LATE]
            return how if how in (UNHEARD, TWICE) else "much later"
        if cluster.suffers(CLINGS) and _DELETES & set(command.argv):
            cluster.until[CLINGS] = 0.0
            return "lost request"
        return fate

    def _trouble(self, cluster: WorldCluster) -> str:
        if cluster.suffers("down"):
            return "down"
        if cluster.suffers("frozen"):
            return "frozen"
        if cluster.suffers(DENIES):
            return "denied"
        if cluster.suffers("lossy") and self._rng.random() < 0.4:
            return self._rng.choice(
                (
                    "lost request",
                    "lost reply",
                    "late",
                    "late",
                    "late",
                    "repeat",
                    "garbled",
                    "down",
                    "refused",
                )
            )
        return "well"
