"""What the helper makes of pyslurm's objects (a stand-in for pyslurm gives them)."""

from __future__ import annotations

import importlib
import os
import pwd
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from metabroker.clusters.slurm.parsing import JOB_COLUMNS, USE_COLUMNS, jobs, nodes, uses

PACKAGE = "metabroker.clusters.slurm.by_pyslurm.pyslurm_helper"
ME = pwd.getpwuid(os.geteuid()).pw_name


class Job:
    """One job as pyslurm gives it."""

    def __init__(self, number: int, name: str | bytes = "mb-1", **given: Any) -> None:
        self.id = number
        self._name = name
        self.cancelled = 0
        self.refuses = ""
        about: dict[str, Any] = {"state": "RUNNING", "cpus": 4, "allocated_nodes": "n1"}
        about |= {"state_reason": None, "submit_time": 5, "start_time": 6, "end_time": None}
        about |= {"reservation": None, "array_id": None, "array_task_id": None, "time_limit": 60}
        about |= {"array_tasks_waiting": None, "user_id": os.geteuid()}
        for key, value in (about | given).items():
            setattr(self, key, value)

    @property
    def name(self) -> str:
        return self._name if isinstance(self._name, str) else self._name.decode()

    def cancel(self) -> None:
        self.cancelled += 1
        if self.refuses:
            raise ValueError(self.refuses, 2007)


class Pyslurm(ModuleType):
    """The module."""

    __version__ = "24.11.0"

    def __init__(self) -> None:
        super().__init__("pyslurm")
        self.jobs: list[Job] = []
        self.deleted: list[str] = []
        self.Jobs = SimpleNamespace(load=lambda: {job.id: job for job in self.jobs})
        self.Nodes = self.Partitions = SimpleNamespace(load=dict)

    def slurm_api_version(self) -> tuple[int, int, int]:
        return (24, 11, 5)

    def slurm_delete_reservation(self, name: str) -> None:
        self.deleted.append(name)
        if name == "gone":
            raise ValueError("Requested reservation is invalid", 2061)


@pytest.fixture
def pyslurm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pyslurm]:
    it = Pyslurm()
    monkeypatch.setitem(sys.modules, "pyslurm", it)
    forget()
    yield it
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


def ask(do: str, **given: Any) -> dict[str, Any]:
    asked: Any = importlib.import_module(f"{PACKAGE}.asked")
    found: dict[str, Any] = asked.answer({"do": do, "id": 1, **given})
    return found


def test_its_release(pyslurm: Pyslurm) -> None:
    asked: Any = importlib.import_module(f"{PACKAGE}.asked")
    assert asked.hello() == {"pyslurm": "24.11.0", "slurm": "24.11"}


def test_nodes_are_lines_that_the_adapter_reads_with_what_a_core_is(pyslurm: Pyslurm) -> None:
    """Of two threads both are processors, or one is; some are kept for the system; and what is
    not told."""
    cores = {"sockets": 1, "cores_per_socket": 4, "threads_per_core": 2}
    plain: dict[str, Any] = {
        "state": "IDLE",
        "allocated_cpus": 0,
        "real_memory": 1000,
        "configured_gres": None,
    }
    told: list[dict[str, Any]] = [
        {"total_cpus": 8, "effective_cpus": 8, **cores},
        {"total_cpus": 4, "effective_cpus": 4, **cores},
        {"total_cpus": 8, "effective_cpus": 2, **cores},
        {"total_cpus": 8, "effective_cpus": 8, **dict.fromkeys(cores)},
    ]
    named = [
        SimpleNamespace(name=f"n{n}", partitions=["batch"], **plain, **has)
        for n, has in enumerate(told)
    ]
    partition = SimpleNamespace(name="batch", is_default=True, state="UP")
    pyslurm.Nodes = SimpleNamespace(load=lambda: {node.name: node for node in named})
    pyslurm.Partitions = SimpleNamespace(load=lambda: {"batch": partition})
    found = nodes(ask("nodes")["stdout"])
    assert [(n.total, n.processors_per_core, n.threads) for n in found] == [
        (8, 2, 2), (4, 1, 2), (2, 2, 2), (8, 1, 1),
    ]  # fmt: skip


def test_the_jobs_of_a_user_are_lines_that_the_adapter_reads(pyslurm: Pyslurm) -> None:
    pyslurm.jobs = [
        Job(1),
        Job(2, "mb-2", state="PENDING", allocated_nodes=None),
        Job(3, user_id=9),
    ]
    answer = ask("jobs", columns=list(JOB_COLUMNS), user=ME)
    first, second = jobs(answer["stdout"])
    assert (first.id, first.name, first.state, first.nodes) == ("1", "mb-1", "RUNNING", "n1")
    assert (first.submit_time, first.start_time, first.end_time) == (5.0, 6.0, None)
    assert (second.id, second.nodes, second.reservation) == ("2", "", "")
    answer = ask("jobs", columns=list(JOB_COLUMNS), user=ME, names=["mb-2"])
    assert [job.id for job in jobs(answer["stdout"])] == ["2"]


def test_tasks_of_arrays_have_both_numbers(pyslurm: Pyslurm) -> None:
    pyslurm.jobs = [
        Job(7, array_id=7),
        Job(8, array_id=7, array_task_id=1),
        Job(9, array_id=7, array_tasks_waiting="2-5"),
    ]
    answer = ask("jobs", columns=list(USE_COLUMNS))
    assert [use.id for use in uses(answer["stdout"])] == ["7_0", "7_1", "9"]


def test_nobody_can_spoil_a_look_by_the_name_of_a_job(pyslurm: Pyslurm) -> None:
    poisoned = Job(1, b"\xff\xfe", reservation="theirs")
    pyslurm.jobs = [poisoned, Job(2)]
    answer = ask("jobs", columns=list(USE_COLUMNS), states=["RUNNING"], reservations=["theirs"])
    assert [use.id for use in uses(answer["stdout"])] == ["1"]
    answer = ask("jobs", columns=list(JOB_COLUMNS), user=ME)
    assert [job.name for job in jobs(answer["stdout"])] == ["?", "mb-1"]
    assert ask("cancel", user=ME, names=["mb-1"])["status"] == 0


def test_cancelling_leaves_what_is_over_and_what_is_not_asked_for(pyslurm: Pyslurm) -> None:
    states = ("RUNNING", "PENDING", "COMPLETED", "COMPLETING", "CANCELLED")
    pyslurm.jobs = [Job(n, state=state) for n, state in enumerate(states)]
    pyslurm.jobs += [Job(10, "mb-2"), Job(11, user_id=9)]
    assert ask("cancel", user=ME, names=["mb-1"])["status"] == 0
    assert [job.id for job in pyslurm.jobs if job.cancelled] == [0, 1]


def test_one_that_cannot_be_cancelled_does_not_save_its_twin(pyslurm: Pyslurm) -> None:
    pyslurm.jobs = [Job(1), Job(2)]
    pyslurm.jobs[0].refuses = "Access/permission denied"
    answer = ask("cancel", user=ME, names=["mb-1"])
    assert (answer["status"], answer["stdout"]) == (1, "")
    assert answer["stderr"] == "scancel error: Access/permission denied\n"
    assert pyslurm.jobs[1].cancelled == 1


def test_deleting_answers_in_slurms_words(pyslurm: Pyslurm) -> None:
    assert ask("delete reservation", name="mb-1")["status"] == 0
    answer = ask("delete reservation", name="gone")
    assert "Requested reservation is invalid" in answer["stderr"]
    assert pyslurm.deleted == ["mb-1", "gone"]


def test_a_mistake_of_ours_is_a_failure_not_an_end(pyslurm: Pyslurm) -> None:
    pyslurm.jobs = [SimpleNamespace(id=1)]  # type: ignore[list-item]
    answer = ask("jobs", columns=list(JOB_COLUMNS), user=ME)
    assert answer["status"] == 1 and "user_id" in answer["stderr"]
    assert ask("jobs", columns=[], user="nobody here")["status"] == 1
