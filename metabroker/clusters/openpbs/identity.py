"""Which PBS server it is, whatever the configuration calls it."""

from __future__ import annotations

import json
import re

from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import UnknownOutcome
from metabroker.clusters.transports.base import Command

from . import commands
from .answers import failure

_DEFAULT_PORT = "15001"
# The server does not tell its port: the file that its clients read does.
CLIENTS_FILE = ("sh", "-c", 'cat -- "${PBS_CONF_FILE:-/etc/pbs.conf}"')


def identify() -> Operation[str]:
    """The server's host and port: `pbs1.example.org:15001`.

    Raises:
        ClusterRefusal, UnknownOutcome: it does not say.
    """
    done = yield from command(commands.show_server())
    if done.exit_status != 0:
        raise failure(done, "qstat -B")
    try:
        servers = json.loads(done.stdout)["Server"]
        host = next(str(has.get("server_host", name)) for name, has in servers.items())
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise UnknownOutcome("qstat -B: it names no server") from error
    file = yield from command(Command(CLIENTS_FILE))
    port = re.search(r"^\s*PBS_BATCH_SERVICE_PORT=(\d+)", file.stdout, re.MULTILINE)
    return f"{host}:{port[1] if port else _DEFAULT_PORT}"
