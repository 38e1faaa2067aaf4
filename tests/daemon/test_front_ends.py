"""`sbatch`, `squeue` and the others beside Slurm's own, in the same state of one real cluster."""

from __future__ import annotations

import getpass
import os
import re
import time
from collections.abc import Callable
from importlib import import_module

import pytest

from metabroker.errors import AdvisedError
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm
Ask = Callable[..., "tuple[int, str, str]"]

JOBS = {  # name: sbatch's options, and the script's last line
    "ends": ("-n2 -t 5", "exit 0"),
    "fails": ("-n 1 -t 1-01:00:00 --comment=why", "exit 3"),
    "held": ("-H -N2 -n4 -t 90 -A phys", "exit 0"),
    "runs": ("-n3 -c2 -t 2:00:00 --mem=100M", "sleep 600"),
    "gone": ("-n1 -t 0:30:00", "sleep 600"),
    "waits": ("-n1 -t9 -d afterany:{runs}:{gone},singleton", "exit 0"),
    "never": ("-n1 -t9 --dependency afterok:{fails}", "exit 0"),
    "many": ("-n1 -t9 -a 0-5:5%1", "sleep 600"),
    "killed": ("-n1 -t9 -d afternotok:{ends} --kill-on-invalid-dep=yes", "exit 0"),
}
STATES = {"ends": "COMPLETED", "fails": "FAILED", "runs": "RUNNING", "gone": "RUNNING"}
REASONS = {"waits": "Dependency", "never": "DependencyNeverSatisfied"}
QUERIES = [
    ("squeue",),
    ("squeue", "-l", "-h"),
    ("squeue", "-h", "-o", "%i %t", "-t", "all"),
    ("squeue", "--noheader", "--format=%i|%T|%r", "--states=all"),
    ("squeue", "-O", "JobArrayID,StateCompact,Reason", "-t", "all"),
    ("squeue", "-t", "all", "-o", "%.10P|%9j|%.3u|%C|%D|%R|%l|%k|%N|%c|%m|%y|%v|%E|%f|%W|%Z"),
    ("squeue", "-t", "all", "-O", "name:.5,username:3|,numcpus:4,timelimit,comment:6"),
    ("squeue", "-t", "R", "-o", "%A>%K %u"),
    ("squeue", "-h", "-t", "PD", "-n", "many@", "-o", "%i %K %r %C %M %N"),
    ("squeue", "--me", "-o", "%i", "-h", "-r", "-t", "all"),
    ("squeue", "-n", "held@,runs@", "-o", "%j"),
    ("squeue", "-h", "-u", "nobody"),
    ("squeue", "-S", "-i", "-o", "%j"),
    ("squeue", "-j", "999999"),
    ("squeue", "-h", "-j", "999998,999999"),
    ("squeue", "--states=nonsense"),
    ("scancel", "999999"),
    ("scancel", "--me", "999999"),
    ("scancel",),
]


def plain(text: str) -> str:
    """Without what differs from job to job: ids, times and which node has one to itself; and
    clusters are called the same."""
    lines = [re.sub(r"\s*\b\d+:\d\d(:\d\d)?(?!\d)", " T", line) for line in text.splitlines()]
    lines = [re.sub(r"^ *\d+(_\S+)? *", r"ID\1 ", line) for line in lines]
    told = "\n".join(lines)
    told = re.sub(r":\d+\(", ":ID(", told).replace("leiden", "lab")
    return re.sub(r"\blab\d\b", "lab1", told)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a front end in this process, where it starts in no time."""

    def ask(name: str, *words: str) -> tuple[int, str, str]:
        try:
            code = import_module(f"metabroker.frontends.{name}").run(list(words))
        except AdvisedError as error:
            return 1, capsys.readouterr().out, error.message
        told = capsys.readouterr()
        return code, told.out, told.err

    return ask


def submit_all(
    site: Site, cluster: SlurmCluster, ask: Ask, mark: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The same jobs in both; their ids."""
    theirs: dict[str, str] = {}
    ours: dict[str, str] = {}
    for name, (options, line) in JOBS.items():
        words = ("--parsable", "-J", f"{name}{mark}", "-o/dev/null")
        script = site.work / f"{name}.sh"
        script.write_text(f"#!/bin/sh\n{line}\n")
        own = options.format(**theirs).split()
        done = cluster.run("sbatch", *words, *own, str(script), check=True, cwd=site.work)
        theirs[name] = done.stdout.strip()
        code, out, err = ask("sbatch", *words, *options.format(**ours).split(), str(script))
        assert code == 0, err
        ours[name] = out.strip()
        assert ours[name].isdigit()
    return theirs, ours


def wait_reasons(told: Callable[..., str], ids: dict[str, str]) -> None:
    """Until jobs that wait for others say so."""
    names = [*REASONS, "many"]
    words = ("squeue", "-h", "-o", "%i %r", "-j", ",".join(ids[name] for name in names))
    wanted = {f"{ids[name]} {reason}" for name, reason in REASONS.items()}
    wanted |= {f"{ids['many']}_0 None", f"{ids['many']}_5 JobArrayTaskLimit"}
    eventually(lambda: set(told(*words).splitlines()) == wanted, f"{wanted}", seconds=120)


def assert_it_sees_its_number(
    site: Site, cluster: SlurmCluster, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that was printed, also where `srun` starts it; and Slurm's commands work."""
    monkeypatch.setenv("PATH", f"{cluster.bin}:{os.environ['PATH']}")
    script = site.work / "ids.sh"
    script.write_text(
        "#!/bin/sh\nset -ex\nsrun -n1 -o at.%j env > /dev/null\n"
        "grep -qx SLURM_JOB_ID=$SLURM_JOB_ID at.$SLURM_JOB_ID\n"
        'test "$METABROKER_JOB_ID" = "$SLURM_JOB_ID"\n'
        "scontrol show job $SLURM_JOB_ID | grep JobId=$METABROKER_NATIVE_JOB_ID\n"
        "if scancel 999; then exit 1; fi\nscancel -s CONT $SLURM_JOB_ID\n"
    )
    code, out, err = ask("sbatch", "--parsable", "-n1", "-t5", "-o", "%x.%u.%3j", str(script))
    assert code == 0, err
    try:
        site.wait_end(int(out), "COMPLETED")
    except AssertionError as error:
        output = list(site.work.glob("ids.sh.*"))
        raise AssertionError("".join(path.read_text() for path in output)) from error
    user = getpass.getuser()
    assert (site.work / f"ids.sh.{user}.{int(out):03}").exists()
    assert ask("scancel", out.strip())[0] == 0


def assert_a_script_of_pbs_runs(site: Site, ask: Ask) -> None:
    """In a cluster of Slurm: it has PBS's variables, and a node's name for each of its tasks."""
    (site.work / "pbs.sh").write_text(
        "#PBS -N of-pbs -l select=3:ncpus=1 -l walltime=60 -j oe\nset -ex\n"
        'cd "$PBS_O_WORKDIR"\ntest "$PBS_JOBID" = "$METABROKER_JOB_ID.metabroker"\n'
        'test "$(wc -l < "$PBS_NODEFILE")" -eq 3\ntest "$PBS_JOBNAME" = of-pbs\n'
    )
    code, out, err = ask("qsub", "pbs.sh")
    assert code == 0 and out.endswith(".metabroker\n"), err
    number = out.partition(".")[0]
    site.wait_end(int(number), "COMPLETED")
    assert (site.work / f"of-pbs.o{number}").exists()
    assert '"Exit_status":\t0' in ask("qstat", "-x", "-f", "-F", "json", out.strip())[1]


def test_they_print_what_slurms_own_print(
    clusters: dict[str, SlurmCluster],
    make_site: MakeSite,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, real = make_site(Slurm(clusters)), clusters["leiden"]
    with site.changing() as text:
        lab = text["clusters"]["lab"]
        text["clusters"] = {"lab": {**lab, "partition": "batch", "names": {"account": "same"}}}
    site.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(site.socket))
    monkeypatch.chdir(site.work)
    mark = str(time.time_ns() // 10**6 % 10**4)  # Slurm still tells of jobs of other tests
    theirs, ours = submit_all(site, real, ask, mark)
    for name, state in STATES.items():
        site.wait_state(int(ours[name]), state)
        real.wait_job(theirs[name], state)
    assert real.run("scancel", theirs["gone"]).returncode == ask("scancel", ours["gone"])[0] == 0
    site.wait_state(int(ours["gone"]), "CANCELLED")
    real.wait_job(theirs["gone"], "CANCELLED")
    wait_reasons(lambda *words: real.run(*words).stdout, theirs)
    wait_reasons(lambda *words: ask(*words)[1], ours)
    real.wait_job(theirs["killed"], "CANCELLED")
    shown = ("squeue", "-h", "-t", "all", "-o", "%t %r %R %E %M", "-j")
    done = real.run(*shown, theirs["killed"])
    assert plain(ask(*shown, ours["killed"])[1]) == plain(done.stdout)
    wrong = []
    for words in QUERIES:
        of_all = any("all" in word.split("=") for word in words)
        # Where Slurm lists one that it has killed itself among cancelled ones, differs.
        names = [f"{name}@" for name in JOBS if name != "killed"]
        asked = [*words, *(["-n", ",".join(names)] if of_all else [])]
        asked = [word.replace("@", mark) for word in asked]
        done = real.run(*asked)
        code, out, err = ask(*asked)
        if (code, plain(out)) != (done.returncode, plain(done.stdout)):
            was = f"{done.returncode} {done.stderr}\n{plain(done.stdout)}"
            wrong.append(f"{words}: real {was}\n-- ours {code} {err}\n{plain(out)}")
    assert not wrong, "\n\n".join(wrong)
    assert_it_sees_its_number(site, clusters["lab"], ask, monkeypatch)
    assert_a_script_of_pbs_runs(site, ask)
    for told, ids in ((real.run, theirs), (ask, ours)):
        told("scancel", f"{ids['many']}_[5]")
    each = ("squeue", "-h", "-r", "-o", "%i %t", "-j")
    eventually(lambda: ask(*each, ours["many"])[1] == f"{ours['many']}_0 R\n")
    assert real.run(*each, theirs["many"]).stdout == f"{theirs['many']}_0 R\n"
    ask("scancel", *(ours[name] for name in ("runs", "held", "never", "waits", "many")))
    site.wait_end(int(ours["many"]), "CANCELLED")
    site.wait_end(int(ours["runs"]), "CANCELLED")
