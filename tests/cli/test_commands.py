"""The other commands, as people and scripts use them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from metabroker import __version__
from tests.api.fake import FakeService
from tests.cli.conftest import Run, end_once_waited_for

NEEDED = {
    "job", "name", "user", "state", "reason", "submit_time", "start_time", "end_time", "exit_code",
    "attempts", "components",
}  # fmt: skip


@pytest.fixture
def jobs(run: Run, service: FakeService, script: Path) -> FakeService:
    """Three jobs: 1 has one component, 2 has two, 3 failed with exit code 3."""
    for request in ("-n4", "--components=16,8", "-n2"):
        assert run("submit", "-J", "my job", request, "job.sh").returncode == 0
    service.end(3, "FAILED", 3)
    return service


def test_queue(run: Run, jobs: FakeService) -> None:
    lines = run("queue").stdout.splitlines()
    assert lines[0].split() == [
        "JOB", "NAME", "USER", "STATE", "PROCS", "WHERE", "AGE", "POSITION", "START", "REASON",
    ]  # fmt: skip
    assert len(lines) == 3
    assert "my job" in lines[1]
    assert "?:16,?:8" in lines[2]
    assert "waits for processors" in lines[2]
    answer = json.loads(run("queue", "--json").stdout)
    assert [job["job"] for job in answer["jobs"]] == [1, 2]
    assert set(answer["jobs"][0]) >= NEEDED


def test_queue_of_one_user(run: Run, jobs: FakeService) -> None:
    assert len(json.loads(run("queue", "--me", "--json").stdout)["jobs"]) == 2
    assert json.loads(run("queue", "-u", "nobody-else", "--json").stdout)["jobs"] == []
    assert len(json.loads(run("queue", "--limit", "1", "--json").stdout)["jobs"]) == 1


def test_show(run: Run, jobs: FakeService) -> None:
    text = run("show", "2").stdout
    for part in ("job:            2", "QUEUED", "COMPONENT", "EVENT", "submitted"):
        assert part in text
    assert set(json.loads(run("show", "2", "--json").stdout)) >= NEEDED


@pytest.mark.parametrize("command", ["show", "cancel", "hold", "release", "abandon", "wait"])
def test_a_job_that_is_not(run: Run, service: FakeService, command: str) -> None:
    done = run(command, "9")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no job 9; `metabroker queue` lists the jobs" in done.stderr
    for wrong in ("x", "-1", "1.5", "", "9" * 20):
        assert run(command, "--", wrong).returncode == 2


def test_hold_and_release(run: Run, jobs: FakeService) -> None:
    assert run("hold", "1").stdout == "1 HELD\n"
    assert run("release", "1").stdout == "1 QUEUED\n"


def test_cancel_does_what_can_be_done(run: Run, jobs: FakeService) -> None:
    done = run("cancel", "1", "9", "3", "2")
    assert (done.returncode, done.stdout) == (1, "1 CANCELLED\n2 CANCELLED\n")
    assert [line[: len("metabroker: job 9:")] for line in done.stderr.splitlines()] == [
        "metabroker: job 9:",
        "metabroker: job 3:",
    ]


def test_nothing_is_abandoned_before_it_was_told_what_may_run(run: Run, jobs: FakeService) -> None:
    done = run("abandon", "1")
    assert done.returncode == 1
    assert (
        "job 1 is not written off yet; to write it off: metabroker abandon --yes 1" in done.stderr
    )
    assert json.loads(run("show", "1", "--json").stdout)["state"] == "QUEUED"
    answer = json.loads(run("abandon", "1", "--json").stdout)
    assert (answer["abandoned"], answer["may_still_run"]) == (False, [])
    done = run("abandon", "--yes", "1")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 FAILED")
    assert json.loads(run("abandon", "--yes", "2", "--json").stdout)["abandoned"]


def test_drain_and_resume(run: Run, service: FakeService) -> None:
    assert run("drain", "delft", "--reason", "new cables").stdout == "delft drained\n"
    told = json.loads(run("drain", "delft", "--reason", "new cables", "--json").stdout)
    assert told["drained"]["reason"] == "new cables"
    assert run("resume", "delft").stdout == "delft resumed\n"


def test_cancel_in_json(run: Run, jobs: FakeService) -> None:
    done = run("cancel", "--json", "1", "9")
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert [job["state"] for job in answer["jobs"]] == ["CANCELLED"]
    assert answer["errors"][0]["job"] == 9


def test_wait_for_several(run: Run, jobs: FakeService) -> None:
    jobs.end(1)
    done = run("wait", "1", "3")
    assert (done.returncode, done.stdout) == (3, "1 COMPLETED 0\n3 FAILED 3\n")
    answer = json.loads(run("wait", "--json", "3").stdout)
    assert answer["jobs"][0]["exit_code"] == 3


def test_wait_blocks_until_the_end(run: Run, jobs: FakeService) -> None:
    thread = end_once_waited_for(jobs, 2, "CANCELLED", None)
    done = run("wait", "2")
    thread.join()
    assert (done.returncode, done.stdout) == (1, "2 CANCELLED\n")


def test_clusters_shows_what_is_unknown(run: Run, service: FakeService) -> None:
    lines = run("clusters").stdout.splitlines()
    assert lines[0].split()[:5] == ["NAME", "SYSTEM", "VERSION", "PROCS", "IDLE"]
    assert "unreachable" in lines[2]
    assert lines[2].split()[4] == "?"
    answer = json.loads(run("clusters", "--json").stdout)
    assert set(answer["clusters"][0]) >= {
        "name", "system", "version", "processors", "idle", "reachable", "age_seconds",
    }  # fmt: skip


def test_history(run: Run, jobs: FakeService) -> None:
    lines = run("history").stdout.splitlines()
    assert len(lines) == 2
    assert lines[1].split()[0] == "3"
    assert json.loads(run("history", "--json").stdout)["jobs"][0]["exit_code"] == 3
    for since, count in (("1h", 1), ("2020-01-01", 1), ("2020-01-01T10:00", 1), ("2999-01-01", 0)):
        answer = json.loads(run("history", "--json", "--since", since).stdout)
        assert len(answer["jobs"]) == count


@pytest.mark.parametrize(
    "text", ["yesterday", "", "2020-13-01", "-1d", "1y", "9" * 30, "0001-01-01"]
)
def test_a_time_that_is_none(run: Run, service: FakeService, text: str) -> None:
    done = run("history", "--since", text)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a time" in done.stderr


def test_without_a_daemon_every_command_says_so(run: Run, folder: Path) -> None:
    for command in (
        ["queue"],
        ["show", "1"],
        ["cancel", "1"],
        ["wait", "1"],
        ["clusters"],
        ["history"],
    ):
        done = run(*command)
        assert (done.returncode, done.stdout) == (1, "")
        assert "cannot reach the daemon" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_default_socket_is_found(run: Run, service: FakeService, folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root's default socket is the system's")
    (folder / "run" / "metabroker").mkdir(parents=True)
    (folder / "run" / "metabroker" / "metabroker.sock").symlink_to(folder / "mb.sock")
    assert run("queue", env={"METABROKER_SOCKET": ""}).returncode == 0


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout == f"metabroker {__version__}\n"
    listed = run("--help").stdout
    for command in ("submit", "queue", "completion"):
        assert command in listed
        assert run(command, "-h").stdout.startswith(f"Usage: metabroker {command}")


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ([], "missing command"),
        (["sumbit"], "did you mean `metabroker submit`?"),
        (["xyzzy"], "`metabroker --help` lists them"),
        (["$(id)\n"], "there is no command '$(id)"),
        (["install-service", "--remove"], "install the Debian package"),
        (["--bogus"], "no such option"),
        (["queue", "extra"], "unexpected extra argument"),
        (["queue", "--limit", "0"], "invalid value"),
        (["show"], "missing argument"),
        (["cancel"], "missing argument"),
        (["history", "--swf", "--json"], "cannot go together"),
        (["completion", "tcsh"], "invalid value"),
        (["serve"], "missing option '--config'"),
        (["check"], "missing option '--config'"),
    ],
)
def test_wrong_usage(run: Run, args: list[str], what: str) -> None:
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1
