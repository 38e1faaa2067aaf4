"""Whether components can meet the broker: the folder for it, and one job that really does."""

from __future__ import annotations

import contextlib
import secrets
import time

from metabroker.broker import tokens
from metabroker.broker.tokens import Ref
from metabroker.clusters.examination import CheckResults
from metabroker.clusters.gate import gate_path
from metabroker.clusters.openpbs import OpenPBSCluster
from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import (
    CleanRequest,
    ClusterRefusal,
    ComponentRecord,
    ComponentRequest,
    Peer,
    UnknownOutcome,
)
from metabroker.clusters.slurm import SlurmCluster
from metabroker.clusters.transports.base import CommandLost, CommandMissing

Real = SlurmCluster | OpenPBSCluster

_REF = Ref(1, 1, 0)
_PROBE = b"#!/bin/sh\nid -un\n"
_SHARE = "give every node and the host that commands run on the same folder, as `shared_dir`"
_LEFT = 30.0  # seconds in which what was made is removed


def folder(found: CheckResults, cluster: Real, root: str) -> bool:
    """Make a file there, rename it, read it, remove all."""
    gate = gate_path(root, "mb-doctor", secrets.token_hex(8))
    files, tried = cluster.files, f"write and rename a file in {root}"
    try:
        try:
            files.make_folder(gate)
            files.write(f"{gate}/a", b"doctor\n")
            right = files.rename(f"{gate}/a", f"{gate}/b") and files.read(f"{gate}/b")
        finally:
            files.remove_tree(gate)
    except (OSError, CommandLost, CommandMissing) as error:
        said = getattr(error, "strerror", None) or str(error)  # not ours
        found.miss("folder", tried, said, "make it, and let this cluster's account write in it")
        return False
    if right != b"doctor\n":
        found.miss("folder", tried, "what was read is not what was written", _SHARE)
        return False
    found.ok("folder", tried, "done")
    return True


def job(
    found: CheckResults, cluster: Real, name: str, instance: str, root: str, patience: float
) -> None:
    """Run a job of one processor that says who it is, and see it start and end by its own record:
    so its node shares the folder, and it runs under the right account."""
    token = tokens.make(instance, _REF)
    gate = gate_path(root, token, secrets.token_hex(8))
    order = ComponentRequest(
        token=token, gate=gate, processors=1, seconds=60, job=0, name="doctor", component=0,
        peers=(Peer(name, 1),), script=_PROBE, args=(), environment={}, chdir=root,
        output=f"{gate}/output", error=None,
    )  # fmt: skip
    tried = f"a job of one processor that writes into {root}"
    began = time.monotonic()
    code: int | None = None
    try:
        named = f"job {carry_out(cluster.submit(order), cluster.transport).native_id}"
        while code is None and time.monotonic() - began < patience:
            time.sleep(0.2)
            code = cluster.look([gate]).get(gate, ComponentRecord()).exit_code
        seconds = time.monotonic() - began
        if code == 0:
            output = (cluster.files.read(order.output) or b"").decode("utf-8", "replace").strip()
            words = f"{named} ran as {output or '?'}, seen to end after {seconds:.1f} s"
            found.ok("job", tried, words)
        elif code is not None:
            advice = "see its output with the cluster's own commands"
            found.miss("job", tried, f"{named} ended with exit code {code}", advice)
        else:
            advice = f"if it has run by now: {_SHARE}; else the cluster is full: try again later"
            found.miss("job", tried, f"{named}: it was not seen within {seconds:.0f} s", advice)
    except (ClusterRefusal, UnknownOutcome, OSError, CommandLost, CommandMissing) as error:
        advice = "see that this account may submit there: partition or queue, account, limits"
        found.miss("job", tried, str(error), advice)
    finally:
        remove(cluster, token, gate)


def remove(cluster: Real, token: str, gate: str) -> None:
    """Leave nothing, whatever has happened."""
    deadline = time.monotonic() + _LEFT
    while time.monotonic() < deadline:
        with contextlib.suppress(ClusterRefusal, UnknownOutcome):
            carry_out(
                cluster.clean(CleanRequest(token, gate, reservation=False)), cluster.transport
            )
            break
        time.sleep(0.5)
    with contextlib.suppress(OSError, CommandLost, CommandMissing, ClusterRefusal, UnknownOutcome):
        cluster.discard(gate)
