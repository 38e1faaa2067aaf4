"""An OpenSSH server on loopback, for one account, with host keys of its own.

It runs as that account, which is another one than the test's where that is root: a login can
then do no more than the account may. The machine's user database is not asked (see `openssh`).
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.openssh import OpenSsh
from tests.testbed.ports import PortBlock
from tests.testbed.processes import MARK, Daemon, sweep, wait_until

CONFIGURATION = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/authorized_keys
TrustedUserCAKeys {folder}/ca.pub
AllowUsers {account}
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
MaxStartups 100
Subsystem sftp internal-sftp
LogLevel VERBOSE
"""


@dataclass(frozen=True)
class Account:
    """Who logs in: for root an unprivileged account that every Debian has, else oneself."""

    name: str
    uid: int
    gid: int


def account() -> Account:
    """The account that tests log in to."""
    found = pwd.getpwnam("daemon") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    return Account(found.pw_name, found.pw_uid, found.pw_gid)


class Sshd:
    """A server in `folder`, which every user can enter."""

    def __init__(
        self,
        programs: OpenSsh,
        folder: Path,
        shell: str = "/bin/sh",
        who: Account | None = None,
    ) -> None:
        folder.mkdir(mode=0o755, exist_ok=True)
        self.programs = programs
        self.folder = folder
        self.account = who or account()
        self.home = folder / "home"
        self.key = folder / "id_ed25519"
        self.known_hosts = folder / "known_hosts"
        self._shell = shell
        self._block = PortBlock(1)
        self.port = self._block.ports[0]
        self.daemon = Daemon("sshd", self._argv(), folder, {"PATH": os.defpath, MARK: str(folder)})

    def start(self) -> None:
        """Start it; return once it listens."""
        if not self.key.exists():
            self._write_files()
        self.daemon.start()
        wait_until(self._listens, 60, f"sshd listens (see {self.daemon.log})")

    def stop(self) -> None:
        """End it with all its sessions."""
        self.daemon.stop()
        self.end_sessions()
        self._block.release()

    def end_sessions(self) -> None:
        """Kill the processes of all sessions, as a reboot of that host would."""
        sessions = self._sessions()
        for pid in sessions:
            subprocess.run(["kill", "-KILL", str(pid)], check=False, capture_output=True)
        sweep(self.folder)

    def connections(self) -> int:
        """How many connections it serves now."""
        return len(self._sessions())

    def new_host_key(self) -> None:
        """Another host answers from now on, or one that was set up anew."""
        self.daemon.stop()
        for path in self.folder.glob("host_key*"):
            path.unlink()
        self._make_key("host_key")
        self._give(self.folder / "host_key")
        self.daemon.start()
        wait_until(self._listens, 60, f"sshd listens (see {self.daemon.log})")

    def know(self, port: int, file: Path | None = None) -> Path:
        """A known_hosts that has this server at `port` (its own, or one that leads to it)."""
        key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        path = file or self.known_hosts
        with path.open("a") as known:
            known.write(f"[127.0.0.1]:{port} {key}\n")
        return path

    def certify(self, key: Path) -> Path:
        """A certificate by which `key` may log in; the server does not know the key itself."""
        self._keygen("-s", str(self.folder / "ca"), "-I", "tester", "-n", self.account.name, key)
        return key.with_name(f"{key.name}-cert.pub")

    def make_key(self, path: Path, passphrase: str = "") -> Path:
        """A key that may not log in."""
        self._keygen("-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", path)
        return path

    def unlock(self, key: Path, passphrase: str) -> None:
        """From now on the key has no passphrase."""
        self._keygen("-q", "-p", "-P", passphrase, "-N", "", "-f", key)

    def settings(self) -> dict[str, object]:
        """The keys of metabroker's configuration that lead here."""
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "user": self.account.name,
            "key": str(self.key),
            "known_hosts": str(self.known_hosts),
        }

    # -- within -------------------------------------------------------------------------------

    def _argv(self) -> list[str | Path]:
        argv: list[str | Path] = []
        if os.geteuid() == 0:
            ids = (f"--reuid={self.account.uid}", f"--regid={self.account.gid}", "--clear-groups")
            argv = [shutil.which("setpriv") or "setpriv", *ids]
        wrapper = {
            "LD_PRELOAD": self.programs.nss_wrapper,
            "NSS_WRAPPER_PASSWD": self.folder / "passwd",
            "NSS_WRAPPER_GROUP": self.folder / "group",
        }
        return [
            *(*argv, "/usr/bin/env", *(f"{name}={value}" for name, value in wrapper.items())),
            *(self.programs.sshd, "-D", "-e", "-f", self.folder / "sshd_config"),
        ]

    def _write_files(self) -> None:
        who = self.account
        self.home.mkdir(exist_ok=True)
        self._give(self.home)
        texts: Mapping[str, str] = {
            "passwd": f"{who.name}:x:{who.uid}:{who.gid}::{self.home}:{self._shell}\n",
            "group": f"{who.name}:x:{who.gid}:\n",
            "sshd_config": CONFIGURATION.format(
                port=self.port, folder=self.folder, account=who.name
            ),
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text)
        self._make_key("host_key")
        self._make_key("ca")
        self._give(self.folder / "host_key")
        self._make_key(self.key.name)
        shutil.copy(self.folder / f"{self.key.name}.pub", self.folder / "authorized_keys")
        self.know(self.port)

    def _make_key(self, name: str) -> None:
        self.make_key(self.folder / name)

    def _keygen(self, *words: str | Path) -> None:
        argv = [str(self.programs.bin / "ssh-keygen"), *map(str, words)]
        subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)

    def _give(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, self.account.uid, self.account.gid)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _sessions(self) -> list[int]:
        """The server's processes but the one that listens: it names the others after the user."""
        found = []
        own = self.daemon.pid
        for path in (p / "cmdline" for p in Path("/proc").iterdir() if p.name.isdigit()):
            pid = int(path.parent.name)
            try:
                program = (path.parent / "exe").readlink()
                if pid != own and program == self.programs.sshd and self._serves(pid):
                    found.append(pid)
            except OSError:
                continue
        return found

    def _serves(self, pid: int) -> bool:
        """Whether it is this server's: all its processes stand under the one that listens."""
        while pid > 1 and pid != self.daemon.pid:
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            pid = int(stat[1])
        return pid == self.daemon.pid
