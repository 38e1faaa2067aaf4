"""Who waits in an OpenPBS cluster's queues: the broker's own jobs never count as others'."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from metabroker.broker.observation import Snapshot
from metabroker.clusters.openpbs import OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.transports.base import Command, Completed
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.slurm.drive import TOKEN, said

from .test_cluster import CONF, FREE, NOW, VERSION

COMMANDS = 6  # of a poll that asks for the queue


@dataclass
class Server:
    """Answers by what is there when it is asked; `submitted`: after how many commands our job
    comes. `others`: how many wait that are not ours."""

    submitted: int
    others: int = 0
    asked: list[Command] = field(default_factory=list)

    def answer(self, command: Command) -> Completed:
        self.asked.append(command)
        ours = ["37.pbsa"] if self.submitted < len(self.asked) else []
        argv = command.argv
        if argv[0] == "sh":
            return CONF
        if argv[:2] == ("qstat", "--version"):
            return VERSION
        if argv[:3] == ("qselect", "-s", "Q"):
            return said("".join(f"{i}\n" for i in (*ours, *(f"{n}.pbsa" for n in self._others))))
        if argv[0] == "qselect":
            return said("".join(f"{i}\n" for i in ours))
        if argv[0] == "qstat":
            line = f"Job Id: {{}}|Job_Name={TOKEN}|Job_Owner=mbsvc@h|job_state=Q|substate=10\n"
            return said("".join(line.format(i) for i in ours if i in argv))
        return FREE if argv[0] == "pbsnodes" else said()

    @property
    def _others(self) -> range:
        return range(100, 100 + self.others)

    def look(self, cluster: OpenPBSCluster, now: float) -> Snapshot:
        operation = cluster.observe(now)
        answer: Completed | None = None
        while True:
            try:
                step = operation.send(answer)
            except StopIteration as end:
                found: Snapshot = end.value
                return found
            assert isinstance(step, Command)
            answer = self.answer(step)


def cluster() -> OpenPBSCluster:
    options = OpenPBSOptions("mbsvc", name="leiden", instance="abcdef01", queue_every=5.0)
    return OpenPBSCluster(options, LocalTransport({}))


@pytest.mark.parametrize("moment", range(2 * COMMANDS))
def test_a_job_that_is_submitted_between_two_listings_is_not_anothers(moment: int) -> None:
    it, server = cluster(), Server(moment)
    looks = [server.look(it, NOW + seconds) for seconds in (0.0, 10.0, 20.0)]
    assert len(server.asked) > 2 * COMMANDS  # our job came within one of these looks
    assert [look.waiting for look in looks] == [0, 0, 0]
    assert TOKEN in looks[-1].jobs


def test_others_are_counted_beside_it() -> None:
    assert Server(0, others=3).look(cluster(), NOW).waiting == 3
