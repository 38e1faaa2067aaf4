"""Which Slurm cluster it is, whatever the configuration calls it."""

from __future__ import annotations

import re

from metabroker.clusters.operation import Operation, command
from metabroker.clusters.transports.base import Command

from .answers import failure


def identify() -> Operation[str]:
    """ClusterName and the first controller: `delft at ctl1:6817`; the same for all who ask it.

    Raises:
        ClusterRefusal, UnknownOutcome: it does not say.
    """
    done = yield from command(Command(("scontrol", "show", "config")))
    if done.exit_status != 0:
        raise failure(done, "scontrol show config")
    found: list[tuple[str, str]] = re.findall(r"^(\S+)\s*= (.*)$", done.stdout, re.MULTILINE)
    said = {key: value.strip() for key, value in found}
    host = said.get("SlurmctldHost[0]", said.get("SlurmctldHost", ""))
    return f"{said.get('ClusterName', '')} at {host}:{said.get('SlurmctldPort', '')}"
