"""A host with one broker on it: it starts, leads or stands by, is stopped, cut off, or dies.

Where there is one broker only it leads as long as it lives, as with a store of its own. Where there
are several, each asks the database for the lead; what a stopped one was about to do is done when
it goes on, once, come what may.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from metabroker.broker.lease_term import LeaseTerm, pause
from metabroker.clusters.transports.base import CommandLost
from metabroker.runtime.engine import Item
from metabroker.store import LeadershipLost, StoreUnavailable

from .life import Life
from .oracle import Violation
from .scenario import Fault
from .slipping import Slipped
from .stores import WorldStore

if TYPE_CHECKING:
    from .world import World

T = TypeVar("T")

LEASE = 10.0
_NO_ANSWER = 2.0  # seconds after which the database is asked again
_LATENCY = (0.001, 0.2)


class Host:
    """One broker's host."""

    def __init__(self, world: World, index: int, brokers: int) -> None:
        self.world = world
        self.name = f"b{index}"
        self.alone = brokers == 1
        self.rng = random.Random(f"{world.scenario.seed} {self.name}")
        self.rate = 1.0 if self.alone else self.rng.uniform(0.95, 1.05)  # of its own clock
        self.store: WorldStore = world.store if self.alone else world.store.another_way()
        self.store.reached = self._database
        self.store.fails = self._commit_fails
        self.life: Life | None = None
        self.lease_term: LeaseTerm | None = None
        self.term = 0
        self.up = False
        self.stopped_until = 0.0
        self.cut_until = 0.0
        self.cut_how = ""
        self.slip: Fault | None = None  # to be stopped when it is about to do something
        self._births = 0

    # --- time ---------------------------------------------------------------------------------

    def at(self, time: float, what: Callable[[], None]) -> None:
        """What this process does at a moment: later if it is stopped then, never if it is dead."""
        birth = self._births

        def run() -> None:
            if birth != self._births:
                return
            if self.world.now < self.stopped_until:
                self.world.at(self.stopped_until, run)
            else:
                what()

        self.world.at(time, run)

    @property
    def clock(self) -> float:
        """Its own clock, which goes on while it is stopped."""
        return self.world.now * self.rate

    @property
    def stopped(self) -> bool:
        """Whether nothing of it runs now."""
        return self.world.now < self.stopped_until

    def may_act(self) -> bool:
        """Whether it may touch a cluster now.

        Raises:
            Violation: it may, and another broker leads already.
        """
        if self.alone:
            return True
        if self.lease_term is None or not self.lease_term.may_act(self.clock):
            return False
        if self.term != self.world.term:
            raise Violation(f"two leaders: {self.name} acts in term {self.term} of old")
        return True

    # --- lives --------------------------------------------------------------------------------

    def begin(self) -> None:
        """The process starts."""
        self._births += 1
        self.up = True
        self.stopped_until = 0.0
        self.slip = None
        if self.alone:
            self._lead()
        else:
            self.world.tell(f"{self.name} stands by")
            self._stand_by()

    def _lead(self) -> None:
        """It leads; if its store fails it ends at once and is started again."""
        try:
            self.life = Life(self)
            self.life.begin()
        except StoreUnavailable:
            self.world.tell("the daemon cannot start: store")
            self.end()
            self.world.at(self.world.now + 3, self.begin)
        except LeadershipLost:
            self.lost()

    def end(self) -> None:
        """Whatever it was doing, it does nothing more."""
        self._births += 1
        self.up = False
        if self.life is not None:
            self.life.alive = False
        self.life = self.lease_term = None

    def crash(self, fault: Fault, how: str) -> None:
        """kill -9; what was sent to clusters is under way all the same."""
        world = self.world
        world.tell(f"the daemon of {self.name} is killed ({how})")
        world.tally.add("fault crash")
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
        self.stopped_until = world.now + fault.lasts
        self.at(self.stopped_until, self._goes_on)

    def _goes_on(self) -> None:
        if self.life is not None:
            self.life.able_again()

    def about_to(self, change: Callable[[], object]) -> None:
        """It has asked whether it may, and is about to change something in a cluster.

        Raises:
            Slipped: it was stopped at that very moment.
        """
        if self.slip is not None and self.rng.random() < 0.4:
            fault, self.slip = self.slip, None
            self.stop(fault)
            raise Slipped(change)

    def late(self, slipped: Slipped, done: Callable[[], None]) -> None:
        """It does what it was about to do when it goes on; if it still leads, that is `done`."""

        def change() -> None:
            self.world.tell(f"{self.name} does too late what it was about to do")
            before = {f for cluster in self.world.clusters for f in cluster.files.folders}
            with contextlib.suppress(OSError, CommandLost):
                slipped.what()
            for cluster in self.world.clusters:
                cluster.litter.update(set(cluster.files.folders) - before)

        self.world.at(self.stopped_until, change)
        self.at(self.stopped_until, done)

    def hears(self, reply: Callable[[Any], None]) -> Callable[[Any], None]:
        """What takes an answer: not before it goes on, if it is stopped."""
        if self.alone:
            return reply
        return lambda said: self.at(self.world.now, lambda: reply(said))

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
        term, led = self.term, self.life is not None
        self.end()
        if led:
            self._ask(lambda: self.store.leadership.release(term), lambda _done: None)
        self.world.at(self.world.now + fault.lasts, self.begin)

    def lost(self) -> None:
        """Another broker leads: it begins anew, and stands by."""
        assert self.up, "one that is gone cannot learn it"
        self.world.tell(f"{self.name} does not lead any more")
        self.world.tally.add("lead lost")
        self.end()
        self.world.at(self.world.now + self.rng.uniform(0.2, 3), self.begin)

    # --- the lease ----------------------------------------------------------------------------

    def _stand_by(self) -> None:
        asked_at, granted = self.clock, self._granted

        def answered(term: int | None) -> None:
            if term is None:
                self.at(self.world.now + pause(LEASE), self._stand_by)
            else:
                granted(term, asked_at)

        self._ask(self._take, answered, self._stand_by)

    def _take(self) -> int | None:
        term = self.store.leadership.take(self.name, LEASE)
        if term is not None:
            self.world.term = term
            self.world.tally.add("lead taken")
            self.world.tell(f"{self.name} is given the lead, term {term}")
        return term

    def _granted(self, term: int, asked_at: float) -> None:
        self.term = self.store.term = term
        self.lease_term = LeaseTerm.granted(term, LEASE, asked_at)
        self.at(self.world.now + pause(LEASE), self._renew)
        self._lead()

    def _renew(self) -> None:
        asked_at, lease_term = self.clock, self.lease_term
        if lease_term is None:
            return

        def answered(leads: bool) -> None:
            if not leads:
                self.lost()
                return
            sure = lease_term.may_act(self.clock)
            lease_term.renewed(asked_at)
            if not sure and self.life is not None:
                self.life.able_again()
            self.at(self.world.now + pause(LEASE), self._renew)

        term = lease_term.term
        self._ask(lambda: self.store.leadership.renew(term, LEASE), answered, self._renew)

    def _ask(
        self,
        question: Callable[[], T],
        answered: Callable[[T], None],
        again: Callable[[], None] = lambda: None,
    ) -> None:
        """Ask the database; what it was asked it does, also if nobody hears the answer."""
        world, birth = self.world, self._births

        def asked() -> None:
            trouble = self._trouble()
            if trouble == "before":
                if birth == self._births:
                    self.at(world.now + _NO_ANSWER, again)
                return
            answer = question()
            if birth != self._births:
                return  # who has asked is gone
            if trouble == "after":
                self.at(world.now + _NO_ANSWER, again)
            else:
                self.at(world.now + self.rng.uniform(*_LATENCY), lambda: answered(answer))

        world.at(world.now + self.rng.uniform(*_LATENCY), asked)

    def _trouble(self) -> str:
        """What is wrong with the way to the database: "before" or "after" it has done something."""
        return self.cut_how if self.cut else self.world.store_trouble()

    # --- the store ----------------------------------------------------------------------------

    def _commit_fails(self) -> str:
        if self.cut:
            self.world.tally.add("fault cut")
            return self.cut_how
        return self.world.store_trouble()

    def _database(self) -> None:
        if self.cut:
            raise StoreUnavailable("the database does not answer")
