"""The native job of a component: a small POSIX shell script around the user's untouched one."""

from __future__ import annotations

import importlib.resources
import shlex
from collections.abc import Mapping, Sequence

from metabroker.clusters.port import ComponentOrder
from metabroker.clusters.staging import work_folder

# What sudo tells a command about who called it: none of a job's business.
_OF_SUDO = "unset SUDO_COMMAND SUDO_USER SUDO_UID SUDO_GID"


def wrapper(order: ComponentOrder, cluster: str, *, acting: bool = False) -> bytes:
    """The text of the native job. All that comes from the user goes in as quoted words. `acting`:
    it is submitted as another account."""
    peers = order.peers
    variables = {
        **order.environment,
        "METABROKER_JOB_ID": str(order.job),
        "METABROKER_JOB_NAME": order.name,
        "METABROKER_COMPONENT": str(order.component),
        "METABROKER_COMPONENTS": str(len(peers)),
        "METABROKER_CLUSTER": cluster,
        "METABROKER_CLUSTERS": ",".join(peer.cluster for peer in peers),
        "METABROKER_PROCESSORS": str(order.processors),
        "METABROKER_PEERS_FILE": f"{order.gate}/peers.json",
    }
    if order.works:
        variables["METABROKER_WORK_DIR"] = work_folder(order.gate)
    settings = [
        f"gate={shlex.quote(order.gate)}",
        f"patience={order.barrier_seconds if order.barrier_seconds is not None else ''}",
        f"work={'yes' if order.works else ''}",
        _exports(variables),
        f"set -- {_words(order.args)}",
        *((_OF_SUDO,) if acting else ()),
    ]
    template = importlib.resources.files(__package__).joinpath("wrapper.sh").read_text("ascii")
    head, _, body = template.partition("# SETTINGS\n")
    return (head + "\n".join(settings) + "\n" + body).encode()


def _exports(variables: Mapping[str, str]) -> str:
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())


def _words(words: Sequence[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)
