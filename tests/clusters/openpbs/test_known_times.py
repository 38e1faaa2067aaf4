"""What is asked of others' jobs beside the server's list of all: walltimes to the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.openpbs.known_times import MOST, KnownTimes
from metabroker.clusters.openpbs.parsing import PbsJob, QueueLine, number
from metabroker.clusters.operation import Operation

NOW = 1_795_382_500.0
WAITS = QueueLine("workq", 4, "Q", 60, None, "7.pbsa", since=NOW - 100)
RUNS = replace(WAITS, state="R", elapsed=0)
JOB = PbsJob(
    id="7.pbsa",
    name="job",
    owner="eve",
    state="Q",
    substate=10,
    processors=4,
    vnodes={},
    hosts=(),
    comment="",
    submit_time=NOW - 10,
    start_time=None,
    end_time=None,
    exit_status=None,
    limit=90.0,
)


class Server:
    """Answers with these jobs, and remembers what it was asked."""

    def __init__(self, *jobs: PbsJob) -> None:
        self.jobs = jobs
        self.asked: list[list[str]] = []

    def __call__(self, numbers: Sequence[str]) -> Operation[Sequence[PbsJob]]:
        self.asked.append(list(numbers))
        yield from ()
        return [job for job in self.jobs if number(job.id) in numbers]


def look(times: KnownTimes, server: Server, *lines: QueueLine) -> list[QueueLine]:
    list(times.look(lines, server))
    return [times.of(line) for line in lines]


def test_one_that_waits_is_known_to_the_second_and_asked_for_once() -> None:
    times, server = KnownTimes(), Server(JOB)
    for _ in range(2):
        (seen,) = look(times, server, WAITS)
        assert (seen.seconds, seen.since) == (90.0, NOW - 10)
    assert server.asked == [["7"]]
    assert WAITS.seconds == 120.0


def test_one_that_runs_since_then_is_asked_for_again() -> None:
    times, server = KnownTimes(), Server(JOB)
    look(times, server, WAITS)
    server.jobs = (replace(JOB, state="R", start_time=NOW - 5),)
    (seen,) = look(times, server, RUNS)
    assert seen.until(NOW) == NOW + 85
    assert RUNS.until(NOW) == NOW + 120
    assert len(server.asked) == 2


def test_one_that_is_put_back_and_begins_anew_runs_until_later() -> None:
    times, server = KnownTimes(), Server(replace(JOB, state="R", start_time=NOW - 50))
    look(times, server, RUNS)
    server.jobs = (JOB,)
    look(times, server, WAITS)
    server.jobs = (replace(JOB, state="R", start_time=NOW - 5),)
    (seen,) = look(times, server, RUNS)
    assert (seen.until(NOW), len(server.asked)) == (NOW + 85, 3)


def test_one_whose_walltime_is_another_now_is_asked_for_again() -> None:
    times, server = KnownTimes(), Server(JOB)
    look(times, server, WAITS)
    server.jobs = (replace(JOB, limit=600.0),)
    (seen,) = look(times, server, replace(WAITS, limit=600))
    assert seen.seconds == 600.0


def test_what_cannot_be_told_is_taken_in_whole_minutes_and_not_asked_again() -> None:
    def garbled(numbers: Sequence[str]) -> Operation[Sequence[PbsJob]]:
        yield from ()
        raise Garbled("what?")

    times, server = KnownTimes(), Server()
    assert list(times.look([WAITS], garbled)) == []
    (seen,) = look(times, server, WAITS)
    assert (seen.seconds, seen.since, server.asked) == (120.0, NOW - 100, [])


def test_some_are_asked_for_at_once_and_the_others_with_the_next_looks() -> None:
    times, server = KnownTimes(), Server()
    lines = [replace(WAITS, id=f"{n}.pbsa") for n in range(MOST + 3)]
    for _ in range(3):
        look(times, server, *lines)
    assert [len(asked) for asked in server.asked] == [MOST, 3]


def test_only_a_number_is_ever_asked_for() -> None:
    times, server = KnownTimes(), Server()
    odd = [
        replace(WAITS, id=each) for each in ("-x.pbsa", "7[].pbsa", "", "R7.pbsa", "7.pbs-long*")
    ]
    look(times, server, *odd)
    assert server.asked == [["7"]]
