"""Whose jobs are whose: `run_as`, `users` and `users_file` of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from metabroker.config import values
from metabroker.config.errors import ConfigRefusal
from metabroker.config.problems import Problem, of_cluster

from .yaml_nodes import Document, NotYaml

Table = Mapping[str, str] | Literal["same"]
"""Accounts by users' names; `same`: everybody's account has the user's own name."""

_KEYS = ("users", "users_file", "sftp_server")
_LARGEST = 4 << 20  # bytes of a file
_WRITE = "write for example {alice: alice, bob: rs0042}"


def table(value: object) -> object:
    """A table of users as the configuration has it. Raises `ConfigRefusal`."""
    if value is None or value == "same":
        return value
    if not isinstance(value, Mapping):
        raise ConfigRefusal(f"must be a mapping or `same`, not {values.shown(value)}", _WRITE)
    return {_user(user): _account(user, account) for user, account in value.items()}


def read(path: Path) -> Mapping[str, str]:
    """The table in a file. Raises `ConfigRefusal`."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise ConfigRefusal(f"{path} is larger than {_LARGEST >> 20} MB", "write fewer users")
        data = Document(text, str(path), largest=_LARGEST).data
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigRefusal(
            f"{path} cannot be read: {why}", "name a file that the daemon can read"
        ) from (error)
    except NotYaml as error:
        wrong = error.error
        why = f"{path}, line {wrong.line}: {wrong.message}"
        raise ConfigRefusal(why, "write one `user: account` a line") from error
    if not isinstance(data, Mapping):
        raise ConfigRefusal(f"{path} is not a mapping", "write one `user: account` a line")
    found = table(data)
    assert isinstance(found, Mapping)
    return found


def problems(name: str, cluster: Mapping[str, Any], folder: Path) -> Iterator[Problem]:
    """The problems of one cluster's raw data."""
    run_as = cluster.get("run_as", "self")
    given = [key for key in _KEYS if cluster.get(key) is not None]
    if cluster.get("system") == "simulated":
        return
    if run_as == "self":
        for key in given:
            message = "is for `run_as: sudo` and `run_as: root-uid`; this cluster is `run_as: self`"
            yield of_cluster(name, key, message, "write `run_as: sudo`, or remove it")
        return
    if run_as not in ("sudo", "root-uid"):
        return
    if "users" not in given and "users_file" not in given:
        message = f"is missing: `run_as: {run_as}` needs a table of users and their accounts"
        yield of_cluster(name, "users", message, f"{_WRITE}, or `same`, or give a `users_file`")
    if "users" in given and "users_file" in given:
        yield of_cluster(
            name, "users_file", "cannot be given together with `users`", "leave one of the two out"
        )
    elif isinstance(cluster.get("users_file"), str):
        yield from _in_file(name, cluster["users_file"], folder)
    if run_as == "root-uid" and cluster.get("via", "local") != "local":
        message = "root-uid works on this host only, and this cluster is not `via: local`"
        yield of_cluster(name, "run_as", message, "write `run_as: sudo`")
    if cluster.get("system") == "slurm" and cluster.get("access", "commands") != "commands":
        message = f"pyslurm acts as the daemon only, and this cluster is `run_as: {run_as}`"
        yield of_cluster(name, "access", message, "write `access: commands`")


def _in_file(name: str, file: str, folder: Path) -> Iterator[Problem]:
    try:
        read(values.absolute_path(file, folder))
    except ConfigRefusal as error:
        yield of_cluster(name, "users_file", error.message, error.advice)


def _user(user: object) -> str:
    if not isinstance(user, str):
        raise ConfigRefusal(
            f"{values.shown(user)} is not a user name", "write login names in quotes"
        )
    values.user_name(user)
    if user == "root":
        raise ConfigRefusal("the daemon never acts for root", "remove root: it may not submit jobs")
    return user


def _account(user: object, account: object) -> str:
    if not isinstance(account, str) or account.isdigit():
        what = f"the account of {user}, {values.shown(account)}, is not a name"
        raise ConfigRefusal(what, "write a login name, in quotes if it looks like a number")
    values.user_name(account)
    if account == "root":
        raise ConfigRefusal(f"{user} would be root there", "write an ordinary account")
    return account
