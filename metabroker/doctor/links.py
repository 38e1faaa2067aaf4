"""Whether nodes of each two clusters can reach each other, and how well: by a trial job of one
processor in each cluster, all at the same time. They connect directly; what they must know of each
other goes through their gates, as in a job of several components."""

from __future__ import annotations

import contextlib
import importlib.resources
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from metabroker import accounts
from metabroker.broker import tokens
from metabroker.broker.links import LONGEST, Link, pair
from metabroker.broker.tokens import Ref
from metabroker.clusters.examination import CheckResults
from metabroker.clusters.gate import gate_path
from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import (
    ClusterRefusal,
    ComponentRequest,
    Peer,
    UnknownOutcome,
)
from metabroker.clusters.transports.base import CommandLost, CommandMissing
from metabroker.config.clusters import RealCluster
from metabroker.config.host_checks import unusable
from metabroker.config.model import Config
from metabroker.daemon import build
from metabroker.runtime.cluster_accounts import users_of

from . import folders, run_as
from .clusters import Report
from .folders import Real

_REF = Ref(1, 1, 0)
_START = 90.0  # seconds in which the trial jobs are to start
_MEASURE = 120.0  # seconds for one cluster's connections
_LONGEST = 900  # seconds that a trial job may run
_TROUBLES = (ClusterRefusal, UnknownOutcome, OSError, CommandLost, CommandMissing)
_LISTENING = re.compile(r"listening ([0-9]{1,5})((?: [0-9.]{7,15}){1,8})")
_OK = re.compile(r"to ([A-Za-z0-9_-]+) ok ([0-9]) ([0-9.]{7,15}) ([0-9.]{1,12}) ([0-9.]{1,12})")
_FAILED = re.compile(r"to ([A-Za-z0-9_-]+) failed (.*)")
_OPEN = (
    "open TCP from the nodes of {0} to those of {1}: ports 20000 to 31999, and those of the "
    "programs (docs/applications.md)"
)


@dataclass
class _End:
    """The trial job in one cluster."""

    name: str
    cluster: Real
    token: str
    gate: str
    output: str
    port: str = ""
    addresses: str = ""

    def told(self) -> list[str]:
        """What it has printed: of a node, and not to be trusted."""
        text = (self.cluster.files.read(self.output) or b"")[:20_000].decode("utf-8", "replace")
        return text.split("\n")[:-1]

    def tell(self, name: str, text: str) -> None:
        self.cluster.files.write(f"{self.gate}/{name}", text.encode())

    def wait(self, word: str, seconds: float) -> list[str]:
        """What it has said once a line begins with that word; or so far."""
        deadline = time.monotonic() + seconds
        while True:
            lines = self.told()
            if any(line.startswith((word, "nothing: ")) for line in lines):
                return lines
            if time.monotonic() > deadline:
                return lines
            time.sleep(0.2)


def examine(config: Config, folder: Path) -> tuple[list[Report], list[Link]]:
    """A report on each two clusters of the configuration, and what is to be kept."""
    why: dict[str, str] = {}
    secret = secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        ends = dict(_ends(config, folder, secret, why, stack))
        _await_all(ends, why)
        found = {name: _measured(end, ends) for name, end in ends.items()}
        for end in ends.values():
            with contextlib.suppress(*_TROUBLES):
                end.tell("done", "")
    reports, links = [], []
    for one, other in combinations(sorted(config.clusters), 2):
        unmeasured = why.get(one) or why.get(other)
        directions = {} if unmeasured else {
            (one, other): found[one].get(other, "no answer"),
            (other, one): found[other].get(one, "no answer"),
        }  # fmt: skip
        report, link = _judge(pair(one, other), directions, unmeasured)
        reports.append(report)
        links.append(link)
    return reports, links


Measure = tuple[float, float, str] | str  # milliseconds, megabytes a second, note; or why not


def _judge(
    clusters: tuple[str, str], directions: Mapping[tuple[str, str], Measure], why: str | None
) -> tuple[Report, Link]:
    """One link, of what both directions have shown."""
    found = CheckResults()
    said, numbers = [why] if why else [], []
    tried = "a trial job in each"
    if why:
        found.warn("link", tried, f"not measured: {why}", "see `metabroker doctor --run`")
    for (source, target), measure in directions.items():
        if isinstance(measure, str):
            text = f"a node of {source} does not reach one of {target}: {measure}"
            found.miss("link", tried, text, _OPEN.format(source, target))
            said.append(text)
            continue
        latency, bandwidth, note = measure
        numbers.append((latency, bandwidth))
        text = f"from {source} to {target}: {latency:.3f} ms there and back, {bandwidth:.0f} MB/s"
        if note:
            found.warn("link", tried, f"{text}; {note}", "set METABROKER_MASTER_ADDR in jobs")
            said.append(note)
        else:
            found.ok("link", tried, text)
    whole = len(numbers) == 2
    link = Link(
        clusters,
        max(each[0] for each in numbers) if whole else None,
        min(each[1] for each in numbers) if whole else None,
        time.time(),
        "".join(c for c in "; ".join(said) if c.isprintable())[:LONGEST],
    )
    return Report(f"{clusters[0]} - {clusters[1]}", found.all), link


def _ends(
    config: Config,
    folder: Path,
    secret: str,
    why: dict[str, str],
    stack: contextlib.ExitStack,
) -> Iterator[tuple[str, _End]]:
    """A trial job in each cluster where that is possible; why not elsewhere."""
    for name, configured in config.clusters.items():
        if not isinstance(configured, RealCluster):
            why[name] = f"{name} is simulated, and has no nodes"
            continue
        trouble = unusable(name, configured)
        if trouble is not None:
            why[name] = f"{name}: {trouble.message}"
            continue
        instance = secrets.token_hex(4)
        cluster = build.real(config, configured, name, instance)
        stack.callback(cluster.close)
        root, used = configured.shared_dir, cluster
        try:
            if configured.run_as != "self":
                users = users_of(config)[name]
                account = run_as.examine(CheckResults(), cluster, users, configured.run_as)
                if account is None:
                    why[name] = f"{name}: there is no account to try (`users`)"
                    continue
                used = cluster.acting_for(account)
                who = accounts.identity(account)
                root = root or (None if who is None else Path(who.home))
            yield name, _submitted(used, name, instance, str(root or folder), secret, stack)
        except _TROUBLES as error:
            why[name] = f"{name}: {error}"


def _submitted(
    cluster: Real, name: str, instance: str, root: str, secret: str, stack: contextlib.ExitStack
) -> _End:
    token = tokens.make(instance, _REF)
    gate = gate_path(root, token, secrets.token_hex(8))
    end = _End(name, cluster, token, gate, f"{gate}/output")
    text = importlib.resources.files(__package__).joinpath("links.sh").read_text("ascii")
    script = text.replace("@SECRET@", secret).replace("@SECONDS@", str(_LONGEST - 60))
    order = ComponentRequest(
        token=token, gate=gate, processors=1, seconds=_LONGEST, job=0, name="doctor", component=0,
        peers=(Peer(name, 1),), script=script.encode(), args=(gate,), environment={}, chdir=root,
        output=end.output, error=None,
    )  # fmt: skip
    stack.callback(folders.remove, cluster, token, gate)
    carry_out(cluster.submit(order), cluster.transport)
    return end


def _await_all(ends: dict[str, _End], why: dict[str, str]) -> None:
    """Until all listen; without those that do not."""
    deadline = time.monotonic() + _START
    for name, end in list(ends.items()):
        try:
            lines = end.wait("listening", max(0.0, deadline - time.monotonic()))
        except _TROUBLES as error:
            lines = [f"nothing: {error}"]
        matches = [_LISTENING.fullmatch(line) for line in lines]
        heard = next((match for match in matches if match), None)
        if heard is not None:
            end.port, end.addresses = heard[1], heard[2].strip()
            continue
        said = next((line[9:] for line in lines if line.startswith("nothing: ")), None)
        started = said or f"its trial job did not start within {_START:.0f} s"
        why[name] = f"{name}: {started[:200]}"


def _measured(end: _End, ends: Mapping[str, _End]) -> dict[str, Measure]:
    """One after the other: their bandwidth is to be measured, and not shared."""
    others = [each for each in ends.values() if each is not end and each.port]
    if not end.port:
        return {}
    found: dict[str, Measure] = {}
    try:
        end.tell("to", "".join(f"{o.name} {o.port} {o.addresses}\n" for o in others))
        lines = end.wait("measured", _MEASURE)
    except _TROUBLES as error:
        return dict.fromkeys((each.name for each in others), str(error))
    for line in lines:
        if right := _OK.fullmatch(line):
            with contextlib.suppress(ValueError):
                note = "" if right[2] == "0" else f"not by its first address, but by {right[3]}"
                found[right[1]] = float(right[4]), float(right[5]), note
        elif wrong := _FAILED.fullmatch(line):
            found[wrong[1]] = wrong[2][:200]
    return found
