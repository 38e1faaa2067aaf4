"""Accounts of ordinary users and of a service, made for a test and removed after it; and sudo.

Only root can make them; everywhere else tests that need them are skipped.
"""

from __future__ import annotations

import atexit
import functools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.testbed.apt import leave_out
from tests.testbed.processes import captured

from .apt import PackagesUnavailable, run
from .packages import cache_folder, locked

REPOSITORY = Path(__file__).resolve().parents[2]
RULES = REPOSITORY / "configs" / "sudoers" / "metabroker"
SFTP_SERVER = Path("/usr/lib/openssh/sftp-server")
Done = subprocess.CompletedProcess[str]
_PROGRAMS = {"sudo": Path("/usr/bin/sudo"), "openssh-sftp-server": SFTP_SERVER}
_TRIES = 20  # of a change to the user database, which others may be changing too


def require_root() -> None:
    """Skip where accounts cannot be made; in CI that is a failure."""
    if os.geteuid() != 0:
        leave_out("it needs accounts of its own, which only root can make")


def require_programs() -> None:
    """sudo and an SFTP server, installed from the distribution where they are missing."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "programs.lock"):  # another process may be at it
        missing = [package for package, path in _PROGRAMS.items() if not path.exists()]
        if not missing:
            return
        waiting = ("-o", "DPkg::Lock::Timeout=300")
        install = ["apt-get", *waiting, "install", "-y", "--no-install-recommends", *missing]
        try:
            try:
                run(install, 300)
            except PackagesUnavailable:
                run(["apt-get", "update"], 120)
                run(install, 300)
        except PackagesUnavailable as error:
            leave_out(f"it needs {' and '.join(missing)}: {error}")


class People:
    """alice, bob, carol and the service `svc`, with homes of mode 0700 in `folder`; alice is in a
    group that has the folder `team`, and in `shared` all may make folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = f"mb{os.getpid() % 100000}"
        self._rules = Path("/etc/sudoers.d") / self._mark
        for who in ("alice", "bob", "carol", "svc"):
            self._make(who)
        # Made before any cluster starts: Slurm remembers who is in which group.
        self.team = folder / "team"
        _insist("groupadd", self.name("team"))
        _insist("gpasswd", "-a", self.name("alice"), self.name("team"))
        self.team.mkdir()
        shutil.chown(self.team, group=self.name("team"))
        self.team.chmod(0o770)
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)

    def name(self, who: str) -> str:
        """The account's real name: several tests may run at once on a machine."""
        return f"{self._mark}{who}"

    def home(self, who: str) -> Path:
        return self.folder / who

    def uid(self, who: str) -> int:
        return pwd.getpwnam(self.name(who)).pw_uid

    def rules(self, jobs: Sequence[Path]) -> str:
        """The shipped rules, for these accounts and these commands of clusters."""
        text = RULES.read_text()
        for old, new in (
            ("MB_DAEMON = metabroker", f"MB_DAEMON = {self.name('svc')}"),
            ("MB_USERS = alice, bob,", f"MB_USERS = {self.name('alice')}, {self.name('bob')},"),
            ("MB_JOBS = /usr/bin/sbatch, /usr/bin/scancel", f"MB_JOBS = {_words(jobs)}"),
        ):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    def allow(self, jobs: Sequence[Path]) -> None:
        """Put the rules in force."""
        # The names of aliases are one for all files in that folder.
        text = self.rules(jobs).replace("MB_", f"{self._mark.upper()}_")
        new = self._rules.with_name(f"{self._mark}.new")  # a name with a dot is not read
        new.write_text(text)
        new.chmod(0o440)
        run(["visudo", "-c", "-f", new], 20)
        new.rename(self._rules)

    def words(self, who: str, *, reading: bool = False) -> list[str]:
        """What runs a command as that account. `reading`: this Python, or the environment that
        links to it, may lie below a private folder, so that only a reader of all files can run
        it."""
        reads = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
        python = Path(sys.executable)
        closed = reading and not (_open_to_all(python) and _open_to_all(python.resolve()))
        return [
            *("setpriv", f"--reuid={self.uid(who)}", f"--regid={self.uid(who)}", "--init-groups"),
            *(reads if closed else ()),
            *("env", f"HOME={self.home(who)}", f"USER={self.name(who)}"),
        ]

    def run(
        self, who: str, *argv: str | Path, cwd: Path | None = None, reading: bool = False
    ) -> Done:
        """A command as that account."""
        return captured([*self.words(who, reading=reading), *map(str, argv)], cwd=cwd or "/")

    def remove(self) -> None:
        """Leave nothing."""
        self._rules.unlink(missing_ok=True)
        for who in ("alice", "bob", "carol", "svc"):
            _insist("userdel", "--force", self.name(who))
        _insist("groupdel", self.name("team"))

    def _make(self, who: str) -> None:
        home = self.home(who)
        _insist(
            "useradd", "--no-log-init", "-M", "-d", str(home), "-s", "/bin/sh", "-U", self.name(who)
        )
        home.mkdir(mode=0o700)
        os.chown(home, self.uid(who), self.uid(who))


def _words(paths: Sequence[Path]) -> str:
    return ", ".join(str(path) for path in paths)


@functools.cache
def open_code() -> Path:
    """A folder that has the package and that every user can read: this repository, or else one
    with a copy. The right to read all files is not enough: `access` does not know of it."""
    if _open_to_all(REPOSITORY):
        return REPOSITORY
    folder = Path(tempfile.mkdtemp(prefix="mb-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    shutil.copytree(REPOSITORY / "metabroker", folder / "metabroker")
    return folder


def _open_to_all(path: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents))


def _insist(*argv: str) -> None:
    for attempt in range(_TRIES):
        done = captured(argv)
        if done.returncode == 0:
            return
        if "lock" not in done.stderr or attempt == _TRIES - 1:
            raise AssertionError(f"{' '.join(argv)}: {done.stderr}")
        time.sleep(0.2)
