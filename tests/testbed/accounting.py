"""Accounting for one real cluster: the machine's own slurmdbd and MariaDB (Debian's packages
`slurmdbd` and `mariadb-server`), in a folder of the test's, on ports of loopback."""

from __future__ import annotations

import contextlib
import getpass
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tests.testbed.cluster import ClusterSpec, SlurmCluster
from tests.testbed.packages import PackagesUnavailable
from tests.testbed.ports import PortBlock
from tests.testbed.processes import MARK, Daemon, TestbedError, captured, wait_until

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_PLUGINS = Path("/usr/lib/x86_64-linux-gnu/slurm-wlm")
_DATABASE = "slurm_acct_db"


class Accounting:
    """A database and its daemon, between `start` and `close`."""

    def __init__(self, cluster: SlurmCluster) -> None:
        """Raises `PackagesUnavailable`: they are not here, or of another release."""
        programs = [shutil.which(name, path=_PATH) for name in ("slurmdbd", "mariadbd")]
        if None in programs or not (_PLUGINS / "accounting_storage_mysql.so").exists():
            raise PackagesUnavailable("install slurmdbd and mariadb-server")
        query = ["dpkg-query", "-W", "-f", "${Version}", "slurmdbd"]
        told = captured(query, cwd="/", env={"PATH": _PATH}).stdout
        if not told.startswith(f"{cluster.installation.version}-"):
            raise PackagesUnavailable(f"slurmdbd is {told}, not {cluster.installation.version}")
        self.folder = Path(tempfile.mkdtemp(prefix="mb-dbd-"))
        self.folder.chmod(0o755)
        self._cluster = cluster
        self._ports = PortBlock(1)
        self.port = self._ports.ports[0]
        self._socket = self.folder / "db"
        env = {"PATH": _PATH, MARK: str(self.folder)}
        words = [programs[1], "--no-defaults", f"--datadir={self.folder}/data"]
        words += [f"--socket={self._socket}", "--skip-networking", "--user=root"]
        words += ["--skip-grant-tables", f"--pid-file={self.folder}/db.pid"]
        self._server = Daemon("mariadbd", [str(word) for word in words], self.folder, env)
        env = {**env, "SLURM_CONF": str(cluster.slurm_conf)}
        self._daemon = Daemon("slurmdbd", [str(programs[0]), "-D", "-v"], self.folder, env)

    def start(self) -> None:
        """Serve: the cluster and this account are known."""
        made = captured(
            ["mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data", "--user=root"],
            cwd="/",
            env={"PATH": _PATH},
        )
        if made.returncode:
            raise TestbedError(f"mariadb-install-db: {made.stdout}\n{made.stderr}")
        self._server.start()
        wait_until(self._socket.exists, 60, f"MariaDB answers (see {self._server.log})")
        self._write()
        self._daemon.start()
        wait_until(self._answers, 60, f"slurmdbd answers (see {self._daemon.log})")
        user, name = getpass.getuser(), self._cluster.name
        for words in (f"cluster {name}", f"account phys cluster={name}",
                      f"user {user} account=phys cluster={name}"):  # fmt: skip
            self._sacctmgr("add", *words.split())

    def _write(self) -> None:
        munge = self._cluster.munge_socket
        lines = {
            "AuthType": "auth/munge", "AuthInfo": f"socket={munge}", "DbdHost": "localhost",
            "DbdPort": str(self.port), "SlurmUser": getpass.getuser(), "DebugLevel": "info",
            "PluginDir": str(_PLUGINS), "PidFile": f"{self.folder}/slurmdbd.pid",
            "LogFile": f"{self.folder}/slurmdbd.log", "StorageType": "accounting_storage/mysql",
            "StorageHost": "localhost", "StorageLoc": _DATABASE, "StorageUser": "root",
        }  # fmt: skip
        # slurmdbd looks for its own configuration beside slurm.conf.
        file = self._cluster.slurm_conf.with_name("slurmdbd.conf")
        file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        file.chmod(0o600)
        options = self.folder / "my.cnf"
        options.write_text(f"[client]\nsocket={self._socket}\n")
        self._daemon.env["MYSQL_HOME"] = str(self.folder)
        self._daemon.env["MYSQL_UNIX_PORT"] = str(self._socket)

    def _answers(self) -> bool:
        if not self._daemon.running():
            raise TestbedError(f"slurmdbd has ended: {self._daemon.log.read_text()}")
        return self._cluster.run("sacctmgr", "-n", "show", "cluster").returncode == 0

    def _sacctmgr(self, *words: str) -> None:
        done = self._cluster.run("sacctmgr", "-i", *words)
        if done.returncode and "Nothing new added" not in done.stdout:
            raise TestbedError(f"sacctmgr {words}: {done.stdout} {done.stderr}")

    def close(self) -> None:
        """Leave nothing."""
        for daemon in (self._daemon, self._server):
            if daemon.running():
                daemon.kill()
        self._cluster.slurm_conf.with_name("slurmdbd.conf").unlink(missing_ok=True)
        self._ports.release()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def accounted(
    cluster: SlurmCluster, more: Mapping[str, str] | None = None, partition: str = ""
) -> Iterator[None]:
    """The cluster keeps its jobs in a database, up to the end. `more` of slurm.conf, and of its
    partition's line, are other then.

    Raises `PackagesUnavailable`: that cannot be had here.
    """
    accounting, before = Accounting(cluster), cluster.spec
    extra = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": "localhost",
        "AccountingStoragePort": str(accounting.port),
        "AccountingStoragePass": str(cluster.munge_socket),
    }
    extra |= more or {}
    try:
        _change(cluster, replace(before, extra={**before.extra, **extra}, partition=partition))
        accounting.start()
        cluster.start_controller()
        yield
    finally:
        _change(cluster, before)
        accounting.close()
        cluster.start_controller()


def _change(cluster: SlurmCluster, spec: ClusterSpec) -> None:
    """Other settings, from the next start of slurmctld on; it is stopped."""
    cluster.stop_controller()
    cluster.spec = spec
    cluster.write_files()
