"""A host with one broker on it: it starts, leads or stands by, is stopped, cut off, or dies.

Where there is one broker only it leads as long as it lives, as with a store of its own. Where there
are several, each asks the database for the lead by the daemon's own `Campaign`, and keeps it by the
daemon's own `Lease`.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from greenlet import GreenletExit

from metabroker.broker.lease_term import LeaseTerm
from metabroker.daemon.sharing.lease import Campaign, Lease
from metabroker.runtime.asked import Item
from metabroker.store import LeadershipLost, MustRestart, StoreUnavailable
from metabroker.store.leadership import LeaseRow

from . import virtual
from .life import Life
from .oracle import Violation
from .scenario import MEETS, MIDST, POWER, RENEWED, Fault
from .stores import WorldStore

if TYPE_CHECKING:
    from .world import World

LEASE = 10.0
_NO_ANSWER = 2.0  # seconds after which the database is asked again
_LATENCY = (0.001, 0.2)
_SLOW = 0.05
_SLOW_ANSWER = (0.2, LEASE / 4)  # more than that nobody waits for
_PATIENCE = 60.0  # seconds that a broker has to end in


class Host:
    """One broker's host."""

    def __init__(self, world: World, index: int, brokers: int) -> None:
        self.world = world
        self.name = f"b{index}"
        self.alone = brokers == 1
        self.rng = random.Random(f"{world.scenario.seed} {self.name}")
        self._clocks = random.Random(f"{world.scenario.seed} {self.name} clocks")
        self.rate = 1.0 if self.alone else self.rng.uniform(0.95, 1.05)  # of its own clock
        self.store: WorldStore = world.store if self.alone else world.store.another_way()
        self.store.reached = self._database
        self.store.fails = self._commit_fails
        self.process = self._new_process()
        self.life: Life | None = None
        self.lease: Lease | None = None
        self.term = 0
        self.up = False
        self.cut_until = 0.0
        self.cut_how = ""
        self.stops = 0  # how often it was
        self.slip: Fault | None = None  # to be stopped when it is about to do something
        self._meets = ""  # stopped there, until another broker changes something there too
        self._campaign: Campaign | None = None

    @property
    def stopped(self) -> bool:
        """Whether nothing of it runs now."""
        return self.world.now < self.process.stopped_until

    # --- lives --------------------------------------------------------------------------------

    def _new_process(self) -> virtual.Process:
        """Its wall clock is wrong in some lives, by up to two hours (a start before NTP, say);
        brokers that share a store start with the database's."""
        ahead = self.world.database_ahead
        if self.alone and self.world.scenario.faults and self._clocks.random() < 0.3:
            ahead = self._clocks.uniform(-7200, 7200)
            self.world.clocks_right = False
        return virtual.Process(self.world, self.rng, rate=self.rate, ahead=ahead)

    def begin(self) -> None:
        """The process starts, if it does not run."""
        if self.up:
            return
        self.process = self._new_process()
        if not self.alone:
            self.store.leadership = copy.copy(self.world.store.leadership)
            self.store.leadership.claim = f"{self.name} since {self.world.now}"
        self.up = True
        self.slip = None
        self._meets = ""
        self.process.start(self._main)

    def _main(self) -> None:
        if self.alone:
            self._lead()
        else:
            self.world.tell(f"{self.name} stands by")
            self._campaign = Campaign(self, self.name, LEASE, self._elected)  # type: ignore[arg-type]
            self._campaign.start()
        while True:
            virtual.sleep(self.world.scenario.look)
            self._look_after()

    def _look_after(self) -> None:
        """As the daemon does: a core that has died ends it. And the oracle looks too."""
        if self.life is None:
            return
        dead = self.life.loop.died
        if isinstance(dead, MustRestart):
            self.lost()
        elif dead is not None:
            raise Violation(f"the core has failed: {dead!r}") from dead
        elif self.lease is None or self.lease.lease_term.may_act(self.process.monotonic):
            self.life.in_time()

    def _elected(self, lease_term: LeaseTerm) -> None:
        self.term = self.store.term = lease_term.term
        self.lease = Lease(self, lease_term, self.lost)  # type: ignore[arg-type]
        self.lease.start()
        self._lead()

    def _lead(self) -> None:
        """It leads; if its store fails it ends at once and is started again."""
        try:
            life = Life(self)
            life.begin()
        except StoreUnavailable:
            self.world.tell("the daemon cannot start: store")
            self.end()
            self.world.at(self.world.now + 3, self.begin)
            raise GreenletExit from None
        except LeadershipLost:
            self.lost()
        self.life = life

    def end(self) -> None:
        """Whatever it was doing, it does nothing more."""
        self.up = False
        self.life = self.lease = self._campaign = None
        self.process.kill()

    def crash(self, fault: Fault, how: str) -> None:
        """kill -9, or a loss of power for all; what was sent to clusters is under way."""
        world = self.world
        world.tell(f"the daemon of {self.name} is killed ({fault.what} {how})")
        world.tally.add(f"fault {fault.what}")
        if fault.what == POWER:
            world.home.lose_power()
            for other in world.hosts:
                if other is not self and other.up:
                    other.crash(replace(fault, what="crash"), how)
        world.tally.add(f"crash {how}")
        self.end()
        world.at(world.now + fault.lasts, self.begin)
        if fault.then:
            lasts = fault.lasts + world.rng.uniform(30, 90)
            world.fault(Fault(0.0, fault.then, fault.where, lasts))

    def stop(self, fault: Fault) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        world = self.world
        world.tell(f"{self.name} is stopped for {fault.lasts} ({fault.how})")
        world.tally.add("fault stop")
        world.tally.add(f"stop {fault.how}")
        self.stops += 1
        self.process.stopped_until = world.now + fault.lasts
        self.process.at(self.process.stopped_until, self._goes_on)

    def _goes_on(self) -> None:
        if self.life is not None:
            self.life.able_again()

    def comes_to(self, *names: str) -> None:
        """A thread of its comes to a moment of these names, and may die of it, or be stopped."""
        virtual.check()
        if self.world.moment(self, *names):
            raise GreenletExit
        if self.stopped:
            virtual.pause()

    def in_the_midst(self) -> None:
        """One of several changes to a cluster's files has been made; it may die before the next."""
        crash = self.world.awaited("crash")
        if crash is not None and crash.how == MIDST and self.rng.random() < 0.3:
            self.comes_to(MIDST)

    def acts(self, where: str = "", to: str = "") -> bool:
        """A thread of its has asked whether it may, and is about to change something: `where`, if
        in a cluster's files; `to`: what it renames something to. Whether that comes too late, since
        it was stopped at this very moment.

        Raises:
            Violation: it may, and another broker leads already.
        """
        virtual.check()
        if not self.claims():
            raise Violation(f"two leaders: {self.name} acts in term {self.term} of old")
        self._met(where, to.rpartition("/")[0])
        return self.slips(where, to)

    def _met(self, where: str, gate: str) -> None:
        """One that was stopped as it was about to change something there may go on now: before
        what this one does, or just after it."""
        for other in self.world.hosts:
            there = where and other._meets in (where, f"{where}:{gate}")
            if there and self.rng.random() < 0.3:
                other._meets = ""
                self.world.tally.add("brokers that met at a gate")
                other.process.goes_on()
                if self.rng.random() < 0.7:
                    virtual.pause()

    def claims(self) -> bool:
        """Whether it leads, by the database."""
        return self.alone or self.store.leadership.claim == self.world.claim

    def slips(self, where: str, to: str = "") -> bool:
        """Whether a thread of its was stopped at this very moment, and goes on only now."""
        if self.slip is None or (not self.slip.then and self.rng.random() >= 0.4):
            return False
        gate, _, name = to.rpartition("/")
        if self.slip.how == MEETS and (not where or self.slip.then not in ("", name)):
            return False
        fault, self.slip = self.slip, None
        self._meets = "" if fault.how != MEETS else f"{where}:{gate}" if fault.then else where
        self.stop(fault)
        virtual.pause()
        self._meets = ""
        self.world.tell(f"{self.name} does too late what it was about to do")
        return True

    def ask(self, item: Item) -> None:
        """A user asks this broker; who stands by passes it on through the database."""
        if not self.up or self.stopped:
            return
        if self.life is not None:
            self.life.post(item)
        elif not self.alone:
            self._pass_on(item, 20)

    def _pass_on(self, item: Item, tries: int) -> None:
        def taken() -> None:
            life = self.world.life
            if life is not None and not life.host.stopped and not life.host.cut:
                life.post(item)
            elif tries:
                self._pass_on(item, tries - 1)

        if not self.cut:
            self.world.at(self.world.now + self.rng.uniform(0.01, 1.5), taken)

    @property
    def cut(self) -> bool:
        """Whether it cannot reach the database."""
        return not self.alone and self.world.now < self.cut_until

    def hand_over(self, fault: Fault) -> None:
        """SIGTERM, and a new start after a while."""
        self.world.tell(f"{self.name} ends")
        self.world.tally.add("fault handover")
        process = self.process
        process.start(partial(self._terminate, fault.lasts))
        self.world.at(self.world.now + _PATIENCE, partial(self._ended, process, fault.lasts))

    def _terminate(self, pause: float) -> None:
        process, life, lease = self.process, self.life, self.lease
        if self._campaign is not None:
            self._campaign.stop()
        self.life = None
        if life is not None:
            life.end()
        if lease is not None:
            lease.close(release=True)
        self._ended(process, pause)
        raise GreenletExit

    def _ended(self, process: virtual.Process, pause: float) -> None:
        if not process.dead:
            self.end()
            self.world.at(self.world.now + pause, self.begin)

    def lost(self) -> None:
        """Another broker leads: it begins anew, and stands by."""
        assert self.up, "one that is gone cannot learn it"
        self.world.tell(f"{self.name} does not lead any more")
        self.world.tally.add("lead lost")
        self.end()
        self.world.at(self.world.now + self.rng.uniform(0.2, 3), self.begin)
        raise GreenletExit

    # --- the lease's row, as this broker reaches it ---------------------------------------------

    def row(self, seconds: float) -> LeaseRow:
        """See `Leadership.row`."""
        found: LeaseRow = self._ask(lambda: self.store.leadership.row(seconds))
        return found

    def take(self, holder: str, seconds: float, seen: LeaseRow, after: int) -> int | None:
        """See `Leadership.take`."""

        def taken() -> int | None:
            term = self.store.leadership.take(holder, seconds, seen, after)
            if term is not None:
                self.world.claim = self.store.leadership.claim
                self.world.tally.add("lead taken")
                self.world.tell(f"{self.name} is given the lead, term {term}")
            return term

        found: int | None = self._ask(taken)
        return found

    def renew(self, term: int, seconds: float) -> bool:
        """See `Leadership.renew`."""

        def renewed() -> bool:
            leads = self.store.leadership.renew(term, seconds)
            self.world.moment(self, RENEWED)
            return leads

        return bool(self._ask(renewed))

    def release(self, term: int) -> None:
        """See `Leadership.release`."""
        self._ask(lambda: self.store.leadership.release(term))

    def _ask(self, question: Callable[[], Any]) -> Any:
        """Ask the database; what it was asked it does, also if nobody hears the answer."""
        world = self.world
        lost = StoreUnavailable("the database does not answer")

        def ask(answer: Callable[[Any], None]) -> None:
            def asked() -> None:
                trouble = self.cut_how if self.cut else world.store_trouble()
                said = None if trouble == "before" else question()
                if trouble:
                    world.at(world.now + _NO_ANSWER, partial(answer, lost))
                else:
                    slow = self.rng.random() < _SLOW
                    latency = self.rng.uniform(*(_SLOW_ANSWER if slow else _LATENCY))
                    world.at(world.now + latency, partial(answer, said))

            world.at(world.now + self.rng.uniform(*_LATENCY), asked)

        return virtual.call(ask)

    # --- the store ----------------------------------------------------------------------------

    def _commit_fails(self) -> str:
        if self.life is not None:
            self.world.oracle.doubts(self.life.engine.broker)
        if self.cut:
            self.world.tally.add("fault cut")
            return self.cut_how
        return self.world.store_trouble()

    def _database(self) -> None:
        virtual.check()
        if self.cut:
            raise StoreUnavailable("the database does not answer")
