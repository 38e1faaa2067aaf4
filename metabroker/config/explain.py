"""What a failed validation means, in the words of the configuration's author."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from metabroker.config.clusters import OpenPBSConfig, SimulatedConfig, SlurmConfig
from metabroker.config.errors import ConfigRefusal
from metabroker.config.model import (
    AgingConfig,
    Config,
    ListenConfig,
    RatesConfig,
    RequestLimits,
    ResourceLimitConfig,
    RetryLimits,
    Timeouts,
)
from metabroker.config.problems import Problem, choice, nearest, plain

from .ssh_checks import OF_SSH

_SECTIONS: dict[str, type[BaseModel]] = {
    "limits": RequestLimits,
    "limits.per_user": ResourceLimitConfig,
    "limits.per_queue": ResourceLimitConfig,
    "listen": ListenConfig,
    "rates": RatesConfig,
    "aging": AgingConfig,
    "retries": RetryLimits,
    "timeouts": Timeouts,
}
_SYSTEMS: dict[str, type[BaseModel]] = {
    "slurm": SlurmConfig,
    "openpbs": OpenPBSConfig,
    "simulated": SimulatedConfig,
}

_SECRETS = frozenset({"password", "passphrase"})


def problem(error: ErrorDetails) -> Problem | None:
    """The problem that one of pydantic's errors stands for; None if it only follows another."""
    key, system = _key(error)
    kind = error["type"]
    if kind == "default_factory_not_called":
        return None
    value = error["input"]
    context = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, ConfigRefusal):
        return Problem(key, cause.message, cause.advice)
    if kind == "extra_forbidden":
        return _unknown(key, system)
    if kind == "missing":
        return _missing(key)
    if kind.startswith("union_tag"):
        return _system(key, value)
    if kind == "literal_error":
        return _choice(key, value, context["expected"])
    return Problem(key, *plain(kind, value, context, "see the commented configs/metabroker.yaml"))


def _key(error: ErrorDetails) -> tuple[tuple[str | int, ...], str | None]:
    """The path of the key in the file, and the kind of cluster it belongs to."""
    path = tuple(part for part in error["loc"] if part != "[key]")
    if path[:1] == ("clusters",) and len(path) > 2 and path[2] in _SYSTEMS:
        return path[:2] + path[3:], str(path[2])
    return path, None


def _unknown(key: tuple[str | int, ...], system: str | None) -> Problem:
    name = str(key[-1])
    if system is not None:
        why = _of_other_system(name, system)
        if why is not None:
            return Problem(key, *why)
        model = _SYSTEMS[system]
    else:
        model = _SECTIONS.get(".".join(map(str, key[:-1])), Config)
    known = list(model.model_fields)
    advice = nearest(name, known) or f"known here: {', '.join(known)}"
    return Problem(key, "unknown key", advice)


def _of_other_system(name: str, system: str) -> tuple[str, str] | None:
    """Why a key that is right elsewhere is wrong in a cluster of this system."""
    if name in _SECRETS:
        return "a password cannot be configured in any file", "use a `key` without one, or an agent"
    if system == "simulated" and name in OF_SSH:
        return "a simulated cluster is not reached over ssh", "remove it"
    if system == "simulated" and name in {*SlurmConfig.model_fields, *OpenPBSConfig.model_fields}:
        return "a simulated cluster has no such setting: it runs no commands", "remove it"
    if name in SimulatedConfig.model_fields:
        return f"only a simulated cluster has this setting; {system} is real", "remove it"
    if system == "slurm" and name == "queue":
        return "a queue belongs to OpenPBS, and this cluster is of another system", (
            "write `partition`"
        )
    if system == "openpbs" and name == "partition":
        return "a partition belongs to Slurm, and this cluster is of another system", (
            "write `queue`"
        )
    if system == "slurm" and name in OpenPBSConfig.model_fields:
        return "only an openpbs cluster has this setting", "remove it"
    if system == "openpbs" and name in SlurmConfig.model_fields:
        return "only a slurm cluster has this setting", "remove it"
    return None


def _missing(key: tuple[str | int, ...]) -> Problem:
    if key == ("clusters",):
        advice = "write `clusters:` and below it each cluster by name, with its `system`"
        return Problem(key, "is missing: it is the only key without a default", advice)
    if key[-1] == "processors":
        return Problem(key, "is missing", "say how many processors the simulated cluster has")
    return Problem(key, "is missing", "add it")


def _system(key: tuple[str | int, ...], value: object) -> Problem:
    """A cluster whose `system` is missing, unknown or not there yet."""
    key = (*key, "system")
    if not isinstance(value, Mapping) or "system" not in value:
        return Problem(key, "is missing", "write `system: slurm`, `openpbs` or `simulated`")
    return _choice(key, value["system"], "'slurm', 'openpbs' or 'simulated'")


def _choice(key: tuple[str | int, ...], value: object, expected: str) -> Problem:
    if key[-1] == "run_as" and expected == "'self'" and value in ("sudo", "root-uid"):
        return Problem(key, "a simulated cluster runs scripts as the daemon itself", "remove it")
    return Problem(key, *choice(value, expected))
