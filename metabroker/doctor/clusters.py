"""Examines the clusters of a configuration, each by itself, all at once."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from metabroker import accounts
from metabroker.clusters.examination import CheckOutcome, CheckResult, CheckResults
from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport
from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    CommandMissing,
    RunAs,
    Transport,
)
from metabroker.config.clusters import RealCluster, SimulatedConfig, SlurmConfig
from metabroker.config.host_checks import overlap, part_key, unusable
from metabroker.config.model import Config
from metabroker.daemon import build
from metabroker.runtime.cluster_accounts import users_of

from . import folders, run_as
from .folders import Real

_JOB_PATIENCE = 60.0  # seconds for the trial job
_MOST_OFFSET = 2.0  # seconds


@dataclass(frozen=True, slots=True)
class Report:
    """What was found of one cluster."""

    cluster: str
    findings: list[CheckResult]
    identity: str | None = None
    """what tells it from all other clusters; None: not known"""

    @property
    def well(self) -> bool:
        """Whether nothing is missing that is needed."""
        return all(found.outcome is not CheckOutcome.MISSING for found in self.findings)


def examine(config: Config, *, jobs: bool, folder: Path) -> Iterator[Report]:
    """One report for each cluster, in their order. `jobs`: run a trial job in each; `folder`: where
    it meets us on clusters without a `shared_dir`."""
    with ThreadPoolExecutor(max(1, len(config.clusters))) as pool:
        waiting = [pool.submit(_examine, config, name, jobs, folder) for name in config.clusters]
        known: dict[str, list[str]] = {}
        for each in waiting:
            report = each.result()
            if report.identity is not None:
                others = known.setdefault(report.identity, [])
                _twice(config, report, others)
                others.append(report.cluster)
            yield report


def _twice(config: Config, report: Report, others: list[str]) -> None:
    """Whether another entry names the same processors."""
    here = config.clusters[report.cluster]
    for name in others:
        other = config.clusters[name]
        assert isinstance(here, RealCluster) and isinstance(other, RealCluster)
        if overlap(here, other):
            found = CheckResults()
            found.miss(
                "identity", "its own name", f"it is the same cluster as {name}: {report.identity}",
                f"remove one of the two entries, or give each its own `{part_key(here)}`",
            )  # fmt: skip
            report.findings.extend(found.all)
            return


def _examine(config: Config, name: str, jobs: bool, folder: Path) -> Report:
    found = CheckResults()
    configured = config.clusters[name]
    if name in config.shared_with_submitters:
        found.warn(
            "submitters",
            "`submitters` and `run_as` of the configuration",
            "each of them can do all that the daemon's account can: read the store, the keys and "
            "other users' jobs",
            "use `run_as: sudo`, unless they may",
        )
        if config.line.depth:
            found.warn(
                "fair share",
                "`line` and `run_as` of the configuration",
                "in this cluster's own queue all jobs are one account's: its fair share, and its "
                "limits such as MaxSubmitJobs, are everybody's together",
                "use `run_as: sudo`, or give that account the share and the limits of all",
            )
    if isinstance(configured, SimulatedConfig):
        found.ok(
            "simulated", "nothing", f"{configured.processors} processors, in the daemon itself"
        )
        return Report(name, found.all)
    trouble = unusable(name, configured)
    if trouble is not None:
        key = trouble.key[-1]
        found.miss(str(key), f"`{key}` of the configuration", trouble.message, trouble.advice)
        return Report(name, found.all)
    # An instance of its own: no broker takes its job for one of theirs.
    instance = secrets.token_hex(4)
    cluster = build.real(config, configured, name, instance)
    identity = None
    try:
        if isinstance(cluster.transport, PyslurmTransport):
            _pyslurm(found, cluster.transport, configured)
        if _login(found, cluster.transport, configured):
            _contact(found, config, configured, cluster)
            with contextlib.suppress(ClusterRefusal, UnknownOutcome):  # which is told already
                identity = carry_out(cluster.identify(), cluster.transport)
            account = None
            if configured.run_as != "self":
                if isinstance(cluster.transport, RunAs):
                    users = users_of(config)[name]
                    account = run_as.examine(found, cluster, users, configured.run_as)
                jobs = jobs and account is not None
            if configured.shared_dir is not None or jobs:
                root = str(configured.shared_dir or _home(account) or folder)
                used = cluster if account is None else cluster.acting_for(account)
                if folders.folder(found, used, root) and jobs:
                    folders.job(found, used, name, instance, root, _JOB_PATIENCE)
    finally:
        cluster.close()
    return Report(name, found.all, identity)


def _home(account: str | None) -> str | None:
    """Where a user's trial job meets us: nobody can write in our own folder."""
    who = None if account is None else accounts.identity(account)
    return None if who is None else who.home


def _pyslurm(found: CheckResults, asked: PyslurmTransport, configured: RealCluster) -> None:
    """Whether a pyslurm is there that fits."""
    required = isinstance(configured, SlurmConfig) and configured.access == "pyslurm"
    tried = "a helper process that imports pyslurm"
    try:
        found.ok("pyslurm", tried, asked.which())
    except CommandMissing as error:
        said, install, advice = str(error).partition("install ")
        advice = install + advice or "see `pyslurm_python`, and SLURM_CONF in `env`"
        tell = found.miss if required else found.warn
        tell("pyslurm", tried, said.rstrip(": "), advice)


def _login(found: CheckResults, transport: Transport, configured: RealCluster) -> bool:
    """Whether any command can be run there at all; and what time it is there."""
    if configured.via == "local":
        return True
    tried = f"{configured.via} to {configured.host}"
    before = time.time()
    try:
        done = transport.run(Command(("date", "+%s.%N")))
    except (CommandLost, CommandMissing) as error:
        said, _, advice = str(error).partition("; ")
        found.miss(
            "login", tried, said, advice or "see `via`, `host`, `user`, `key`, `known_hosts`"
        )
        return False
    found.ok("login", tried, "a command was run there")
    try:
        offset = float(done.stdout) - (before + time.time()) / 2
    except ValueError:
        return True
    words = f"its clock differs by {offset:+.1f} s"
    if abs(offset) > _MOST_OFFSET:
        found.warn("clock", "date", words, "synchronize the clocks of both hosts by NTP")
    else:
        found.ok("clock", "date", words)
    return True


def _contact(found: CheckResults, config: Config, configured: RealCluster, cluster: Real) -> None:
    examining = cluster.examine(
        time.time(),
        reserves=configured.claim == "reservation",
        least_age=3 * config.poll_interval + config.timeouts.command,
    )
    try:
        found.all += carry_out(examining, cluster.transport)
    except Exception as error:  # a doctor does not die of a patient
        said = f"{type(error).__name__}: {error}"
        found.miss("examine", "the checks", said, "report this error in metabroker")
