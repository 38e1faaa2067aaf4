"""`sbatch` without a daemon: what becomes of scripts, variables and the command line."""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path
from time import localtime, strftime

import pytest

from tests.frontends.conftest import Ask
from tests.frontends.stub import NOW, StubClient, job


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/sh\n#SBATCH -n 2 -J mine -q low\n#SBATCH --mem=1G\ntrue\n")
    return path


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize("expected", [None, {"earliest": NOW, "likely": NOW + 60, "latest": NOW}])
def test_a_test_tells_processors_and_the_likely_start(
    ask: Ask, expected: dict[str, float] | None
) -> None:
    daemon, parts = StubClient(), [{"processors": 32}, {"processors": 8}]
    daemon.plan = {"components": parts, "earliest_start": NOW, "expected_start": expected}
    when = strftime("%Y-%m-%dT%H:%M:%S", localtime(NOW + 60 if expected else NOW))
    told = f"sbatch: Job to start at {when} using 40 processors\n"
    assert ask(daemon, "sbatch", "--test-only", "job.sh") == (0, "", told)


@pytest.mark.usefixtures("script")
def test_a_script_with_its_options_and_arguments(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = StubClient()
    monkeypatch.setenv("SBATCH_QOS", "of-environment")
    monkeypatch.setenv("SBATCH_TIMELIMIT", "10")
    monkeypatch.setenv("COLOUR", "blue")
    done = ask(stub, "sbatch", "-t", "20", "job.sh", "--mem", "a b")
    assert done == (0, "Submitted batch job 17\n", "")
    (wire,) = stub.submitted
    assert wire["processors"] == {"single": 2}
    assert (wire["name"], wire["time_limit"], wire["shape"]) == ("mine", 1200, {"memory": 1024})
    assert (wire["args"], wire["output"]) == (["--mem", "a b"], "slurm-%j.out")
    (asked,) = wire["asked"]
    assert (asked["option"], asked["value"]) == ("qos", "of-environment")
    assert wire["environment"]["COLOUR"] == "blue"


@pytest.mark.usefixtures("script")
def test_what_is_printed(ask: Ask) -> None:
    stub = StubClient()
    assert ask(stub, "sbatch", "--parsable", "job.sh")[1] == "17\n"
    assert ask(stub, "sbatch", "-M", "delft", "--parsable", "job.sh")[1] == "17;delft\n"
    assert (
        ask(stub, "sbatch", "-Mdelft", "job.sh")[1] == "Submitted batch job 17 on cluster delft\n"
    )
    assert ask(stub, "sbatch", "-Q", "job.sh")[1] == ""


@pytest.mark.usefixtures("script")
def test_a_command_may_be_wrapped_or_come_from_standard_input(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = StubClient()
    assert ask(stub, "sbatch", "--wrap", "echo 'a b'")[0] == 0
    text = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\necho 'a b'\n\n"
    assert base64.b64decode(stub.submitted[0]["script"]).decode() == text
    assert stub.submitted[0]["script_name"] == "wrap"
    stdin = io.TextIOWrapper(io.BytesIO(b"#!/bin/sh\n#PBS -l select=3:ncpus=2\ntrue\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert ask(stub, "sbatch", "-c", "4")[0] == 0
    assert stub.submitted[1]["script_name"] == "sbatch"
    assert stub.submitted[1]["processors"] == {"single": 3}
    assert stub.submitted[1]["shape"] == {"cpus_per_task": 4}


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--array=3-0", "job.sh"], "--array=3-0: '3-0' has no tasks in it"),
        (["-d", "expand:1", "job.sh"], "expand is not supported"),
        (["none.sh"], "Unable to open file none.sh: No such file or directory"),
        (["--wrap", "x", "job.sh"], "Script arguments not permitted with --wrap option"),
        (["-J", "mb-abc123-1-1-0-0", "job.sh"], "takes this for its cluster's own sbatch"),
        (["--nonsense"], "'--nonsense' is no option of sbatch"),
    ],
)
def test_what_is_refused(ask: Ask, words: list[str], what: str) -> None:
    stub = StubClient()
    code, out, told = ask(stub, "sbatch", *words)
    assert (code, out, stub.submitted) == (1, "", [])
    assert what in told


def test_options_of_metabroker_are_not_ignored(ask: Ask, script: Path) -> None:
    script.write_text("#!/bin/sh\n#METABROKER --total 9\ntrue\n")
    assert "job.sh:2: #METABROKER lines" in ask(StubClient(), "sbatch", "job.sh")[2]


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [
        ("COMPLETED", 0, 0),
        ("COMPLETED", 3, 0),  # an array whose worst task did as it was told
        ("FAILED", 3, 3),
        ("FAILED", 0, 1),  # an array, of which a task hit its time limit
        ("FAILED", None, 1),
        ("FAILED", 256, 1),
        ("TIMEOUT", 0, 1),
        ("TIMEOUT", 143, 1),
        ("CANCELLED", 0, 1),
    ],
)
def test_who_waits_is_told_that_a_job_did_not_succeed(
    ask: Ask, state: str, code: int | None, expected: int
) -> None:
    ended = job(17, state, exit_code=code)
    for words in (["sbatch", "--wait"], ["qsub", "-W", "block=true"]):
        Path("job.sh").write_text("#!/bin/sh\n")
        assert ask(StubClient(ended), *words, "job.sh")[0] == expected
