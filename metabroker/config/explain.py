"""What a failed validation means, in the words of the configuration's author."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from metabroker.config.clusters import OpenPBSConfig, SimulatedConfig, SlurmConfig
from metabroker.config.keys import Key, model_at
from metabroker.config.model import Config
from metabroker.config.problems import Problem, choice, of_error, unknown_key

from .ssh_checks import OF_SSH

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
    if kind.startswith("union_tag"):
        return _system(key, value)
    if key[-1] == "run_as" and kind == "literal_error" and value in ("sudo", "root-uid"):
        return Problem(key, "a simulated cluster runs scripts as the daemon itself", "remove it")
    see = "see the commented configs/metabroker.yaml"
    return of_error(error, key, lambda: _unknown(key, system), _missing(key), see)


def _key(error: ErrorDetails) -> tuple[Key, str | None]:
    """The path of the key in the file, and the kind of cluster it belongs to."""
    path = tuple(part for part in error["loc"] if part != "[key]")
    if path[:1] == ("clusters",) and len(path) > 2 and path[2] in _SYSTEMS:
        return path[:2] + path[3:], str(path[2])
    return path, None


def _unknown(key: Key, system: str | None) -> Problem:
    if system is None:
        return unknown_key(key, model_at(Config, key[:-1]) or Config)
    why = _of_other_system(str(key[-1]), system)
    return unknown_key(key, _SYSTEMS[system]) if why is None else Problem(key, *why)


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


def _missing(key: Key) -> Problem:
    if key == ("clusters",):
        advice = "write `clusters:` and below it each cluster by name, with its `system`"
        return Problem(key, "is missing: it is the only key without a default", advice)
    if key[-1] == "processors":
        return Problem(key, "is missing", "say how many processors the simulated cluster has")
    return Problem(key, "is missing", "add it")


def _system(key: Key, value: object) -> Problem:
    """A cluster whose `system` is missing, unknown or not there yet."""
    key = (*key, "system")
    if not isinstance(value, Mapping) or "system" not in value:
        return Problem(key, "is missing", "write `system: slurm`, `openpbs` or `simulated`")
    return Problem(key, *choice(value["system"], "'slurm', 'openpbs' or 'simulated'"))
