"""One real Slurm cluster: a slurmctld and a slurmd for each node, as plain processes."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.testbed import configuration, reading
from tests.testbed.configuration import ClusterSpec
from tests.testbed.packages import Installation
from tests.testbed.processes import (
    MARK,
    Daemon,
    TestbedError,
    captured,
    job_processes,
    kill_all,
    step_processes,
    sweep,
    tails,
    wait_until,
)
from tests.testbed.reading import Job, Reservation

__all__ = ["ClusterSpec", "Job", "Reservation", "SlurmCluster"]

# Variables that change what the clients print or do: a test's own environment shall not.
CLIENT_VARIABLES = ("SLURM", "SQUEUE", "SINFO", "SBATCH", "SALLOC", "SRUN", "SCANCEL", "SCONTROL")
UP = {"idle", "mixed", "allocated", "reserved", "completing", "planned"}
SUFFIXES = "*~#!%$@^+-"
PATIENCE = 120.0  # seconds that only a failure waits


class SlurmCluster:
    """A cluster in `folder`; every verb is bounded in time and raises `TestbedError`."""

    def __init__(
        self,
        spec: ClusterSpec,
        installation: Installation,
        folder: Path,
        munge_socket: Path,
        ports: list[int],
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.processors = spec.processors
        self.installation = installation
        self.folder = folder
        self.slurm_conf = folder / "slurm.conf"
        self.bin = installation.bin
        self.ports = ports
        self.munge_socket = munge_socket
        self._forgetful = False  # slurmctld may have lost jobs that its nodes remember
        self.controller = self._daemon("slurmctld", [])
        stepd = installation.sbin / "slurmstepd"
        self.nodes = {
            name: self._daemon("slurmd", ["-N", name, "-d", stepd], name)
            for name in spec.node_names
        }

    # -- life ---------------------------------------------------------------------------------

    def start(self, wait: bool = True) -> None:
        """Start all daemons; with `wait`, return once every node is idle."""
        self.write_files()
        self.start_controller(wait=False)
        self._wait_listening(PATIENCE)  # a slurmd that comes too early sleeps a whole second
        for daemon in self.nodes.values():
            daemon.start()
        if wait:
            self.wait_idle()

    def stop(self) -> None:
        """Cancel the jobs, end the daemons by their pids, leave no process behind."""
        self.thaw_controller()
        if self.controller.running():
            # One that does not answer keeps its jobs: they are killed below.
            with contextlib.suppress(TestbedError, subprocess.TimeoutExpired):
                self.cancel_all(seconds=5)
        daemons = [*self.nodes.values(), self.controller]
        for daemon in daemons:
            daemon.send(signal.SIGCONT)
            daemon.send(signal.SIGTERM)
        for daemon in daemons:
            daemon.stop(seconds=5)
        sweep(self.folder)

    def reset(self) -> None:
        """As if freshly started, but for the ended jobs: all daemons up, no job, no
        reservation, every node and the partition in service. Some 50 ms if all is so already.
        """
        self.thaw_controller()
        if not self.controller.running():
            self.start_controller()
        for name in self.nodes:
            self.thaw_node(name)
            self.start_node(name)
        self.cancel_all()
        self.delete_reservations()
        if self._forgetful:
            self._forget_jobs()
        self._back_in_service()

    def wait_idle(self, seconds: float = PATIENCE) -> None:
        """Wait until every node answers and is idle."""
        self._wait_listening(seconds)
        self._wait_nodes({"idle"}, seconds)

    # -- faults -------------------------------------------------------------------------------

    def start_controller(self, wait: bool = True) -> None:
        """Start slurmctld; with `wait`, return once it answers and every node is in service.

        By itself a restarted slurmctld calls its nodes unknown for some 4 s. With `wait` they
        are told to register at once (SIGHUP); without, they are left as on a real cluster.
        """
        self.controller.start()
        if wait:
            self._wait_listening(PATIENCE)
            for name in self.nodes:
                self.nodes[name].send(signal.SIGHUP)
            self._wait_nodes(UP, PATIENCE)

    def save_state(self, copy: Path | None = None) -> Path | None:
        """slurmctld saves its state now: it is stopped in good order, and started again. By itself
        it saves up to 5 s later, so one that is killed may bring back what `reset` has removed.
        `copy`: a whole copy of the state, as a backup would have it, is made there, and returned.
        """
        self.stop_controller()
        if copy is not None:
            shutil.copytree(self._state, copy)
        self.start_controller()
        return copy

    def lose_state(self, older: Path | None = None) -> None:
        """What slurmctld has saved is gone, or is an older copy again (it must not be running).

        It starts with no memory of jobs and reservations, and issues job ids again. Nodes that
        report jobs it does not know are told to end them.
        """
        shutil.rmtree(self._state)
        if older is None:
            self._state.mkdir()
        else:
            shutil.copytree(older, self._state)

    def stop_controller(self) -> None:
        """End slurmctld in good order (it saves its state)."""
        self.controller.stop()

    def kill_controller(self, number: int = signal.SIGKILL) -> None:
        """Kill slurmctld: with SIGKILL it loses what is younger than its last saved state."""
        self._forgetful = True
        self.controller.kill(number)

    def freeze_controller(self) -> None:
        """SIGSTOP: connections are accepted by the kernel, and nothing answers."""
        self.controller.send(signal.SIGSTOP)

    def thaw_controller(self) -> None:
        self.controller.send(signal.SIGCONT)

    def kill_node(self, name: str, number: int = signal.SIGKILL) -> None:
        """Kill a node's slurmd (its jobs' slurmstepd go on, as on a real node)."""
        self.nodes[name].kill(number)

    def kill_jobs(self) -> None:
        """Kill all that jobs run on the nodes, slurmstepd too: with `kill_node`, a power cut."""
        kill_all(step_processes(self.folder))

    def call_down(self, *names: str) -> None:
        """The controller calls these nodes down, as it does by itself when one has not answered
        for SlurmdTimeout: their jobs end with NODE_FAIL. `reset` takes them into service again."""
        which = f"nodename={','.join(names)}"
        self.run("scontrol", "update", which, "state=down", "reason=silent", check=True)

    def start_node(self, name: str) -> None:
        self.nodes[name].start()

    def freeze_node(self, name: str) -> None:
        self.nodes[name].send(signal.SIGSTOP)

    def thaw_node(self, name: str) -> None:
        self.nodes[name].send(signal.SIGCONT)

    # -- commands -----------------------------------------------------------------------------

    def env(self) -> dict[str, str]:
        """What a client needs in its environment: SLURM_CONF, and PATH with this release first."""
        path = os.environ.get("PATH", os.defpath)
        return {"SLURM_CONF": str(self.slurm_conf), "PATH": f"{self.bin}{os.pathsep}{path}"}

    def run(
        self,
        *argv: str,
        user: str | None = None,
        stdin: str = "",
        seconds: float = PATIENCE,
        check: bool = False,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a client command (as `user`, if we are root); `check` raises on failure.

        Times are printed as seconds since the epoch.
        """
        account = pwd.getpwnam(user) if user is not None else None
        done = captured(
            [str(self.bin / argv[0]) if (self.bin / argv[0]).exists() else argv[0], *argv[1:]],
            input=stdin,
            timeout=seconds,
            env=self._client_environment(),
            cwd=cwd or self.folder,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )
        if check and done.returncode != 0:
            raise TestbedError(
                f"{self.name}: {' '.join(argv)}: exit {done.returncode}: "
                f"{done.stderr.strip() or done.stdout.strip()}"
            )
        return done

    def submit(
        self,
        *options: str,
        script: str = "sleep 600",
        user: str | None = None,
        cwd: Path | None = None,
    ) -> str:
        """Submit a job as a local user would, past metabroker; return its id."""
        text = script if script.startswith("#!") else f"#!/bin/sh\n{script}\n"
        output = (
            ()
            if any(word.startswith(("-o", "--output")) for word in options)
            else ("--output=/dev/null",)
        )
        done = self.run(
            "sbatch", "--parsable", *output, *options, stdin=text, user=user, check=True, cwd=cwd
        )
        return done.stdout.strip().split(";")[0]

    # -- the truth ----------------------------------------------------------------------------

    def jobs(self, name: str | None = None) -> list[Job]:
        """All jobs the controller still knows (ended ones for MinJobAge), or those of a name."""
        only = ("-n", name) if name is not None else ()
        done = self.run(
            "squeue", "-h", "-a", "-t", "all", *only, "-o", reading.JOB_FORMAT, check=True
        )
        return reading.parse_jobs(done.stdout)

    def job(self, job_id: str) -> Job | None:
        """The job of that id, None if the controller knows none."""
        return next((job for job in self.jobs() if job.id == job_id), None)

    def active_jobs(self) -> list[Job]:
        return [job for job in self.jobs() if job.active]

    def reservations(self) -> list[Reservation]:
        """All reservations there are."""
        done = self.run("scontrol", "-o", "show", "reservation", check=True)
        return reading.parse_reservations(done.stdout)

    def node_states(self) -> dict[str, str]:
        """Each node's state in small letters, with its suffix (`idle*`: does not answer)."""
        done = self.run("sinfo", "-h", "-N", "-o", "%N %T", check=True)
        return dict(line.split() for line in done.stdout.splitlines())

    def wait_job(self, job_id: str, *states: str, seconds: float = PATIENCE) -> Job:
        """Wait until the job is in one of `states` (default: is over); return it."""

        def reached() -> bool:
            job = self.job(job_id)
            return job is not None and (job.state in states if states else not job.active)

        wait_until(reached, seconds, f"{self.name}: job {job_id} {' or '.join(states) or 'over'}")
        job = self.job(job_id)
        if job is None:
            raise TestbedError(f"{self.name}: job {job_id} was purged")
        return job

    def log_tail(self, lines: int = 30) -> str:
        """The last lines of every daemon's log, for a failed test's report."""
        return tails([*self.folder.glob("log/*.log"), *self.folder.glob("run/*.out")], lines)

    # -- cleaning -----------------------------------------------------------------------------

    def cancel_all(self, seconds: float = PATIENCE) -> None:
        """End every job and wait until none is active. A script that minds no SIGTERM would take
        Slurm 5 s; here its processes are killed."""
        patience = time.monotonic() + 0.3

        def none_active() -> bool:
            active = self.active_jobs()
            living = [job.id for job in active if job.state != "COMPLETING"]
            if living:
                self.run("scancel", *living, seconds=seconds)
            if active and time.monotonic() > patience:
                kill_all(job_processes(self.folder))
            return not active

        wait_until(none_active, seconds, f"{self.name}: end of all jobs")

    def delete_reservations(self, seconds: float = PATIENCE) -> None:
        """Delete every reservation; one whose job has just ended is in use for a moment yet."""

        def none_left() -> bool:
            names = [reservation.name for reservation in self.reservations()]
            for name in names:
                self.run("scontrol", "delete", f"reservation={name}", seconds=seconds)
            return not names

        wait_until(none_left, seconds, f"{self.name}: end of all reservations")

    def _forget_jobs(self) -> None:
        """A slurmd that was never told the end of a job whose id is issued again calls that job
        a second copy, does not launch it, and its node is drained: so nodes begin anew."""
        kill_all(job_processes(self.folder))
        for node in self.nodes.values():
            node.stop()
            node.start()
        self._forgetful = False

    def _back_in_service(self, seconds: float = PATIENCE) -> None:
        self.run("scontrol", "update", "partitionname=batch", "state=up", check=True)
        out = [n for n, state in self.node_states().items() if state.rstrip(SUFFIXES) not in UP]
        if out:
            self.run("scontrol", "update", f"nodename={','.join(out)}", "state=resume")
        self.wait_idle(seconds)

    # -- within -------------------------------------------------------------------------------

    @property
    def _state(self) -> Path:
        return self.folder / "state"

    def _wait_listening(self, seconds: float) -> None:
        """Wait for slurmctld's port: a client that comes too early sleeps a whole second."""

        def listening() -> bool:
            if not self.controller.running():
                raise TestbedError(f"{self.name}: slurmctld ended at once")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.ports[0])) == 0

        with self._explained():
            wait_until(listening, seconds, f"{self.name}: slurmctld listens")

    def _wait_nodes(self, states: set[str], seconds: float) -> None:
        def so() -> bool:
            done = self.run("sinfo", "-h", "-N", "-o", "%N %T", seconds=seconds)
            found = dict(line.split() for line in done.stdout.splitlines())
            return set(found) == set(self.nodes) and set(found.values()) <= states

        with self._explained():
            wait_until(so, seconds, f"{self.name}: nodes {' or '.join(sorted(states))}")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Add the daemons' own words to an error."""
        try:
            yield
        except TestbedError as error:
            raise TestbedError(f"{error}\n{self.log_tail()}") from None

    def _client_environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(CLIENT_VARIABLES)}
        return {**kept, **self.env(), "SLURM_TIME_FORMAT": "%s"}

    def _daemon(self, program: str, options: list[str | Path], name: str | None = None) -> Daemon:
        argv: list[str | Path] = [self.installation.sbin / program, "-D", "-f", self.slurm_conf]
        env = {"PATH": f"{self.bin}{os.pathsep}{os.defpath}", MARK: str(self.folder)}
        return Daemon(name or program, [*argv, *options], self.folder / "run", env)

    def write_files(self) -> None:
        """Its folders and settings, as its `spec` has them."""
        for path in ("state", "spool", "log", "run", *(f"spool/{name}" for name in self.nodes)):
            (self.folder / path).mkdir(parents=True, exist_ok=True)
        operator = self.spec.extra.get("SlurmUser")
        if operator is not None and os.geteuid() == 0:  # slurmctld becomes that user
            for path in ("state", "log", "run"):
                shutil.chown(self.folder / path, operator)
        controller_port, *node_ports = self.ports
        values = configuration.settings(
            self.spec, self.installation, self.folder, self.munge_socket, controller_port
        )
        self.slurm_conf.write_text(configuration.write(self.spec, values, node_ports))
        if self.installation.release >= (23, 2):
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
