"""A broker whose store came back from a backup, whatever had happened before and after that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.after_restore import NEVER, History, Restored
from metabroker.broker.effects import Arm, Clean, CleanStray, Reserve, Stage, Submit
from metabroker.broker.events import (
    Cleaned,
    Ended,
    Event,
    GaveUp,
    Observed,
    Refused,
    Started,
)
from metabroker.broker.job import Component
from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.outbox import Ready
from metabroker.broker.states import IN_ATTEMPT, Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref, make, parse

from .bench import INSTANCE, Bench
from .test_restore import Walk, digest

REFS = st.builds(Ref, st.integers(1, 40), st.integers(1, 4), st.just(0), st.integers(0, 6))
BACKUPS = st.lists(
    st.builds(
        Restored,
        backup_time=st.just(1.0),
        time=st.just(2.0),
        when=st.just("then"),
        term=st.integers(1, 5),
        last_job=st.integers(0, 30),
        next_job=st.integers(30, 40),
        attempts=st.dictionaries(st.integers(1, 30), st.integers(0, 3)),
    ),
    max_size=3,
)


@given(BACKUPS, REFS)
def test_what_was_begun_since_the_last_return_is_never_unknown(
    restored: list[Restored], ref: Ref
) -> None:
    ordered = sorted(restored, key=lambda each: each.term)
    history = History(ordered)
    if not earlier(history, ref):
        assert not history.unknown(ref)
    for each in ordered:
        known = ref.job <= each.last_job and ref.attempt <= each.attempts.get(ref.job, 99)
        if ref.term < each.term and not known:
            assert history.unknown(ref)
    assert not NEVER.unknown(ref)


@given(BACKUPS, REFS)
def test_one_more_return_makes_nothing_known_that_was_not(
    restored: list[Restored], ref: Ref
) -> None:
    ordered = sorted(restored, key=lambda each: each.term)
    for number in range(len(ordered)):
        if History(ordered[:number]).unknown(ref):
            assert History(ordered).unknown(ref)


def earlier(history: History, ref: Ref) -> bool:
    """Whether its attempt was begun before the last return."""
    return history.latest is not None and ref.term < history.latest.term


def lived(seed: int, bench_steps: int = 50) -> tuple[Walk, bytes]:
    """Something has happened, a backup was made, and something more has happened."""
    walk = Walk(seed)
    for _ in range(bench_steps):
        walk.step()
    backup = walk.bench.back_up()
    for _ in range(walk.rng.randrange(40)):
        walk.step()
    return walk, backup


def test_most_of_what_has_lived_has_components_under_way() -> None:
    """Else the tests below would look at nothing."""
    found = {"before": 0, "after": 0}
    for seed in range(16):
        walk, backup = lived(seed)
        found["after"] += any(walk.bench.broker._saga.claims.live)
        walk.bench.come_back(backup)
        jobs = walk.bench.broker.view.jobs.values()
        found["before"] += any(job.state in IN_ATTEMPT for job in jobs)
        walk.bench.close()
    assert min(found.values()) >= 5, found


class Watched(Bench):
    """Whatever is done, nothing of before the return is begun again, nor ended without a word."""

    def settle(self) -> Ready:
        before = self.broker.view.history
        live = {ref for cluster in self.broker._saga.claims.live for ref in cluster}
        ready = super().settle()
        for effect in ready.effects:
            if isinstance(effect, Stage | Reserve | Submit | Arm):
                assert not earlier(before, effect.ref), f"{effect} may have been done, and ended"
            if isinstance(effect, Clean) and earlier(before, effect.ref) and effect.ref in live:
                self.allowed(effect.ref)
            if isinstance(effect, CleanStray):
                ref = parse(INSTANCE, effect.token)
                assert ref is not None and not before.unknown(ref)
        for job in self.broker.view.jobs.values():
            stood = any(earlier(before, component.ref) for component in job.components)
            assert stood == (job.uncertain is not None), "the mark says so, whatever happens"
        return ready

    def allowed(self, ref: Ref) -> None:
        """Its end is known, or its user's wish."""
        component = self.broker.view.component(ref)
        assert component is not None
        job = self.broker.view.jobs.get(ref.job)
        of_job = job is not None and component in job.components
        if of_job and job is not None and job.goal is None:
            said = component.cause is not None or component.exit_code is not None
            assert component.over or said, component


@pytest.mark.parametrize("seed", range(8))
def test_nothing_of_before_is_begun_again(seed: int) -> None:
    walk, backup = lived(seed)
    bench = walk.bench
    bench.__class__ = Watched
    bench.come_back(backup)
    assert not any(job.state is JobState.QUEUED for job in bench.broker.view.jobs.values())
    for _ in range(60):
        walk.step()
        assert digest(bench, bench.restored()) == digest(bench, bench.broker)
    bench.close()


@pytest.mark.parametrize("seed", range(8))
def test_once_clusters_do_as_they_are_told_and_users_release_their_jobs_all_ends(
    seed: int,
) -> None:
    walk, backup = lived(seed)
    bench = walk.bench
    bench.come_back(backup)
    walk.to_the_end()
    assert not bench.broker.view.jobs
    assert digest(bench, bench.broker)["claims"] == [0, 0, 0]
    bench.close()


@pytest.mark.parametrize("seed", range(8))
def test_what_clusters_show_of_the_lost_time_is_left_alone(seed: int) -> None:
    walk, backup = lived(seed)
    bench = walk.bench
    shown = [
        {
            make(INSTANCE, component.ref): component.ref
            for component in bench.broker._saga.claims.live[cluster].values()
        }
        for cluster in range(3)
    ]
    bench.__class__ = Watched
    bench.come_back(backup)
    for _ in range(3):
        for cluster in range(3):
            bench.now += 5
            look = walk.look(cluster)
            jobs = {
                token: NativeJob("7", bench.now, NativeState.RUNNING, "RUNNING", processors=1)
                for token in shown[cluster]
            }
            bench.handle(Observed(cluster, replace(look.snapshot, jobs=jobs, settled=True)))
    named = {left.ref for left in bench.broker._saga.orphans}
    for cluster in range(3):
        for ref in shown[cluster].values():
            known = bench.broker.view.component(ref) is not None
            assert known != (ref in named), "every one is either a job's or named"
            assert ref.job < bench.broker.next_job
    bench.close()


class Fates:
    """What has become of each component that the backup tells of, as gates and clusters say it."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.fates: dict[Ref, str] = {}

    def of(self, part: Component) -> str:
        """Drawn once."""
        kinds = ("record", "COMPLETED", "TIMEOUT", "FAILED", "missing", "gave-up")
        return self.fates.setdefault(part.ref, self.walk.rng.choice(kinds))

    def look(self, cluster: int) -> Observed:
        """A look at a cluster, which says so."""
        shown: dict[str, NativeJob] = {}
        now = self.walk.bench.now
        for ref, part in self.walk.bench.broker._saga.claims.live[cluster].items():
            fate = self.of(part)
            if fate in ("COMPLETED", "TIMEOUT", "FAILED"):
                code = {"COMPLETED": 0, "FAILED": 75}.get(fate)
                causes = {"TIMEOUT": Cause.OVERTIME, "FAILED": Cause.KILLED}
                shown[make(INSTANCE, ref)] = NativeJob(
                    "7", now, NativeState.ENDED, fate, exit_code=code, cause=causes.get(fate)
                )
            elif fate != "missing":
                running = NativeJob("7", now, NativeState.RUNNING, "RUNNING")
                shown[make(INSTANCE, ref)] = running
        seen = self.walk.look(cluster)
        return Observed(cluster, replace(seen.snapshot, jobs=shown, settled=True))

    def next(self, part: Component) -> Event | None:
        """What its own gate says, or the answer to what is owed to it."""
        if part.step is Step.OPEN and self.of(part) != "record":
            return Refused(part.ref, Step.OPEN, Cause.LOST, "its gate is gone")
        if part.step is Step.CLEAN:
            ended = 0 if self.of(part) == "record" else None
            return Cleaned(part.ref, ended is not None, exit_code=ended)
        if part.step is not Step.NONE:
            return self.walk.done(part)
        if self.of(part) == "record":
            return Ended(part.ref, 2.0, 0) if part.started else Started(part.ref, 1.0)
        if self.of(part) == "gave-up" and part.phase is not Phase.GONE:
            return GaveUp(part.ref)
        return None


@pytest.mark.parametrize("seed", range(16))
def test_whatever_is_found_of_earlier_attempts_no_job_is_lost(seed: int) -> None:
    walk, backup = lived(seed)
    bench = walk.bench
    bench.__class__ = Watched
    bench.come_back(backup)
    under_way = {job.id: job for job in bench.broker.view.jobs.values() if job.state in IN_ATTEMPT}
    parts = {n: list(job.components) for n, job in under_way.items()}
    wished = {n: job.goal for n, job in under_way.items()}
    fates = Fates(walk)
    for _ in range(12):
        bench.ticks(3.0)
        for cluster in range(3):
            bench.handle(fates.look(cluster))
        for part in list(bench.broker._saga.claims.known.values()):
            if (event := fates.next(part)) is not None:
                bench.handle(event)
    for number, job in under_way.items():
        assert job.state not in IN_ATTEMPT, bench.broker.view.jobs.get(number)
        assert job.state is not JobState.QUEUED, "nobody has said that it may run again"
        assert job.reason or job.state is JobState.COMPLETED
        if job.state is JobState.COMPLETED:
            assert all(part.succeeded for part in parts[number])
        found = {fates.fates.get(part.ref, "known") for part in parts[number]}
        if wished[number] is None and found <= {"record", "COMPLETED"}:
            assert job.state is JobState.COMPLETED
        if wished[number] is None and found == {"missing"}:
            assert job.state is JobState.HELD
    bench.close()
