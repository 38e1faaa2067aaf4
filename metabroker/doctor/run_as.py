"""Whether the daemon can act for the users whom the configuration names."""

from __future__ import annotations

from metabroker.clusters.examination import CheckResults
from metabroker.clusters.slurm import SlurmCluster
from metabroker.clusters.transports.base import Command, CommandLost, CommandMissing
from metabroker.runtime.cluster_accounts import ClusterUsers

from .folders import Real

_MOST = 50  # accounts that are tried
_RULES = "allow it in sudo's rules there (configs/sudoers/metabroker), or correct `users`"
_IDS = "see that the daemon runs as root, and correct `users`"
_SERVER = "see `sftp_server` of this cluster, and that sudo's rules allow just that program"


def examine(found: CheckResults, cluster: Real, users: ClusterUsers, run_as: str) -> str | None:
    """Try each account's commands and files; one account for which all works, if there is any."""
    named = [] if users.table == "same" else list(dict.fromkeys(users.table.values()))
    if not named:
        said, advice = "it names no user", "add users, or a `users_file`"
        if users.table == "same":
            said, advice = (
                "`same` names no account that can be tried",
                "submit a job as an ordinary user",
            )
        found.warn("users", "`users` of the configuration", said, advice)
        return None
    first: str | None = None
    for account in named[:_MOST]:
        if _commands(found, cluster, account, run_as) and _files(found, cluster, account):
            first = first or account
    if len(named) > _MOST:
        found.warn(
            "users", "`users` of the configuration", f"{len(named) - _MOST} were not tried",
            f"only the first {_MOST} accounts are",
        )  # fmt: skip
    return first


def _commands(found: CheckResults, cluster: Real, account: str, run_as: str) -> bool:
    """Each command that is run as users, asked for nothing but its release."""
    programs = ("sbatch", "scancel") if isinstance(cluster, SlurmCluster) else ("qsub", "qdel")
    advice = _RULES if run_as == "sudo" else _IDS
    for program in programs:
        tried = f"{program} --version as {account}"
        try:
            done = cluster.transport.run(Command((program, "--version"), account=account))
        except (CommandLost, CommandMissing) as error:
            found.miss("act as users", tried, str(error), advice)
            return False
        if done.exit_status != 0:
            said = " ".join((done.stderr or done.stdout).split()) or "it failed"
            found.miss("act as users", tried, said[:300], advice)
            return False
    found.ok("act as users", f"{' and '.join(programs)} --version as {account}", "allowed")
    return True


def _files(found: CheckResults, cluster: Real, account: str) -> bool:
    tried = f"list / by SFTP as {account}"
    try:
        cluster.acting_for(account).files.list("/")
    except (OSError, CommandLost, CommandMissing) as error:
        found.miss("files of users", tried, str(error), _SERVER)
        return False
    found.ok("files of users", tried, "done")
    return True
