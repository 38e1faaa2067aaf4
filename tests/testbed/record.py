"""Record what real clusters print, as data for the tests of the parsers.

`python -m tests.testbed.record [--release SUITE]` writes tests/data/slurm/RELEASE/: for each
state of a cluster STATE.QUERY.txt, raw; and commands.jsonl, one line for each command that
fails (or succeeds) in an interesting way. By root, so that several users are in it; 3 minutes.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.testbed.cluster import SlurmCluster
from tests.testbed.packages import REPOSITORY
from tests.testbed.processes import TestbedError, wait_until
from tests.testbed.recorder import QUERIES, Recorder
from tests.testbed.testbed import DEFAULT_CLUSTERS, Testbed, default_suite

OTHER = "daemon"
# A node is called down soon; processes' memory is measured, so that a job can have too much.
EXTRA = {
    "SlurmdTimeout": "6",
    "MessageTimeout": "5",
    "JobAcctGatherType": "jobacct_gather/linux",
    "JobAcctGatherFrequency": "task=1",
    "JobAcctGatherParams": "OverMemoryKill",
    "SelectTypeParameters": "CR_Core_Memory",
    "DefMemPerCPU": "500",
}


def create(name: str, *words: str, users: str = "root", start: str = "now") -> tuple[str, ...]:
    """The command that makes a reservation."""
    fixed = (f"reservationname={name}", f"starttime={start}", "duration=60", f"users={users}")
    return ("scontrol", "create", "reservation", *fixed, *words)


def reserve(cluster: SlurmCluster, name: str, *words: str, start: str = "now") -> None:
    cluster.run(*create(name, *words, start=start), check=True)


def record_use(recorder: Recorder, delft: SlurmCluster) -> None:
    """Idle; jobs of two users; reservations by cores, by nodes, to come, and used."""
    recorder.state(delft, "idle")
    first = delft.submit("-n", "10", "-N", "1", "-J", "mb.1.0", "--comment=mb:1:0:a1", "-t", "60")
    second = delft.submit("-n", "60", "-N", "2", "-J", "wide", user=OTHER, cwd=Path("/tmp"))
    third = delft.submit("-n", "1", "--array=1-3%2", "-J", "array")
    for job in (first, second):
        delft.wait_job(job, "RUNNING")
    wait_until(lambda: len(delft.active_jobs()) > 4, 10, "array tasks run")
    recorder.state(delft, "running")
    delft.run("scontrol", "suspend", first, check=True)
    recorder.state(delft, "suspended", "squeue", "sinfo", "job")
    delft.run("scontrol", "resume", first, check=True)
    delft.run("scancel", third, check=True)
    delft.reset()
    reserve(delft, "one-node", "nodecnt=1", "corecnt=10")
    reserve(delft, "two-nodes", "nodecnt=2", "corecnt=50")
    reserve(delft, "cores-only", "corecnt=4")
    recorder.state(delft, "reserved-cores", "reservation", "sinfo", "node")
    inside = delft.submit("-n", "50", "--reservation=two-nodes", "-J", "mb.2.0")
    delft.wait_job(inside, "RUNNING")
    reserve(delft, "later", "nodecnt=1", "corecnt=48", start="now+2hours")
    # In 22.05 these hold more than was asked for: see the README there.
    reserve(delft, "beside", "nodecnt=1", "corecnt=39")
    delft.run("scontrol", "delete", "reservation=one-node", check=True)
    both = create("several-users", "nodecnt=1", "corecnt=2", users=f"root,{OTHER}")
    delft.run(*both, check=True)
    recorder.state(delft, "reserved-and-running")
    delft.reset()
    reserve(delft, "whole", "nodes=delft2")
    reserve(delft, "maintenance", "nodes=delft3", "flags=maint,ignore_jobs")
    recorder.state(delft, "reserved-nodes-fresh", "reservation", "sinfo")
    # Nodes show it only after housekeeping, twice a minute.
    wait_until(lambda: delft.node_states()["delft2"].startswith("reserved"), 60, "reserved")
    recorder.state(delft, "reserved-nodes")
    delft.reset()


def record_nodes(recorder: Recorder, delft: SlurmCluster) -> None:
    """Drained, draining, down by an operator, silent, and not yet known nodes."""
    job = delft.submit("-n", "4", "-w", "delft1")
    delft.wait_job(job, "RUNNING")
    for node, state in (("delft1", "drain"), ("delft2", "drain"), ("delft3", "down")):
        delft.run(
            *("scontrol", "update", f"nodename={node}", f"state={state}", "reason=disk | fan"),
            check=True,
        )
    recorder.state(delft, "drained-and-down", "sinfo", "node", "squeue")
    delft.reset()
    delft.kill_node("delft2")
    wait_until(lambda: delft.node_states()["delft2"] == "idle*", 90, "delft2 is missed")
    recorder.state(delft, "silent", "sinfo", "node")
    wait_until(lambda: delft.node_states()["delft2"] == "down*", 90, "delft2 is given up")
    recorder.state(delft, "silent-down", "sinfo", "node")
    delft.reset()
    delft.kill_controller()
    delft.start_controller(wait=False)
    wait_until(delft.controller.running, 5, "controller")
    recorder.state(delft, "restarted", "sinfo", "node", "partition")
    delft.wait_idle()
    delft.run("scontrol", "update", "partitionname=batch", "state=down", check=True)
    recorder.state(delft, "partition-down", "sinfo", "partition")
    delft.reset()


def record_pending(recorder: Recorder, delft: SlurmCluster) -> None:
    """Jobs that wait, each for another reason."""
    reserve(delft, "later", "nodecnt=1", "corecnt=8", start="now+2hours")
    reserve(delft, "small", "nodecnt=1", "corecnt=4")
    running = delft.submit("-n", "130", "-N", "3", "-t", "30", "-J", "running")
    delft.wait_job(running, "RUNNING")
    delft.submit("-n", "144", "-J", "all")
    delft.submit("-n", "100", "-t", "10", "-J", "resources")
    delft.submit("-n", "100", "-t", "10", "-J", "priority", user=OTHER, cwd=Path("/tmp"))
    delft.submit("-H", "-J", "held-by-user")
    held = delft.submit("-J", "held-by-admin", "-n", "100")
    delft.run("scontrol", "hold", held, check=True)
    delft.submit("-J", "begin-time", "--begin=now+1hour")
    delft.submit("-J", "dependency", f"--dependency=afterok:{running}")
    failed = delft.submit(
        "-J", "fails", "-n", "1", "-t", "1", "--reservation=small", script="false"
    )
    delft.wait_job(failed)
    delft.submit("-J", "never", "-n", "1", f"--dependency=afterok:{failed}")
    delft.submit("-J", "singleton", "--dependency=singleton", "-n", "100")
    delft.submit("-J", "singleton", "--dependency=singleton", "-n", "100")
    delft.submit("-J", "bad-node", "-w", "delft3")
    delft.submit("-J", "reservation-later", "--reservation=later", "-n", "4")
    delft.submit("-J", "reservation-too-small", "--reservation=small", "-n", "8")
    delft.submit("-J", "array", "--array=1-4", "-n", "100")
    recorder.command("impossible size", delft, "sbatch", "--parsable", "-n", "500", "--wrap=true")
    time.sleep(3)  # a scheduling cycle gives each its reason
    recorder.state(delft, "pending", "squeue", "job", "reservation", "sinfo")
    delft.run("scontrol", "update", "nodename=delft3", "state=drain", "reason=x", check=True)
    time.sleep(3)
    recorder.state(delft, "pending-drained", "squeue", "job", "reservation", "sinfo")
    recorder.command(
        "delete in use by a pending job", delft, "scontrol", "delete", "reservation=later"
    )
    delft.reset()


def record_ends(recorder: Recorder, leiden: SlurmCluster) -> None:
    """A job in each ended state."""
    out = "--output=/dev/null"
    jobs = {
        "completed": leiden.submit("-J", "completed", out, "--comment=mb:7:0:a1", script="true"),
        "failed": leiden.submit("-J", "failed", script="exit 3"),
        "signal": leiden.submit("-J", "signal", script="kill -9 $$"),
        "timeout": leiden.submit("-J", "timeout", "-t", "1"),
        "cancelled": leiden.submit("-J", "cancelled"),
        "node-fail": leiden.submit("-J", "node-fail", "--no-requeue", "-w", "leiden2"),
        "requeued": leiden.submit("-J", "requeued", "-w", "leiden2"),
        "deadline": leiden.submit("-J", "deadline", "-n", "64", "-t", "1", "--deadline=now+65"),
        "memory": leiden.submit(
            *("-J", "memory", "--mem=20"),
            script="x=$(head -c 80000000 /dev/zero | tr '\\0' x); sleep 30",
        ),
        "no-folder": leiden.submit("-J", "no-folder", "-D", "/nonexistent", script="pwd"),
        "no-output": leiden.submit("-J", "no-output", "--output=/nonexistent/x", script="true"),
        "no-interpreter": leiden.submit("-J", "no-interpreter", script="#!/nonexistent\ntrue"),
        "cancelled-pending": leiden.submit("-J", "cancelled-pending", "-n", "64"),
    }
    brief = (w.replace("=60", "=1") for w in create("brief", "nodecnt=1", "corecnt=2"))
    leiden.run(*brief, check=True)
    leiden.submit("-J", "in-brief", "--reservation=brief", "-n", "2")
    leiden.submit("-J", "waits-for-brief", "--reservation=brief", "-n", "2")
    for name in ("timeout", "cancelled", "node-fail", "requeued"):
        leiden.wait_job(jobs[name], "RUNNING")
    recorder.command("scancel a running job", leiden, "scancel", jobs["cancelled"])
    recorder.command("scancel a pending job", leiden, "scancel", jobs["cancelled-pending"])
    leiden.run("scontrol", "update", "nodename=leiden2", "state=down", "reason=x", check=True)
    leiden.wait_job(jobs["node-fail"])
    leiden.run("scontrol", "update", "nodename=leiden2", "state=resume")
    leiden.wait_job(jobs["timeout"], seconds=150)
    time.sleep(60)  # deadlines and reservations are looked at twice a minute
    recorder.state(leiden, "ended", "squeue", "job")
    recorder.command("scancel an ended job", leiden, "scancel", jobs["completed"])
    leiden.reset()


def record_commands(recorder: Recorder, lab: SlurmCluster) -> None:
    """Commands that succeed and commands that fail, with the controller up."""
    run, node = recorder.command, ("nodecnt=1", "corecnt=4")
    run("version", lab, "scontrol", "--version")
    run("version of squeue", lab, "squeue", "--version")
    run("ping", lab, "scontrol", "ping")
    run("no reservation yet", lab, "scontrol", "-o", "show", "reservation")
    run("no job yet", lab, *QUERIES["squeue"])
    run("no job yet, by scontrol", lab, "scontrol", "-o", "show", "job")
    run("create", lab, *create("mb.1.0", *node))
    run("show one", lab, "scontrol", "-o", "show", "reservation", "mb.1.0")
    run("create a duplicate", lab, *create("mb.1.0", *node))
    run("create without a name", lab, *create("", *node))
    run("create too large", lab, *create("mb.x", "nodecnt=2", "corecnt=33"))
    run("create on more nodes than exist", lab, *create("mb.x", "nodecnt=5", "corecnt=5"))
    run("show the same", lab, "scontrol", "-o", "show", "reservation", "mb.x")
    run("delete the same", lab, "scontrol", "delete", "reservation=mb.x")
    run("create with cores over the nodes' size", lab, *create("mb.x", "nodecnt=1", "corecnt=20"))
    run("create in the past", lab, *create("mb.x", *node, start="2020-01-01T00:00:00"))
    run("create with a bad time", lab, *create("mb.x", *node, start="soon"))
    run("create for an unknown user", lab, *create("mb.x", *node, users="nosuchuser"))
    run("create without users", lab, *(w for w in create("mb.x", *node) if "users" not in w))
    run("create without an end", lab, *(w for w in create("mb.x", *node) if "duration" not in w))
    run("create on an unknown partition", lab, *create("mb.x", *node, "partition=nosuch"))
    run("create with an unknown word", lab, *create("mb.x", *node, "color=red"))
    run("create as no operator", lab, *create("mb.x", *node), user=OTHER)
    run("delete as no operator", lab, "scontrol", "delete", "reservation=mb.1.0", user=OTHER)
    run("show an unknown reservation", lab, "scontrol", "-o", "show", "reservation", "nosuch")
    run("update an unknown one", lab, "scontrol", "update", "reservation=nosuch", "duration=5")
    run("update", lab, "scontrol", "update", "reservation=mb.1.0", "duration=30")
    run("resize", lab, "scontrol", "update", "reservation=mb.1.0", "corecnt=8")
    run("delete an unknown reservation", lab, "scontrol", "delete", "reservation=nosuch")
    record_submissions(recorder, lab)
    lab.reset()


def record_submissions(recorder: Recorder, lab: SlurmCluster) -> None:
    """sbatch, scancel and squeue, with the reservation mb.1.0 of four processors."""
    run, script = recorder.command, "#!/bin/sh\nsleep 60\n"

    def sbatch(case: str, *options: str, user: str | None = None, stdin: str = script) -> str:
        argv = ("sbatch", "--parsable", "--output=/dev/null", *options)
        return run(case, lab, *argv, user=user, stdin=stdin).stdout.strip()

    job = sbatch("submit", "--reservation=mb.1.0", "-n", "4", "-J", "mb.1.0", "--comment=mb:1:0")
    lab.wait_job(job, "RUNNING")
    run("submit, not parsable", lab, "sbatch", "--output=/dev/null", "-n", "1", stdin=script)
    run("delete in use by a running job", lab, "scontrol", "delete", "reservation=mb.1.0")
    sbatch("another's reservation", "--reservation=mb.1.0", user=OTHER)
    sbatch("unknown reservation", "--reservation=nosuch")
    sbatch("unknown partition", "--partition=nosuch")
    sbatch("unknown account", "--account=nosuch")
    sbatch("more nodes than exist", "-N", "5")
    sbatch("more processors than exist", "-n", "500")
    sbatch("more memory than exists", "--mem=999G")
    sbatch("bad time", "-t", "soon")
    sbatch("bad count", "-n", "0")
    sbatch("unknown option", "--color=red")
    sbatch("unknown dependency", "--dependency=afterok:99999")
    sbatch("unknown node", "-w", "nosuch1")
    sbatch("empty script", stdin="")
    sbatch("no interpreter line", stdin="sleep 60\n")
    sbatch("binary script", stdin="#!/bin/sh\n\0\1\2\n")
    sbatch("DOS line ends", stdin="#!/bin/sh\r\nsleep 60\r\n")
    sbatch("script of 5 MB", stdin="#!/bin/sh\n" + "#" * 5_000_000)
    sbatch("uid as no root", "--uid=0", user=OTHER)
    sbatch("unknown uid", "--uid=nosuchuser")
    sbatch("for another user, by root", f"--uid={OTHER}", "--gid=nogroup", "-n", "1")
    run("scancel an unknown job", lab, "scancel", "99999")
    run("scancel another's job", lab, "scancel", job, user=OTHER)
    run("scancel by name", lab, "scancel", "--name=mb.1.0", "--verbose")
    run("scancel no job of that name", lab, "scancel", "--name=nosuch")
    run("squeue of an unknown job", lab, "squeue", "-h", "-j", "99999")
    run("squeue of an unknown user", lab, "squeue", "-h", "-u", "nosuchuser")
    run("squeue of an unknown state", lab, "squeue", "-h", "-t", "NOSUCH")
    run("scontrol show an unknown job", lab, "scontrol", "-o", "show", "job", "99999")
    run("sinfo of an unknown partition", lab, "sinfo", "-h", "-p", "nosuch")
    run("sinfo of an unknown node", lab, "sinfo", "-h", "-n", "nosuch1")
    run("sacct without accounting", lab, "sacct", "-n")
    lab.wait_job(job)
    lab.run("scontrol", "update", "partitionname=batch", "state=down", check=True)
    sbatch("partition down")
    lab.run("scontrol", "update", "partitionname=batch", "state=inactive", check=True)
    sbatch("partition inactive")
    run("delete", lab, "scontrol", "delete", "reservation=mb.1.0")


COMMANDS: dict[str, tuple[str, ...]] = {
    "sbatch": ("sbatch", "--parsable", "--output=/dev/null", "--wrap=true"),
    "squeue": QUERIES["squeue"],
    "sinfo": QUERIES["sinfo"],
    "show": QUERIES["reservation"],
    "create": create("mb.9.0", "nodecnt=1", "corecnt=4"),
    "delete": ("scontrol", "delete", "reservation=mb.9.0"),
    "scancel": ("scancel", "1"),
}


def record_trouble(recorder: Recorder, testbed: Testbed, lab: SlurmCluster) -> None:
    """Each command when slurmctld is frozen, gone, or cannot be spoken to."""

    def each(trouble: str) -> None:
        for name, argv in COMMANDS.items():
            recorder.command(f"{name}: {trouble}", lab, *argv)

    lab.freeze_controller()
    each("controller frozen")
    lab.thaw_controller()
    lab.reset()
    lab.kill_controller()
    each("controller down")
    lab.start_controller(wait=False)
    wait_until(lambda: lab.run("squeue", "-h").returncode == 0, 10, "controller answers")
    recorder.command("create: nodes unknown", lab, *COMMANDS["create"])
    lab.start_controller()
    testbed.munge.daemon.stop()
    each("no munged")
    testbed.munge.start()
    testbed.munge.daemon.send(signal.SIGSTOP)
    recorder.command("squeue: munged frozen", lab, *COMMANDS["squeue"])
    testbed.munge.daemon.send(signal.SIGCONT)
    conf = lab.slurm_conf.read_text()
    lab.slurm_conf.rename(lab.slurm_conf.with_suffix(".away"))
    each("no slurm.conf")
    lab.slurm_conf.write_text(conf + "NoSuchKey=1\n")
    recorder.command("squeue: unknown key in slurm.conf", lab, *COMMANDS["squeue"])
    lab.slurm_conf.with_suffix(".away").rename(lab.slurm_conf)
    lab.reset()


SUBJECTS: dict[str, tuple[str, Callable[[Recorder, SlurmCluster], None]]] = {
    "use": ("delft", record_use),
    "nodes": ("delft", record_nodes),
    "pending": ("delft", record_pending),
    "ends": ("leiden", record_ends),
    "commands": ("lab", record_commands),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default=default_suite())
    parser.add_argument("--out", type=Path, default=REPOSITORY / "tests" / "data" / "slurm")
    options = parser.parse_args()
    specs = [replace(spec, extra=EXTRA) for spec in DEFAULT_CLUSTERS]
    with Testbed(specs, suite=options.release) as testbed:
        year, month = testbed.installation.release
        folder = options.out / f"{year}.{month:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "commands.jsonl").unlink(missing_ok=True)
        recorder = Recorder(testbed, folder)
        for subject, (name, record) in SUBJECTS.items():
            try:
                record(recorder, testbed[name])
            except TestbedError as error:
                print(f"{subject}: {error}", file=sys.stderr)
                testbed.reset()
        record_trouble(recorder, testbed, testbed["lab"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
