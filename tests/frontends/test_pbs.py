"""The commands of PBS: in the forms that a real PBS was recorded to print."""

from __future__ import annotations

import base64
import io
import json
import sys
import time
from pathlib import Path

import pytest

from metabroker.frontends.pbs import written
from tests.frontends.conftest import Ask
from tests.frontends.stub import StubClient, job

RECORDED = Path(__file__).parents[1] / "data" / "openpbs" / "20-qstat.jsonl"


def stub() -> StubClient:
    return StubClient(
        job(1, "QUEUED", reason="behind others"),
        job(2, "RUNNING"),
        job(3, "FAILED", exit_code=3),
        job(4, "HELD"),
        job(5, "CANCELLED"),
        job(6, "TIMEOUT", name="a-name-of-many-letters"),
    )


def test_json_is_written_as_pbs_writes_it_byte_for_byte() -> None:
    entries = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    texts = [e["stdout"] for e in entries if "-f" in e["argv"] and "json" in e["argv"]]
    sound = [text for text in texts if text.startswith("{") and "\\u" not in text]
    assert len(sound) > 15
    for text in sound:
        assert written(json.loads(text)) + "\n" == text


def test_qstat_tells_of_jobs_as_psij_parsl_and_hyperqueue_read_it(ask: Ask) -> None:
    code, out, _ = ask(stub(), "qstat", "-f", "-F", "json", "-x", "1", "2.metabroker", "3", "4",
                       "5", "6")  # fmt: skip
    found = json.loads(out)["Jobs"]
    assert code == 0
    assert {key: each["job_state"] for key, each in found.items()} == {
        "1.metabroker": "Q", "2.metabroker": "R", "3.metabroker": "F", "4.metabroker": "H",
        "5.metabroker": "F", "6.metabroker": "F",
    }  # fmt: skip
    assert [found[f"{n}.metabroker"].get("Exit_status") for n in (2, 3, 5, 6)] == [
        None, 3, 271, -29
    ]  # fmt: skip
    assert found["2.metabroker"]["Resource_List"]["walltime"] == "01:00:00"
    order = [k for k in _recorded_order() if k in found["3.metabroker"]]
    assert [k for k in found["3.metabroker"] if k in order] == order


def _recorded_order() -> list[str]:
    """The attributes of a job that had ended, as they came."""
    for line in RECORDED.read_text().splitlines():
        entry = json.loads(line)
        if entry["id"] == "20/13-x-f-json-finished-exit3":
            return list(next(iter(json.loads(entry["stdout"])["Jobs"].values())))
    raise AssertionError("it is not recorded")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["99"], 153, "qstat: Unknown Job Id 99.metabroker\n"),
        (["3.metabroker"], 35, "qstat: 3.metabroker Job has finished, use -x or -H to obtain "
                               "historical job information\n"),
        (["-x", "2", "99"], 153, "qstat: Unknown Job Id 99.metabroker\n"),
    ],
)  # fmt: skip
def test_what_qstat_does_not_know_is_an_error(
    ask: Ask, words: list[str], code: int, told: str
) -> None:
    assert ask(stub(), "qstat", *words)[::2] == (code, told)


def test_qstat_as_text_as_nextflow_reads_it(ask: Ask) -> None:
    _, out, _ = ask(stub(), "qstat", "-f", "1")
    lines = out.splitlines()
    assert lines[0] == "Job Id: 1.metabroker"
    assert "    job_state = Q" in lines and "    comment = Not Running: behind others" in lines
    assert "    Resource_List.ncpus = 4" in lines
    assert max(map(len, lines)) <= 80
    assert ask(stub(), "qstat", "-x")[1].splitlines()[2:] == [
        "1.metabroker      job1             anna                     0 Q batch           ",
        "2.metabroker      job2             anna              00:01:30 R batch           ",
        "3.metabroker      job3             anna              00:01:20 F batch           ",
        "4.metabroker      job4             anna                     0 H batch           ",
        "5.metabroker      job5             anna              00:01:20 F batch           ",
        "6.metabroker      a-name-of-many-* anna              00:01:20 F batch           ",
    ]


def test_a_job_whose_dependency_was_never_met_has_finished(ask: Ask) -> None:
    never = {"on": "afterok:1", "kill": True, "never": "afterok:1"}
    daemon = StubClient(job(9, "CANCELLED", start_time=None, dependency=never))
    assert ask(daemon, "qstat", "-x")[1].splitlines()[-1].split()[4] == "F"
    assert ask(daemon, "qselect", "-x", "-s", "F")[1] == "9.metabroker\n"
    assert ask(daemon, "qselect", "-x", "-s", "H")[1] == ""


def test_qdel_ends_with_the_codes_of_pbs(ask: Ask) -> None:
    daemon = stub()
    assert ask(daemon, "qdel", "2.metabroker", "1") == (0, "", "")
    assert daemon.changed == [(2, "cancel"), (1, "cancel")]
    assert ask(daemon, "qdel", "99")[::2] == (153, "qdel: Unknown Job Id 99.metabroker\n")
    assert ask(daemon, "qdel", "3")[::2] == (35, "qdel: Job has finished 3.metabroker\n")
    assert ask(daemon, "qdel", "xyz")[::2] == (1, "illegally formed job identifier: xyz")


def test_qhold_and_qrls_are_hold_and_release(ask: Ask) -> None:
    daemon = stub()
    assert ask(daemon, "qhold", "1") == (0, "", "")
    assert ask(daemon, "qrls", "-h", "u", "4.metabroker") == (0, "", "")
    assert ask(daemon, "qrls", "-h", "n", "4") == (0, "", "")
    assert daemon.changed == [(1, "hold"), (4, "release")]
    assert ask(daemon, "qhold", "99")[::2] == (153, "qhold: Unknown Job Id 99.metabroker\n")
    assert ask(daemon, "qrls", "3")[::2] == (35, "qrls: Job has finished\n")
    assert ask(daemon, "qhold", "-h", "so", "1")[2] == "-h: jobs have holds of their users alone"
    assert "illegal -h value" in ask(daemon, "qhold", "-h", "q", "1")[2]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], "1 2 4 7[]"),
        (["-s", "QH"], "1 4"),
        (["-s", "B"], "7[]"),
        (["-x", "-u", "anna", "-N", "job3"], "3"),
        (["-H"], "3 5 6"),
        (["-J"], "7[]"),
        (["-T", "-J"], "7[2] 7[3]"),
        (["-q", "elsewhere"], ""),
        (["-P", "_pbs_project_default", "-s", "R"], "2"),
    ],
)
def test_qselect_chooses_by_what_jobs_are(ask: Ask, words: list[str], found: str) -> None:
    array = {"tasks": "0-3", "most": 0, "left": "3", "cancelled": ""}
    more = (job(7, "QUEUED", array=array), job(8, "RUNNING", array_job=7, array_task=2))
    daemon = StubClient(*stub().jobs, *more)
    told = "".join(f"{each}.metabroker\n" for each in found.split())
    assert ask(daemon, "qselect", *words) == (0, told, "")


def test_qselect_refuses_by_name_what_it_cannot_do(ask: Ask) -> None:
    assert ask(stub(), "qselect", "-l", "ncpus.gt.3")[2].startswith("-l: ")
    assert "illegal -s value" in ask(stub(), "qselect", "-s", "Q!")[2]
    assert ask(stub(), "qselect", "17")[2].startswith("usage: ")


def test_qsub_prints_an_id_and_names_files_as_pbs_does(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sh").write_text("#PBS -N mine -l select=2:ncpus=4\ntrue\n")
    daemon = StubClient()
    assert ask(daemon, "qsub", "-q", "fast", "job.sh", "arg") == (0, "17.metabroker\n", "")
    (wire,) = daemon.submitted
    assert (wire["name"], wire["output"], wire["error"]) == ("mine", "mine.o%j", "mine.e%j")
    assert (wire["processors"], wire["shape"]) == ({"single": 2}, {"cpus_per_task": 4})
    assert (wire["args"], wire["speaks"], "environment" in wire) == (["arg"], "pbs", False)
    assert ask(daemon, "qsub", "-j", "oe", "-o", ".", "job.sh")[0] == 0
    assert (daemon.submitted[1]["output"], daemon.submitted[1].get("error")) == ("./mine.o%j", None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"echo\n")))
    assert ask(daemon, "qsub")[0] == 0
    assert daemon.submitted[2]["script_name"] == "STDIN"
    assert ask(daemon, "qsub", "--", "/bin/sleep", "a b")[0] == 0
    assert "has no tasks" in ask(daemon, "qsub", "-J", "3-0", "job.sh")[2]
    assert ask(daemon, "qsub", "none.sh")[2] == "script file:: No such file or directory"


@pytest.mark.parametrize(
    ("lines", "words", "script"),
    [
        ("#PBS -S /bin/bash\n", [], "#!/bin/bash\n#PBS -S /bin/bash\ntrue\n"),
        ("", ["-S", "/bin/bash"], "#!/bin/bash\ntrue\n"),
        ("#PBS -S /bin/csh\n", ["-S", "/bin/ksh"], "#!/bin/ksh\n#PBS -S /bin/csh\ntrue\n"),
        ("#!/bin/bash\n", ["-S", "/bin/bash"], "#!/bin/bash\ntrue\n"),
        ("", [], "#!/bin/sh\ntrue\n"),
    ],
)
def test_the_shell_of_a_script_that_names_none(
    ask: Ask, tmp_path: Path, lines: str, words: list[str], script: str
) -> None:
    file = tmp_path / "job.sh"
    file.write_text(f"{lines}true\n")
    daemon = StubClient()
    assert ask(daemon, "qsub", *words, str(file)) == (0, "17.metabroker\n", "")
    (wire,) = daemon.submitted
    assert base64.b64decode(wire["script"]).decode() == script
    assert not [each for each in wire.get("asked", ()) if each["option"] == "S"]


@pytest.mark.parametrize(
    ("lines", "shell"), [("#!/bin/sh\n", "/bin/bash"), ("", "bash -l"), ("", "/bin/bash@host")]
)
def test_a_shell_that_would_not_run_the_script_is_for_the_daemon_to_refuse(
    ask: Ask, tmp_path: Path, lines: str, shell: str
) -> None:
    file = tmp_path / "job.sh"
    file.write_text(f"{lines}true\n")
    daemon = StubClient()
    assert ask(daemon, "qsub", "-S", shell, str(file))[0] == 0
    assert [each["value"] for each in daemon.submitted[0]["asked"]] == [shell]


def test_lines_are_numbered_as_in_the_file(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "job.sh"
    file.write_text("#PBS -N x\n#PBS -l mem=lots\n")
    assert ask(StubClient(), "qsub", str(file))[2].startswith("job.sh:2: ")


def test_dashes_behind_the_script_are_its_own(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "job.sh"
    file.write_text("true\n")
    daemon = StubClient()
    for words in ([str(file), "--", "a"], ["--", "/bin/echo", "--", "a"]):
        assert ask(daemon, "qsub", *words)[0] == 0
    one, other = daemon.submitted
    assert (base64.b64decode(one["script"]), one["args"]) == (b"#!/bin/sh\ntrue\n", ["--", "a"])
    assert base64.b64decode(other["script"]) == b"#!/bin/sh\nexec /bin/echo -- a\n"


@pytest.mark.parametrize(
    ("day", "hour", "told"),
    [
        (14, 8, "Thu May 14 08:05:03"),
        (4, 8, "Mon May  4 08:05:03"),
        (14, 18, "Thu May 14 18:05:03"),
    ],
)
def test_dates_keep_the_0_of_their_hour(ask: Ask, day: int, hour: int, told: str) -> None:
    seconds = time.mktime((2026, 5, day, hour, 5, 3, 0, 0, -1))
    daemon = StubClient(job(1, submit_time=seconds))
    assert f"    ctime = {told} 2026\n" in ask(daemon, "qstat", "-f", "1")[1]
