"""Claims and looks in any order: never counted twice, never missed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.ledger import Ledger
from metabroker.broker.observation import Snapshot
from metabroker.broker.settings import ClusterSettings, Settings

SIZE = 64
SETTINGS = Settings("abcdef01", (ClusterSettings("delft", processors=SIZE),))


class Truth:
    """A cluster, and what the broker has claimed of it: the jobs that hold processors there."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.ledger = Ledger(SETTINGS)
        self.claims: dict[str, int] = {}  # what the broker holds or is about to
        self.running: dict[str, int] = {}  # ours that the cluster really runs
        self.others = 0
        self.late: Snapshot | None = None  # a look that is under way
        self.count = 0

    def idle(self) -> int:
        """What nobody holds, claims that are not carried out yet included."""
        claimed = sum(max(n, self.running.get(t, 0)) for t, n in self.claims.items())
        return SIZE - self.others - claimed

    def look(self) -> Snapshot:
        ours = dict(self.running)
        busy = self.others + sum(ours.values())
        return Snapshot(self.now, SIZE, SIZE, busy, ours)

    def told(self, snapshot: Snapshot) -> None:
        self.ledger.observe(0, snapshot, lambda token: self.claims.get(token, 0))

    def available(self) -> int:
        return self.ledger.available(self.now)[0]

    # What can happen.

    def claim(self, processors: int) -> None:
        if processors <= min(self.idle(), self.available()):
            self.count += 1
            self.claims[f"t{self.count}"] = processors
            self.ledger.claim(0, processors)

    def start(self, extra: int) -> None:
        for token, processors in self.claims.items():
            if token not in self.running:
                self.running[token] = processors + min(extra, max(0, self.idle()))
                return

    def clean(self, _number: int) -> None:
        for token, processors in list(self.claims.items()):
            self.running.pop(token, None)
            del self.claims[token]
            self.ledger.free(0, processors, token, self.now)
            return

    def local_users(self, processors: int) -> None:
        self.others = min(processors, SIZE - sum(self.running.values()))

    def look_begins(self, _number: int) -> None:
        self.late = self.look()

    def look_ends(self, _number: int) -> None:
        if self.late is not None:
            self.told(self.late)
            self.late = None

    def wait(self, seconds: int) -> None:
        self.now += seconds / 8


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["claim", "start", "clean", "local_users", "look_begins", "look_ends", "wait"]
        ),
        st.integers(0, 40),
    ),
    max_size=40,
)


@given(STEPS)
def test_after_a_fresh_look_what_is_available_is_what_nobody_holds(
    steps: list[tuple[str, int]],
) -> None:
    truth = Truth()
    truth.told(truth.look())
    for step, number in steps:
        getattr(truth, step)(number)
    truth.told(truth.look())
    assert truth.available() == max(0, truth.idle())


@given(STEPS)
def test_a_late_look_never_makes_the_brokers_own_claims_look_idle(
    steps: list[tuple[str, int]],
) -> None:
    truth = Truth()
    truth.told(truth.look())
    for step, number in steps:
        if step != "local_users":
            getattr(truth, step)(number)
        assert truth.available() <= SIZE - sum(truth.claims.values())


def test_a_job_just_cleaned_that_a_look_still_shows_is_not_held_by_others() -> None:
    truth = Truth()
    truth.told(truth.look())
    truth.claim(16)
    truth.start(0)
    before = truth.look()
    truth.clean(0)
    truth.told(before)
    assert truth.available() == SIZE


def test_what_is_not_known_is_not_idle() -> None:
    ledger = Ledger(SETTINGS)
    assert ledger.available(0.0) == [0]
    assert ledger.capacity(0.0) == [0]
    assert ledger.sizes() == [SIZE]
    ledger.observe(0, Snapshot(100.0, SIZE, SIZE, 0), lambda _token: 0)
    assert ledger.available(100.0 + SETTINGS.stale_after) == [SIZE]
    assert ledger.available(100.1 + SETTINGS.stale_after) == [0]
    assert ledger.capacity(100.1 + SETTINGS.stale_after) == [0]
    ledger.lose(0, "connect failure")
    assert ledger.available(100.0) == [0]
    assert ledger.sizes() == [SIZE]


def test_only_a_look_begun_after_the_doubt_ends_it() -> None:
    ledger = Ledger(SETTINGS)
    ledger.mark_unverified(0, 50.0)
    ledger.observe(0, Snapshot(49.0, SIZE, SIZE, 0), lambda _token: 0)
    assert ledger.available(50.0) == [0]
    ledger.observe(0, Snapshot(50.0, SIZE, SIZE, 0), lambda _token: 0)
    assert ledger.available(50.0) == [SIZE]


def test_a_look_tells_whether_more_is_idle_than_was_known() -> None:
    ledger = Ledger(SETTINGS)

    def look(at: float, busy: int) -> bool:
        return ledger.observe(0, Snapshot(at, SIZE, SIZE, busy), lambda _token: 0)

    assert look(0.0, 10)
    assert not look(5.0, 10)
    assert not look(10.0, 20)
    assert look(15.0, 19)
    ledger.mark_unverified(0, 16.0)
    assert look(20.0, 19), "it was in doubt"
    assert look(25.0 + SETTINGS.stale_after, 19), "it was too long ago"
    ledger.lose(0, "gone")
    assert look(60.0, 19), "it did not answer"
    assert not look(61.0, SIZE)


def test_refused_numbers_are_asked_for_ever_later_up_to_a_bound() -> None:
    ledger = Ledger(SETTINGS)
    now, delays = 0.0, []
    for _ in range(12):
        delays.append(ledger.refused(0, 16, "no", now) - now)
        now += delays[-1]
    assert delays[:4] == [2.0, 4.0, 8.0, 16.0]
    assert delays[-1] == SETTINGS.refusal_most
    ledger.accepted(0)
    assert ledger.refused(0, 16, "no", now) == now + 2.0


def test_many_refusals_of_one_moment_are_one() -> None:
    """A controller that has lost its reservations refuses every component that is on its way."""
    ledger = Ledger(SETTINGS)
    ledger.observe(0, Snapshot(0.0, SIZE, SIZE, 0), lambda _token: 0)
    for number in range(20):
        until = ledger.refused(0, 1 + number, "no", number / 16)
    assert until == 19 / 16 + 2.0
    assert ledger.available(until - 0.5) == [0]
    assert ledger.available(until) == [SIZE]


def test_the_smallest_refused_number_counts_until_its_time_is_over() -> None:
    ledger = Ledger(SETTINGS)
    ledger.observe(0, Snapshot(0.0, SIZE, SIZE, 0), lambda _token: 0)
    ledger.refused(0, 32, "no", 0.0)
    ledger.refused(0, 16, "no", 0.0)
    ledger.refused(0, 48, "no", 0.0)
    assert ledger.available(1.9) == [15]
    assert ledger.available(2.0) == [SIZE]
    ledger.refused(0, 48, "no", 9.0)
    assert ledger.available(9.0) == [47], "an old cap does not come back"


def test_what_others_are_about_to_take_is_not_idle() -> None:
    ledger = Ledger(SETTINGS)
    ledger.observe(0, Snapshot(1000.0, SIZE, SIZE, 40, arriving=16), lambda token: 0)
    assert ledger.available(1000.0) == [8]
    ledger.observe(0, Snapshot(1001.0, SIZE, SIZE, 40, arriving=100), lambda token: 0)
    assert ledger.available(1001.0) == [0]
    assert ledger.contested(1001.0) == ()


def test_who_keeps_coming_and_wants_all_that_is_idle_wants_the_cluster() -> None:
    """Somebody submits a job that is too large to start, cancels it in time, and so on."""
    ledger = Ledger(SETTINGS)
    for second in range(10):
        ledger.observe(0, Snapshot(1000.0 + second, SIZE, SIZE, 1, arriving=SIZE), lambda token: 0)
        assert ledger.available(1000.0 + second) == [0]
        assert ledger.contested(1000.0 + second) == ()
    more = ledger.observe(0, Snapshot(1010.0, SIZE, SIZE, 1, arriving=SIZE), lambda token: 0)
    assert more, "what is idle may be had: by standing in line, or where no line is kept"
    assert ledger.contested(1010.0) == (0,)
    assert ledger.available(1010.0) == [SIZE - 1]


def test_who_keeps_coming_and_wants_less_than_is_idle_keeps_nothing_idle() -> None:
    ledger = Ledger(SETTINGS)
    for second in range(12):
        ledger.observe(0, Snapshot(1000.0 + second, SIZE, SIZE, 1, arriving=8), lambda token: 0)
        left = SIZE - 9 if second < 10 else SIZE - 1
        assert ledger.available(1000.0 + second) == [left]
        assert ledger.contested(1000.0 + second) == ()


def test_a_poll_in_which_nobody_has_just_come_ends_it() -> None:
    ledger = Ledger(SETTINGS)
    for second in range(30):
        came = SIZE if second % 10 else 0
        ledger.observe(0, Snapshot(1000.0 + second, SIZE, SIZE, 1, arriving=came), lambda token: 0)
        assert ledger.contested(1000.0 + second) == ()


def test_a_clock_that_is_set_back_does_not_keep_processors_idle_for_longer() -> None:
    ledger = Ledger(SETTINGS)
    for now in (1000.0, 400.0, 410.0):
        ledger.observe(0, Snapshot(now, SIZE, SIZE, 1, arriving=SIZE), lambda token: 0)
    assert ledger.contested(410.0) == (0,)
