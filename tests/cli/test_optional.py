"""`metabroker submit` with optional components: each is a job that joins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metabroker.submission.model import Processors
from tests.api.fake import FakeService
from tests.cli.conftest import Run, end_once_waited_for, write_script


def test_each_optional_component_becomes_a_job_that_joins(
    run: Run, service: FakeService, script: Path
) -> None:
    words = "--components", "8,4+,8,2+", "-t", "10", "-J", "n", "--hold", "job.sh", "a"
    done = run("submit", *words)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "the optional components of job 1 are the jobs 2, 3" in done.stderr
    job, *others = (service.submissions[n] for n in (1, 2, 3))
    assert (job.processors, job.joins, job.hold) == (Processors(components=(8, 8)), None, True)
    assert [each.processors for each in others] == [Processors(single=4), Processors(single=2)]
    for each in others:
        assert (each.joins, each.hold, each.time_limit, each.name) == (1, False, 600, "n")
        assert (each.args, each.script) == (("a",), script.read_bytes())


def test_in_clusters_that_are_named(run: Run, service: FakeService, script: Path) -> None:
    assert run("submit", "--on", "delft:8,leiden:4+", "job.sh").returncode == 0
    assert service.submissions[1].processors == Processors(on=(("delft", 8),))
    assert service.submissions[2].processors == Processors(single=4, cluster="leiden")


def test_a_script_may_say_so(run: Run, service: FakeService, folder: Path) -> None:
    write_script(folder / "job.sh", "#METABROKER --components 8,8+\n")
    done = run("submit", "--json", "job.sh")
    assert json.loads(done.stdout)["joining"] == [2] and not done.stderr
    assert run("submit", "--join", "1", "-n", "4", "job.sh").stdout == "3\n"
    assert service.submissions[3].joins == 1


def test_json_is_as_it_was_without_them(run: Run, service: FakeService, script: Path) -> None:
    assert "joining" not in json.loads(run("submit", "--json", "-n", "4", "job.sh").stdout)


@pytest.mark.parametrize("request_id", ["mine", "x" * 128])
def test_a_repeated_submission_makes_nothing_twice(
    run: Run, service: FakeService, script: Path, request_id: str
) -> None:
    words = "submit", "--request-id", request_id, "--components", "8,4+,2+", "job.sh"
    first, second = run(*words), run(*words)
    assert first.stdout == second.stdout == "1\n" and first.stderr == second.stderr
    assert len(service.submissions) == 3
    assert len({each.request_id for each in service.submissions.values()}) == 3


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_one_that_is_refused_is_told_and_the_job_is_there(
    run: Run, service: FakeService, script: Path, words: tuple[str, ...]
) -> None:
    done = run("submit", *words, "--components", "8,4+,9999+,2+", "job.sh")
    assert done.returncode == 1
    assert "job 1 is queued, but of its 3 optional components not number 2" in done.stderr
    assert "metabroker submit --join 1 -n 9999 ..." in done.stderr
    if words:
        assert json.loads(done.stdout)["joining"] == [2]
    else:
        assert done.stdout == "1\n"


def test_the_job_itself_is_waited_for(run: Run, service: FakeService, script: Path) -> None:
    thread = end_once_waited_for(service, 1, "FAILED", 3)
    done = run("submit", "--wait", "--components", "8,4+", "job.sh")
    thread.join()
    assert (done.returncode, done.stdout) == (3, "1\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--components", "8+,4+"), "all components of '8+,4+' are optional"),
        (("--components", "8,x+"), "is not a number of processors"),
        (("--components", "8," + ",".join(["1+"] * 65)), "65 optional components are too many"),
        (("--components", "8,4+", "-a", "0-3"), "an array cannot have optional components"),
        (("--components", "8,4+", "--join", "7"), "a job that joins another one has one component"),
        (("--on", "delft:8,leiden+"), "does not say how many processors"),
        (("--join", "x", "-n", "1"), "is not a job id"),
        (("--join", "7", "--total", "8"), "a job that joins another one has one component"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(
    run: Run, service: FakeService, script: Path, words: tuple[str, ...], told: str
) -> None:
    done = run("submit", *words, "job.sh")
    assert done.returncode == 2 and told in done.stderr
    assert not service.submissions


def test_files_that_all_would_write_are_warned_of(
    run: Run, service: FakeService, script: Path
) -> None:
    done = run("submit", "-o", "out.%c", "--components", "8,4+", "job.sh")
    assert "every optional component writes -o out.%c, too; put %j into it" in done.stderr
    done = run("submit", "--strict", "-o", "out.%j.%c", "--components", "8,4+", "job.sh")
    assert done.returncode == 0 and "writes" not in done.stderr
