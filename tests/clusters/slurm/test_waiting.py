"""Who waits in a Slurm cluster's own queue: the broker's own jobs never count as others'."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from metabroker.broker.observation import Snapshot
from metabroker.clusters.operation import Now
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.slurm.parsing import JOB_FORMAT, SEPARATOR, WAITING_FORMAT
from metabroker.clusters.transports.base import Command, Completed
from metabroker.clusters.transports.local import LocalTransport

from . import recorded
from .drive import job, said

OPTIONS = SlurmOptions(
    "root",
    name="delft",
    instance="abcdef01",
    partition="batch",
    queue_every=5.0,
    clock_every=600.0,
)
COMMANDS = 6  # of a poll that asks for the queue and for the time
AHEAD = 3600  # seconds that the controller's clock is


@dataclass
class Controller:
    """Answers by what is there when it is asked; `submitted`: after how many commands our job
    comes; `forgotten`: after how many it has ended, and no listing has it any more; `since`: when
    those of others came."""

    submitted: int
    forgotten: int = 1000
    others: int = 0
    since: int = 1000
    tells_time: bool = True
    now: float = 0.0
    asked: list[Command] = field(default_factory=list)

    def answer(self, command: Command) -> Completed:
        self.asked.append(command)
        ours = self.submitted < len(self.asked) <= self.forgotten
        if JOB_FORMAT in command.argv:
            return said(job("PENDING", number=7) if ours else "")
        if WAITING_FORMAT in command.argv:
            ids = [*(["7"] if ours else []), *(str(100 + n) for n in range(self.others))]
            columns = ("16", "1", "None", "PENDING", "5:00", "N/A", "(null)", str(self.since))
            return said("".join(SEPARATOR.join((i, *columns)) + "\n" for i in ids))
        if "config" in command.argv and self.tells_time:
            return said(f"Configuration data as of {int(self.now) + AHEAD}\n")
        if command.argv[0] == "sinfo":
            return said(recorded.sinfo("24.11", "idle"))
        if "reservation" in command.argv:
            return said("No reservations in the system\n")
        return said("slurm 24.11.5")

    def look(self, cluster: SlurmCluster, now: float) -> Snapshot:
        self.now = now
        operation = cluster.observe(now)
        answer: Completed | float | None = None
        while True:
            try:
                step = operation.send(answer)
            except StopIteration as end:
                found: Snapshot = end.value
                return found
            if isinstance(step, Now):
                answer = now
                continue
            assert isinstance(step, Command)
            answer = self.answer(step)


@pytest.mark.parametrize("partition", ["batch", None])
@pytest.mark.parametrize("moment", range(2 * COMMANDS))
def test_a_job_that_is_submitted_between_two_listings_is_not_anothers(
    moment: int, partition: str | None
) -> None:
    options = replace(OPTIONS, partition=partition)
    cluster, controller = SlurmCluster(options, LocalTransport({})), Controller(moment)
    looks = [controller.look(cluster, now) for now in (2000.0, 2010.0, 2020.0)]
    assert len(controller.asked) > 2 * COMMANDS  # our job came within one of these looks
    assert [look.waiting for look in looks] == [0, 0, 0]
    assert "mb-abcdef01-1-1-0" in looks[-1].jobs


def test_others_are_counted_beside_it() -> None:
    cluster, controller = SlurmCluster(OPTIONS, LocalTransport({})), Controller(0, others=3)
    assert controller.look(cluster, 2000.0).waiting == 3 * 16


def test_a_job_that_has_ended_and_is_forgotten_does_not_become_anothers() -> None:
    cluster = SlurmCluster(OPTIONS, LocalTransport({}))
    controller = Controller(0, forgotten=COMMANDS)
    assert controller.look(cluster, 2000.0).waiting == 0
    # Till it is asked again who waits, that is what was seen then.
    assert controller.look(cluster, 2001.0).waiting == 0


def test_who_came_a_moment_ago_has_not_been_kept_waiting_but_takes_what_is_idle() -> None:
    """A controller takes a moment to start what there is room for. It is asked again soon."""
    cluster, controller = SlurmCluster(OPTIONS, LocalTransport({})), Controller(1000, others=3)
    controller.since = 1999 + AHEAD
    looks = [controller.look(cluster, now) for now in (2000.0, 2000.5, 2002.0, 2003.5)]
    assert [(look.waiting, look.arriving) for look in looks] == [
        *[(0, 3 * 16)] * 3,
        (3 * 16, 0),
    ]
    asked = [c for c in controller.asked if WAITING_FORMAT in c.argv]
    assert len(asked) == 3  # not again within half a second


def test_where_the_controller_does_not_tell_the_time_everybody_has_been_kept_waiting() -> None:
    cluster, controller = SlurmCluster(OPTIONS, LocalTransport({})), Controller(1000, others=3)
    controller.since, controller.tells_time = 1999 + AHEAD, False
    look = controller.look(cluster, 2000.0)
    assert (look.waiting, look.arriving) == (3 * 16, 0)
