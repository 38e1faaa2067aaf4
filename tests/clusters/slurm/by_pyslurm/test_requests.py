"""Which commands are put to the helper, and what it is asked for them."""

from __future__ import annotations

import pytest

from metabroker.clusters.slurm import commands
from metabroker.clusters.slurm.by_pyslurm.requests import Request, request
from metabroker.clusters.slurm.parsing import JOB_COLUMNS, USE_COLUMNS
from metabroker.clusters.transports.base import Command

JOBS = {"do": "jobs", "columns": list(JOB_COLUMNS)}


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (commands.list_jobs("mbsvc"), {**JOBS, "user": "mbsvc"}),
        (commands.find_jobs("mbsvc", "mb-1"), {**JOBS, "user": "mbsvc", "names": ["mb-1"]}),
        (
            commands.list_jobs_in(["a", "b"]),
            {
                "do": "jobs",
                "columns": list(USE_COLUMNS),
                "states": ["RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING"],
                "reservations": ["a", "b"],
            },
        ),
        (commands.list_nodes(), {"do": "nodes"}),
        (commands.list_reservations(), {"do": "reservations"}),
        (commands.show_reservation("mb-1"), {"do": "reservations", "name": "mb-1"}),
        (commands.delete_reservation("mb-1"), {"do": "delete reservation", "name": "mb-1"}),
        (
            commands.cancel(commands.SlurmIdentity("mbsvc"), "mb-1"),
            {"do": "cancel", "user": "mbsvc", "names": ["mb-1"]},
        ),
    ],
)
def test_every_look_and_every_removal_is_asked_of_the_helper(
    command: Command, asked: Request
) -> None:
    assert request(command) == asked


@pytest.mark.parametrize(
    "command",
    [
        commands.version(),
        commands.create_reservation(commands.SlurmIdentity("mbsvc", "batch"), "mb-1", 60, 1, 4),
        Command(("sbatch", "--parsable")),
        Command(("scontrol", "show", "config")),
        Command(("squeue", "-h", "-a", "--local", "-r", "-t", "all", "-o", "%i")),
        Command(("squeue", "-h", "-a", "--local", "-r", "-t", "all", "-p", "batch", "-o", "%i")),
        Command(("scancel", "7")),
        Command(("scontrol", "delete", "nodename=n1")),
    ],
)
def test_all_else_goes_by_the_commands(command: Command) -> None:
    assert request(command) is None
