"""`metabroker submit`: options, directives, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metabroker.submission.model import AskedOption, Processors
from metabroker.submission.shape import Shape
from tests.api.fake import FakeService
from tests.cli.conftest import Run, end_once_waited_for, write_script


def test_the_id_is_printed_and_nothing_else(run: Run, service: FakeService, script: Path) -> None:
    done = run("submit", "-n", "4", "job.sh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    submission = service.submissions[1]
    assert submission.script == script.read_bytes()
    assert (submission.script_name, submission.chdir) == ("job.sh", str(script.parent))
    assert submission.environment == {}
    assert submission.request_id


def test_json_is_one_document(run: Run, service: FakeService, script: Path) -> None:
    done = run("submit", "--json", "-n", "4", "job.sh")
    job = json.loads(done.stdout)
    assert (job["job"], job["state"]) == (1, "QUEUED")


def test_every_option(run: Run, service: FakeService, script: Path, folder: Path) -> None:
    done = run(
        "submit", "-n4", "--cluster", "delft", "-t", "1:30:00", "-J", "it's $(x);\"", "-o", "o.%j",
        "-e", "e.%j.%c", "-D", "sub", "--export", "ALL,A=1", "--native", "delft:--mem=4G -C 'a b'",
        "--native", "leiden:-x", "--hold", "--request-id", "mine", "job.sh", "--json", "-n", "9",
        "--", "a b", "", "$(id)",
        env={"EDITOR": "vi", "SLURM_JOB_ID": "7"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = service.submissions[1]
    assert found.processors == Processors(single=4, cluster="delft")
    assert (found.time_limit, found.name) == (5400, "it's $(x);\"")
    assert (found.output, found.error, found.chdir) == ("o.%j", "e.%j.%c", str(folder / "sub"))
    assert found.native == {"delft": ("--mem=4G", "-C", "a b"), "leiden": ("-x",)}
    assert (found.hold, found.request_id) == (True, "mine")
    assert found.args == ("--json", "-n", "9", "--", "a b", "", "$(id)")
    assert (found.environment["EDITOR"], found.environment["A"]) == ("vi", "1")
    assert "SLURM_JOB_ID" not in found.environment


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-n", "4"], Processors(single=4)),
        (["--components", "16,16,8"], Processors(components=(16, 16, 8))),
        (["--on", "delft:16,leiden:8"], Processors(on=(("delft", 16), ("leiden", 8)))),
        (["--total", "96"], Processors(total=96)),
    ],
)
def test_the_four_forms(
    run: Run, service: FakeService, script: Path, options: list[str], expected: Processors
) -> None:
    assert run("submit", *options, "job.sh").returncode == 0
    assert service.submissions[1].processors == expected


@pytest.mark.parametrize(
    ("options", "tasks", "asked"),
    [
        (["-n", "16", "--nodes", "4"], 16, {"nodes": "4"}),
        (["-N", "2-4", "-n", "8"], 8, {"nodes": "2-4"}),
        (["-N", "3"], 3, {"nodes": "3"}),
        (["-N", "2", "--ntasks-per-node", "8"], 16, {"nodes": "2", "ntasks-per-node": "8"}),
    ],
)
def test_tasks_are_on_so_many_nodes(
    run: Run, service: FakeService, script: Path, options: list[str], tasks: int,
    asked: dict[str, str],
) -> None:  # fmt: skip
    done = run("submit", *options, "job.sh")
    assert done.returncode == 0, done.stderr
    found = service.submissions[1]
    assert found.processors == Processors(single=tasks)
    assert {each.option: each.value for each in found.asked} == asked


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--nodes", "2", "--components", "4,4"], "are of a job with one component"),
        (["--nodes", "x"], "--nodes=x is not a number of nodes"),
        (["--nodes", "2-3"], "--nodes=2-3 does not say how many tasks"),
    ],
)
def test_nodes_that_say_nothing(run: Run, script: Path, options: list[str], told: str) -> None:
    done = run("submit", *options, "job.sh")
    assert done.returncode != 0 and told in done.stderr


def test_directives_are_read_and_the_command_line_wins(
    run: Run, service: FakeService, folder: Path
) -> None:
    write_script(
        folder / "d.sh",
        "#METABROKER -n 4 --cluster delft -t 10   # as sbatch does\n"
        "# more\n"
        "#METABROKER -J 'from script' --native delft:-a --native leiden:-b\n"
        "\n"
        "#METABROKER --hold\n"
        "true\n"
        "#METABROKER --total 99\n",
    )
    assert run("submit", "-t", "20", "--native", "delft:-c", "d.sh").returncode == 0
    found = service.submissions[1]
    assert found.processors == Processors(single=4, cluster="delft")
    assert (found.time_limit, found.name, found.hold) == (1200, "from script", True)
    assert found.native == {"delft": ("-c",), "leiden": ("-b",)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-n", "8"], Processors(single=8, cluster="delft")),
        (["--cluster", "leiden"], Processors(single=4, cluster="leiden")),
        (["--components", "2,2"], Processors(components=(2, 2))),
        (["--total", "8"], Processors(total=8)),
    ],
)
def test_the_command_lines_form_replaces_the_scripts(
    run: Run, service: FakeService, folder: Path, options: list[str], expected: Processors
) -> None:
    write_script(folder / "d.sh", "#METABROKER -n 4 --cluster delft\n")
    assert run("submit", *options, "d.sh").returncode == 0
    assert service.submissions[1].processors == expected


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("-n 0", "d.sh:3: -n: '0' processors cannot be requested"),
        ("-n", "d.sh:3: option '-n' requires an argument"),
        ("--numproc 4", "d.sh:3: no such option '--numproc'"),
        ("-n 4 -t soon", "d.sh:3: --time: 'soon' is not a time"),
        ("-n 4 extra", "d.sh:3: got unexpected extra argument"),
        ("-n 4 --json", "d.sh:3: no such option '--json'"),
        ("-n 4 --socket /x", "d.sh:3: no such option '--socket'"),
        ("-n 4 -J 'open", "d.sh:3: "),
        ("n=4", "d.sh:3: 'n=4' is not an option"),
    ],
)
def test_a_wrong_directive_names_file_and_line(
    run: Run, service: FakeService, folder: Path, line: str, what: str
) -> None:
    write_script(folder / "d.sh", f"# a comment\n#METABROKER {line}\n")
    done = run("submit", "d.sh")
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert not service.submissions


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["job.sh"], "the submission does not say how many processors it needs"),
        (["-n", "4", "--total", "4", "job.sh"], "-n and --total are given"),
        (["--components", "4", "--on", "delft:4", "job.sh"], "--components and --on are given"),
        (["-n", "0", "job.sh"], "'0' processors cannot be requested"),
        (["-n", "-4", "job.sh"], "'-4' processors cannot be requested"),
        (["-n", "four", "job.sh"], "not a number"),
        (["--components", "16,,8", "job.sh"], "empty part"),
        (["--on", "delft", "job.sh"], "does not say how many"),
        (["--total", "4", "--cluster", "delft", "job.sh"], "--cluster can be used with -n"),
        (["-n", "4", "-t", "1:99", "job.sh"], "not a time"),
        (["-n", "4", "-J", "a\nb", "job.sh"], "control characters"),
        (["-n", "4", "-J", "x" * 5000, "job.sh"], "5000 characters"),
        (["-n", "4", "-J", "", "job.sh"], "is empty"),
        (["-n", "4", "-o", "%N", "job.sh"], "unknown sign"),
        (["-n", "4", "--export", "A B", "job.sh"], "environment variable"),
        (["-n", "4", "--native", "--mem=4", "job.sh"], "for which cluster"),
        (
            ["-n", "4", "--stage-in", "f", "job.sh"],
            "--stage-in 'f' cannot be sent: it is not there",
        ),
        (["-n", "4", "--stage-out", "../f", "job.sh"], "leads out of the directory"),
        (["-n", "4", "--request-id", "a b", "job.sh"], "request id"),
        (["-n", "4", "--dry-run", "--wait", "job.sh"], "cannot go together"),
        (["-n", "4", "--no-such", "job.sh"], "no such option '--no-such'"),
        (["-n", "4"], "missing argument 'SCRIPT'"),
        (["-n", "4", "none.sh"], "cannot be read: No such file"),
        (["-n", "4", "."], "cannot be read: Is a directory"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_wrong_usage(
    run: Run, service: FakeService, script: Path, args: list[str], what: str
) -> None:
    done = run("submit", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not service.submissions


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b"   \n", "is empty"),
        (b"#!/bin/sh\n\0\0", "is binary"),
        (b"\x7fELF\x02\x01\0", "is binary"),
        (b"echo hello\n", "no interpreter line"),
        (b"#!/bin/sh\r\ntrue\r\n", "DOS line ends"),
        (b"#!/bin/sh\n" + b"#" * (4 * 1024 * 1024), "use at most 4194304"),
    ],
    ids=["empty", "blank", "nul", "elf", "plain", "dos", "large"],
)
def test_wrong_scripts(
    run: Run, service: FakeService, folder: Path, content: bytes, what: str
) -> None:
    (folder / "bad.sh").write_bytes(content)
    for done in (run("submit", "-n", "1", "bad.sh"), run("submit", "-n", "1", "-", stdin=content)):
        assert (done.returncode, done.stdout) == (2, "")
        assert what in done.stderr
    assert not service.submissions


def test_a_script_on_stdin(run: Run, service: FakeService) -> None:
    done = run("submit", "-", "arg", stdin="#!/bin/sh\n#METABROKER -n 3\n")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert service.submissions[1].script_name == "stdin"
    assert service.submissions[1].args == ("arg",)


def test_a_file_name_is_data(run: Run, service: FakeService, folder: Path) -> None:
    write_script(folder / "$(id) 'x;.sh", "")
    assert run("submit", "-n", "1", "$(id) 'x;.sh").returncode == 0
    assert service.submissions[1].script_name == "$(id) 'x;.sh"


def test_what_the_daemon_refuses_could_not_be_done(
    run: Run, service: FakeService, script: Path
) -> None:
    done = run("submit", "-n", "500", "job.sh")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "metabroker: no cluster has 500 processors; the largest has 144\n"


def test_without_a_daemon(run: Run, folder: Path, script: Path) -> None:
    done = run("submit", "-n", "1", "job.sh")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"cannot reach the daemon at {folder}/mb.sock: No such file or directory" in done.stderr
    assert "metabroker serve --config FILE" in done.stderr


def test_the_option_names_the_socket(run: Run, service: FakeService, folder: Path) -> None:
    write_script(folder / "job.sh", "")
    path = str(folder / "mb.sock")
    wrong = {"METABROKER_SOCKET": "/nonexistent"}
    assert run("submit", "-n", "1", "--socket", path, "job.sh", env=wrong).returncode == 0
    assert run("submit", "-n", "1", "job.sh", env=wrong).returncode == 1


def test_a_repeated_request_id_is_the_same_job(
    run: Run, service: FakeService, script: Path
) -> None:
    outs = [run("submit", "-n", "1", "--request-id", "r", "job.sh").stdout for _ in range(2)]
    assert outs == ["1\n", "1\n"]


def test_a_dry_run(run: Run, service: FakeService, script: Path) -> None:
    plan = json.loads(run("submit", "--dry-run", "--json", "--components", "4,8", "job.sh").stdout)
    assert plan["dry_run"] is True
    text = run("submit", "--dry-run", "--components", "4,8", "job.sh").stdout
    assert "starts now:     yes" in text
    assert "delft" in text
    assert not service.submissions


def test_components_that_share_an_output_are_warned_of(
    run: Run, service: FakeService, script: Path
) -> None:
    done = run("submit", "--components", "4,4", "-o", "out.%j", "job.sh")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "put %c into it" in done.stderr
    assert run("submit", "--components", "4,4", "-o", "out.%c", "job.sh").stderr == ""


def test_directives_of_sbatch_are_options_and_what_is_the_clusters_goes_with_its_place(
    run: Run, service: FakeService, folder: Path
) -> None:
    write_script(
        folder / "old.sh",
        "#SBATCH --time=1:00:00 -n2\n#SBATCH -p short\n##SBATCH --no\n # SBATCH --no\n"
        " #SBATCH --no\n\n#SBATCH -c 4 --mem=2G -J 'of slurm'\n#METABROKER -J ours\n"
        "echo\n#SBATCH --late=1\n",
    )
    done = run("submit", "--mem-per-cpu", "1G", "old.sh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    found = service.submissions[1]
    assert found.processors == Processors(single=2)
    assert found.shape == Shape(cpus_per_task=4, memory_per_cpu=1024)
    assert (found.time_limit, found.name) == (3600, "ours")
    assert found.asked == (AskedOption("partition", "short", "old.sh:3"),)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("#SBATCH --array=9-0", "old.sh:2: --array=9-0: '9-0' has no tasks in it"),
        ("#SBATCH -d afterok:x", "old.sh:2: --dependency=afterok:x: 'x' is not a job to depend on"),
        ("#PBS -J 9-0", "old.sh:2: -J 9-0: '9-0' has no tasks in it"),
        ("#SBATCH --no-such=1", "old.sh:2: '--no-such' is no option of sbatch"),
        ("#SBATCH -t soon", "old.sh:2: --time=soon: 'soon' is not a time"),
        ("#SBATCH extra", "old.sh:2: 'extra' is not an option"),
        ("#SBATCH -J 'open", 'old.sh:2: "-J \'open" cannot be split into words'),
        ("#PBS -l walltime", "old.sh:2: -l walltime: is not name=value"),
    ],
)
def test_what_cannot_be_kept_of_them_is_refused_by_name(
    run: Run, service: FakeService, folder: Path, line: str, what: str
) -> None:
    write_script(folder / "old.sh", f"{line}\ntrue\n")
    done = run("submit", "old.sh")
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert not service.submissions


@pytest.mark.parametrize(
    ("state", "exit_code", "code"),
    [
        ("COMPLETED", 0, 0),
        ("FAILED", 7, 7),
        ("FAILED", None, 1),
        ("CANCELLED", None, 1),
        ("TIMEOUT", None, 1),
    ],
)
@pytest.mark.usefixtures("script")
@pytest.mark.parametrize("words", [[], ["--json"]], ids=["plain", "json"])
def test_how_a_job_ended_and_why_is_told(
    run: Run, service: FakeService, state: str, exit_code: int | None, code: int, words: list[str]
) -> None:
    thread = end_once_waited_for(service, 1, state, exit_code)
    done = run("submit", "--wait", *words, "-n", "1", "job.sh")
    thread.join()
    assert done.returncode == code
    shown = json.loads(done.stdout)
    assert shown["state"] == state if words else done.stdout == "1\n"
    assert done.stderr.startswith(f"metabroker: job 1 {state}") == (state != "COMPLETED")
    assert run("wait", "1").stderr == done.stderr


def test_a_folder_is_made_absolute(run: Run, service: FakeService, script: Path) -> None:
    assert run("submit", "-n", "1", "-D", "relative/../x", "job.sh").returncode == 0
    assert service.submissions[1].chdir == str(script.parent / "x")


def test_files_that_lie_in_clusters(run: Run, service: FakeService, folder: Path) -> None:
    write_script(folder / "job.sh", "#METABROKER --input-at lab:/y")
    done = run("submit", "-n1", "--input-at", "delft:/x,lab:/z:5k", "--only-at-input", "job.sh")
    assert done.returncode == 0, done.stderr
    submission = service.submissions[1]
    assert submission.input_at == ("lab:/y:1000000000", "delft:/x,lab:/z:5000")
    assert submission.only_at_input
    done = run("submit", "-n1", "--input-at", "/x", "job.sh")
    assert done.returncode == 2 and "--input-at: '/x' does not say in which cluster" in done.stderr
