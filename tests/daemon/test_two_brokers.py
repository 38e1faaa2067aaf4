"""Two brokers, and three, over real clusters and a real PostgreSQL: whatever becomes of the one
that leads, another takes over within seconds; jobs and clusters notice nothing."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from metabroker.api.client import Client, ClientError
from tests.daemon.brokers import LEASE, Broker, Brokers
from tests.daemon.fixtures import LONGEST
from tests.daemon.harness import Site, eventually, recording, until
from tests.testbed.apt import SlurmUnavailable, leave_out
from tests.testbed.clock import install as install_clock
from tests.testbed.postgres import Postgres
from tests.testbed.postgres import install as install_postgres
from tests.testbed.proxy import Proxy

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(LONGEST)]


def jobs_of_all_kinds(site: Site) -> list[int]:
    """One that runs until there is a file, a co-allocated one, and one that waits for the first."""
    runs = site.submit("--on lab:30", recording(until("go-on")))
    together = site.submit("--on delft:4,leiden:4")
    waits = site.submit("--on lab:20,leiden:4")
    return [runs, together, waits]


def all_end_well(site: Site, jobs: list[int]) -> None:
    """All have completed in one attempt, started once, and left nothing. (Who has waited for
    another one's processors may be refused a reservation while its cluster still cleans up.)"""
    for job in jobs:
        found = site.wait_end(job, "COMPLETED")
        busy = sum(e["event"] == "refused" and e["step"] == "reserve" for e in found["events"])
        expected = (1 + (busy if job in jobs[2:3] else 0), 0)
        assert (found["attempts"], found["exit_code"]) == expected, json.dumps(found["events"])
    runs = site.runs()
    assert len({(run.job, run.component) for run in runs}) == len(runs), f"twice: {runs}"
    assert {run.job for run in runs} == set(jobs)
    site.wait_clean()


def acts_no_more(old: Broker, new: Broker) -> None:
    """The one that led has begun nothing since the other has begun something: no command, and no
    step with a gate or another file."""
    first = new.acted()[0].time
    before = [ran for ran in old.acted() if ran.time < first]
    assert {ran.cluster == "" for ran in before} == {False, True}, "both are seen"
    late = [ran for ran in old.acted() if ran.time >= first]
    assert not late, f"{late}\n{old.story()}"


def test_another_takes_over_from_a_leader_that_is_killed(group: Brokers, database: str) -> None:
    first, second, third = group.start(database, database, database, pausing=True)
    jobs = jobs_of_all_kinds(second)
    second.wait_state(jobs[0], "RUNNING")
    first.wait_pause()
    with ThreadPoolExecutor(4) as users:
        asked: list[Future[int]] = []
        for number in range(4):
            asked.append(users.submit((second, third)[number % 2].submit, "--on delft:2,leiden:2"))
            if number == 1:
                first.kill()
        jobs += [future.result() for future in asked]
    assert len(set(jobs)) == len(jobs) == 7
    leader = group.leader(second, third)
    (other,) = {second, third} - {leader}
    status = other.wait_role("standby")
    assert status["leader"].endswith(str(leader.socket)) and status["term"] == 2
    jobs.append(other.submit("-n 2"))
    (other.work / "go-on").touch()
    all_end_well(other, jobs)
    assert len(other.client.get("history")["jobs"]) == len(jobs), "each submission is one job"


def test_a_leader_that_was_stopped_acts_no_more(group: Brokers, database: str) -> None:
    first, second = group.start(database, database, pausing=True)
    jobs = jobs_of_all_kinds(second)
    first.wait_pause()
    first.signal(signal.SIGSTOP)
    first.go_on()  # when it wakes up, opening the gate is the next that it does
    second.wait_role("leader")
    jobs.append(second.submit("-n 2"))
    second.wait_end(jobs[-1], "COMPLETED")
    first.signal(signal.SIGCONT)
    first.wait_role("standby")
    assert not first.ended(), "it is the same process"
    eventually(lambda: not first.zombies(), "what it had run is gone")
    (first.work / "go-on").touch()
    jobs.append(first.submit("-n 2"))
    all_end_well(first, jobs)
    acts_no_more(first, second)


def test_a_leader_without_its_database_stops_before_another_begins(
    group: Brokers, postgres: Postgres, proxy: Proxy
) -> None:
    name = postgres.database()
    first, second = group.start(postgres.url(name, proxy.port), postgres.url(name), pausing=True)
    jobs = jobs_of_all_kinds(first)
    first.wait_pause()
    proxy.silence()
    second.wait_role("leader")
    first.go_on()
    jobs.append(second.submit("-n 2"))
    second.wait_end(jobs[-1], "COMPLETED")
    proxy.heal()
    proxy.cut()
    first.wait_role("standby")
    acts_no_more(first, second)
    (first.work / "go-on").touch()
    all_end_well(first, jobs)


def test_a_database_that_starts_again_harms_no_job(
    group: Brokers, postgres: Postgres, database: str
) -> None:
    first, second = group.start(database, database)
    jobs = jobs_of_all_kinds(second)
    postgres.stop()
    postgres.start()
    jobs.append(second.submit("--components 4,4"))
    postgres.kill()
    with ThreadPoolExecutor(1) as user:
        asked = user.submit(second.submit_in_the_end, "--components 4,4")
        time.sleep(3.0)  # longer than the lease
        postgres.start()
        jobs.append(asked.result())
    leader = group.leader(first, second)
    (leader.work / "go-on").touch()
    all_end_well(leader, jobs)


def test_a_database_that_has_lost_commits_under_its_brokers_ends_no_job(
    group: Brokers, postgres: Postgres
) -> None:
    """As where a replica takes over that was behind: nobody has stopped anything."""
    name = postgres.database()
    first, second = group.start(*[postgres.url(name)] * 2)
    jobs = [second.submit("--on lab:2", recording(until("go-on"))) for _ in range(2)]
    second.wait_state(jobs[0], "RUNNING")
    older = postgres.dump(name)
    jobs += [second.submit("--on delft:2", recording(until("go-on"))) for _ in range(2)]
    for job in jobs:
        second.wait_state(job, "RUNNING")
    postgres.bring_back(name, older)
    eventually(
        lambda: any(b.status().get("store_behind") for b in (first, second)),
        f"it is noticed\n{first.story()}\n{second.story()}",
    )
    # By what a cluster shows, perhaps; who led sees it as it writes next, unless it leads no more.
    told = ("the store has lost what was written into it", "another broker has become the leader")

    def noticed() -> bool:
        logs = first.log.read_text() + second.log.read_text()
        return any(words in logs for words in told)

    eventually(noticed, "who led begins anew")
    running = [token for cluster in ("lab", "delft") for token in first.held(cluster).jobs]
    assert len(running) == len(jobs), running
    (first.work / "go-on").touch()
    eventually(lambda: len({run.job for run in first.runs()}) == len(jobs), "each script ran")
    assert len(first.runs()) == len(jobs), "none ran twice"


@pytest.fixture
def other_time() -> Iterator[Postgres]:
    """A server whose clock can be stepped."""
    try:
        library = install_clock()
    except SlurmUnavailable as error:
        leave_out(f"it needs libfaketime, and that cannot be had here: {error}")
    with closing(Postgres(install_postgres(), library)) as server:
        server.start()
        yield server


def test_a_step_of_the_databases_clock_changes_no_leader(
    group: Brokers, other_time: Postgres
) -> None:
    name, clock = other_time.database(), other_time.clock
    assert clock is not None
    first, second = group.start(*[other_time.url(name)] * 2)
    jobs = jobs_of_all_kinds(second)
    for seconds in (3600.0, -86400.0):
        clock.step(seconds)
        (told,) = other_time.run("SELECT extract(epoch FROM clock_timestamp())::float8")[0]
        assert isinstance(told, float) and abs(told - time.time() - seconds) < 60
        jobs.append(second.submit("--components 4,4"))
        time.sleep(LEASE + 1)
        assert (first.status()["role"], first.status()["term"]) == ("leader", 1), first.story()
    (first.work / "go-on").touch()
    all_end_well(second, jobs)
    first.kill()  # which may have stood still for a lease since, on a busy machine
    assert second.wait_role("leader")["term"] >= 2


def test_a_leader_that_ends_hands_over_at_once(group: Brokers, database: str) -> None:
    first, second = group.make(database), group.make(database)
    for broker in (first, second):
        with broker.changing() as text:
            text["lease"] = "90s"
    first.start_and_look()
    second.start(wait=False)
    second.wait_role("standby")
    second.serves()
    jobs = jobs_of_all_kinds(first)
    assert first.stop() == 0
    assert second.wait_role("leader", seconds=45)["term"] == 2, "and not by the end of a lease"
    (second.work / "go-on").touch()
    all_end_well(second, jobs)


def test_one_that_was_replaced_and_is_told_to_end_does_not_begin_anew(
    group: Brokers, database: str
) -> None:
    first, second = group.start(database, database)
    jobs = [first.submit("--on delft:2,leiden:2")]
    # What it is about to send as it is stopped would be sent when it goes on: all is sent by then.
    first.wait_state(jobs[0], "WAITING", "RUNNING", "COMPLETED")
    first.signal(signal.SIGSTOP)
    second.wait_role("leader")
    first.signal(signal.SIGTERM)
    first.signal(signal.SIGCONT)
    assert first.died() == 0
    all_end_well(second, jobs)
    acts_no_more(first, second)


def test_one_whose_core_has_ended_first_when_it_is_told_to_end_has_not_failed(
    group: Brokers, database: str
) -> None:
    first, second = group.make(database), group.make(database)
    first.start_and_look("--told-when-replaced")
    second.start(wait=False)
    second.wait_role("standby")
    held = first.submit("--hold -n 2")
    first.signal(signal.SIGSTOP)
    second.wait_role("leader")
    first.signal(signal.SIGCONT)
    with suppress(ClientError):  # it has something to write at once, and cannot
        Client(first.socket, timeout=10.0, patience=0.0).change(held, "release")
    assert first.died() == 0
    assert "is over: another broker leads" in first.log.read_text()
    second.client.change(held, "release")
    all_end_well(second, [held])


def test_what_a_broker_that_stands_by_answers(group: Brokers, database: str) -> None:
    first, second = group.start(database, database)
    runs = second.submit("--on lab:30", recording(until("go-on")))
    second.wait_state(runs, "RUNNING")
    waits = second.submit("--on lab:20")
    told = second.job(waits)
    assert told["position"] == 0 and "asks for lab:20" in told["reason"]
    assert second.clusters().keys() == first.clusters().keys()
    assert second.clusters()["lab"]["claimed"] == 30
    status = second.status()
    assert (status["role"], status["answered"]) == ("standby", True)
    assert status["jobs"] == first.status()["jobs"] == {"RUNNING": 1, "QUEUED": 1}
    dry = second.cli("submit", "--dry-run", "--on", "lab:20", str(second.folder / "script"))
    assert dry.returncode == 0 and "lab" in dry.stdout, dry.stderr
    wrong = second.cli("submit", "--on", "lab:999", str(second.folder / "script"))
    assert wrong.returncode == 1 and "can never run" in wrong.stderr
    for word, state in (("hold", "HELD"), ("release", "QUEUED"), ("cancel", "CANCELLED")):
        assert second.cli(word, str(waits)).returncode == 0
        assert second.job(waits)["state"] == state
    again = second.cli("cancel", str(waits))
    assert again.returncode == 1 and "has ended" in again.stderr
    first.kill()
    (second.work / "go-on").touch()
    assert second.cli("wait", str(runs)).returncode == 0, "over the take-over, by the same broker"
    eventually(lambda: second.status()["role"] == "leader", "it leads")
    all_end_well(second, [runs])


def points() -> list[str]:
    """Where leaders die, in the order of a job's life: two of them, or as many as are asked for."""
    steps = ("reserve", "submit", "arm", "open", "clean", "discard")
    every = [f"{when}:{step}" for step in steps for when in ("owed", "before", "after")]
    few = ["after:submit", "owed:open"]
    return every if os.environ.get("METABROKER_TEST_ALL_POINTS") == "1" else few


def test_a_job_survives_leaders_that_die_one_after_the_other(group: Brokers, database: str) -> None:
    first, *later = points()
    leads, waits = group.make(database), group.make(database)
    leads.start_and_look("--kill", first)
    waits.start("--kill", later[0], wait=False)
    waits.wait_role("standby")
    waits.serves()
    with ThreadPoolExecutor(1) as user:
        submitted = user.submit(leads.submit_in_the_end, "--components 4,4,4")
        for point in [*later[1:], None, None]:
            assert leads.died() == -signal.SIGKILL, leads.story()
            # The other one takes over, and not this one again, which may be up before the lease
            # has run out.
            eventually(waits.led, "the other one leads, or has died")
            leads.start(*(("--kill", point) if point else ()), wait=False)
            leads, waits = waits, leads
        job = submitted.result()
    all_end_well(group.leader(leads, waits), [job])
