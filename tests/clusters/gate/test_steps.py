"""Jobs that were submitted by sbatch, in a cluster that has no Slurm: what they are told, and the
`srun` that they have there."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.submission.shape import Shape

from .making import gates, order
from .running import Running, Wrappers, with_tool


@pytest.fixture
def elsewhere(wrappers: Wrappers) -> Wrappers:
    """Wrappers in a cluster of PBS."""
    wrappers.system = "openpbs"
    return wrappers


def start(wrappers: Wrappers, folder: Path, script: str, *native: str, **env: str) -> Running:
    """A job of four tasks of four processors, for ten minutes, on one node of PBS."""
    nodes = folder / "nodes"
    nodes.write_text(f"{os.uname().nodename}\n" * 4)
    it = replace(
        order(folder, script=f"#!/bin/sh\n{script}".encode(), name="a 'name'", patience=None),
        processors=16,
        shape=Shape(cpus_per_task=4),
        speaks="slurm",
        native=native,
    )
    it = replace(it, peers=it.peers[:1])
    gates().prepare(it)
    env = {"PBS_NODEFILE": str(nodes), "PBS_JOBID": "5.pbs", "USER": "me", **env}
    return wrappers.start(it, **env)


def lines(wrappers: Wrappers, folder: Path, script: str, *, code: int = 0) -> list[str]:
    """What it writes, sorted, for its tasks run side by side."""
    found, out, err = start(wrappers, folder, script).end()
    assert (found, err) == (code, b""), (found, out, err)
    return sorted(out.decode().splitlines())


def test_the_script_is_told_what_slurm_tells(elsewhere: Wrappers, tmp_path: Path) -> None:
    names = (
        *("JOB_ID", "JOB_NAME", "SUBMIT_DIR", "CLUSTER_NAME", "NTASKS", "CPUS_PER_TASK"),
        *("JOB_NUM_NODES", "JOB_NODELIST", "TASKS_PER_NODE", "JOB_CPUS_PER_NODE", "PROCID"),
    )
    script = "\n".join(f'echo "$SLURM_{name}"' for name in names)
    code, out, err = start(elsewhere, tmp_path, script).end()
    here = os.uname().nodename
    told = ["17", "a 'name'", str(tmp_path), "delft", "4", "4", "1", here, "4", "16", "0"]
    assert (code, out.decode().splitlines(), err) == (0, told, b"")


def test_nodes_are_counted_as_slurm_writes_them(elsewhere: Wrappers, tmp_path: Path) -> None:
    script = 'echo "$SLURM_JOB_NODELIST $SLURM_TASKS_PER_NODE $SLURM_JOB_CPUS_PER_NODE"'
    script += '\nscontrol show hostnames "$SLURM_JOB_NODELIST"'
    nodes = tmp_path / "pbs"
    nodes.write_text("n1\nn1\nn2\nn2\nn3\n")
    it = order(tmp_path, script=f"#!/bin/sh\n{script}".encode(), patience=None)
    it = replace(it, processors=5, speaks="slurm")
    code, out, err = elsewhere.single(it, PBS_NODEFILE=str(nodes), PBS_JOBID="5.pbs")
    assert (code, err) == (0, b"")
    assert out.decode().splitlines() == ["n1,n2,n3 2(x2),1 2(x2),1", "n1", "n2", "n3"]


def test_srun_starts_the_jobs_tasks(elsewhere: Wrappers, tmp_path: Path) -> None:
    told = "$SLURM_PROCID $SLURM_LOCALID of $SLURM_NTASKS: $1"
    script = f'srun sh -c \'echo "{told}"\' x "it\'s"'
    assert lines(elsewhere, tmp_path, script) == [f"{n} {n} of 4: it's" for n in range(4)]


def test_as_many_as_there_is_room_for(elsewhere: Wrappers, tmp_path: Path) -> None:
    assert lines(elsewhere, tmp_path, "srun -n16 echo x") == ["x"] * 16
    (tmp_path / "more").mkdir()
    code, _out, err = start(elsewhere, tmp_path / "more", "srun -n 9 -c2 echo x").end()
    assert code == 1 and b"no room for 9 such tasks" in err


def test_the_largest_exit_code_counts(elsewhere: Wrappers, tmp_path: Path) -> None:
    script = "srun --ntasks=3 sh -c 'exit $((SLURM_PROCID * 3))'; echo $?"
    assert lines(elsewhere, tmp_path, script) == ["6"]


def test_one_that_fails_ends_the_others(elsewhere: Wrappers, tmp_path: Path) -> None:
    body = "if [ $SLURM_PROCID = 2 ]; then exit 7; fi; exec sleep 600"
    code, out, _err = start(elsewhere, tmp_path, f"srun -K -n 3 sh -c '{body}'; echo $?").end()
    assert (code, out) == (0, b"143\n")


def test_who_has_not_heard_that_one_failed_is_told_again(
    elsewhere: Wrappers, tmp_path: Path
) -> None:
    deaf = "trap 'trap - TERM' TERM; touch up; while :; do sleep 0.1; done"
    body = f"if [ $SLURM_PROCID = 1 ]; then until [ -e up ]; do sleep 0.1; done; exit 7; fi; {deaf}"
    (tmp_path / "body").write_text(body)
    code, out, _err = start(elsewhere, tmp_path, "srun -K -n 2 sh body; echo $?").end()
    assert (code, out) == (0, b"143\n")


def test_lines_have_their_tasks_number(elsewhere: Wrappers, tmp_path: Path) -> None:
    found = lines(elsewhere, tmp_path, "srun -l -n 2 sh -c 'echo a; echo b; exit 3'", code=3)
    assert found == ["0: a", "0: b", "1: a", "1: b"]


def test_each_has_its_file(elsewhere: Wrappers, tmp_path: Path) -> None:
    script = "srun -n 2 --output=%x-%j-%s-%3t.out sh -c 'echo $SLURM_PROCID; echo x >&2'"
    assert (
        lines(elsewhere, tmp_path, script + "; srun -n1 -o one -e none ls /no-such || true") == []
    )
    for rank in (0, 1):
        assert (tmp_path / f"a 'name'-17-0-00{rank}.out").read_text() == f"{rank}\nx\n"
    assert (tmp_path / "one").read_text() == ""


def test_one_task_reads_what_srun_is_given(elsewhere: Wrappers, tmp_path: Path) -> None:
    script = "printf 'echo from there' | srun -n1 --cpu-bind=q --cpus-per-task=2 sh -s"
    assert lines(elsewhere, tmp_path, script) == ["from there"]


def test_nodes_may_be_named(elsewhere: Wrappers, tmp_path: Path) -> None:
    script = f"srun -w {os.uname().nodename} -n1 echo x; srun --nodelist=n7 true; echo $?"
    code, out, err = start(elsewhere, tmp_path, script).end()
    assert (code, out) == (0, b"x\n1\n")
    assert err == b"srun: error: the job has no such nodes: n7\n"


def test_what_it_does_not_know_is_refused_by_name(elsewhere: Wrappers, tmp_path: Path) -> None:
    for number, option in enumerate(("--pty", "--multi-prog", "--mpi=pmix", "--jobid=18")):
        folder = tmp_path / str(number)
        folder.mkdir()
        code, _out, err = start(elsewhere, folder, f"srun {option} x true").end()
        assert code == 1 and err.startswith(b"srun: error: "), (option, err)


def test_other_commands_are_not_the_ones_of_another_cluster(
    elsewhere: Wrappers, tmp_path: Path
) -> None:
    code, out, err = start(elsewhere, tmp_path, "squeue -j 17").end()
    assert (code, out) == (1, b"")
    assert b"squeue: error: this cluster has no Slurm" in err


@pytest.mark.parametrize("name", ["USR2", "INT"])
def test_a_signal_reaches_the_tasks(elsewhere: Wrappers, tmp_path: Path, name: str) -> None:
    body = f"trap 'echo heard; exit 4' {name}; : > up.$SLURM_PROCID; while :; do sleep 0.1; done"
    running = start(elsewhere, tmp_path, f"srun -n 2 sh -c {shlex.quote(body)}")
    running.gate = tmp_path
    running.until("up.0")
    running.until("up.1")
    (pid,) = Path(tmp_path).glob(".metabroker-*/steps/0/pid")
    os.kill(int(pid.read_text()), signal.Signals[f"SIG{name}"])
    code, out, _err = running.end()
    assert (code, out) == (4, b"heard\nheard\n")


WAITS = "trap 'echo heard; exit 4' USR2; while :; do sleep 0.1; done"


def test_one_is_sent_to_the_tasks_before_the_time_is_over(
    elsewhere: Wrappers, tmp_path: Path
) -> None:
    script = f"srun -n 2 sh -c {shlex.quote(WAITS)}; echo $?"
    code, out, _err = start(elsewhere, tmp_path, script, "--signal=USR2@598").end()
    assert (code, out) == (0, b"heard\nheard\n4\n")


@pytest.mark.parametrize("name", ["USR2", "INT", "QUIT"])
def test_or_to_the_script_alone(elsewhere: Wrappers, tmp_path: Path, name: str) -> None:
    """Some shells have what they start in the background ignore INT and QUIT, for good."""
    script = WAITS.replace("USR2", name)
    code, out, _err = start(elsewhere, tmp_path, script, f"--signal=B:{name}@598").end()
    assert (code, out) == (4, b"heard\n")


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not here")
def test_also_where_env_is_an_old_one(elsewhere: Wrappers, tmp_path: Path) -> None:
    path = with_tool(tmp_path, "env", "exit 125\n")
    script = WAITS.replace("USR2", "INT")
    running = start(elsewhere, tmp_path, script, "--signal=B:INT@598", PATH=path)
    code, out, _err = running.end()
    assert (code, out) == (4, b"heard\n")


def test_one_that_ends_before_is_not_waited_for(elsewhere: Wrappers, tmp_path: Path) -> None:
    running = start(elsewhere, tmp_path, "exit 3", "--signal=USR2@5")
    assert running.end() == (3, b"", b"")
    # The session of the job is empty.
    with pytest.raises(ProcessLookupError):
        while True:
            os.killpg(running.process.pid, 0)
