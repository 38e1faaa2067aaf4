"""A service run as its installed unit says, by a stand-in for systemd."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.daemon.harness import eventually
from tests.testbed.clean import ENVIRONMENT, CleanRoot
from tests.testbed.journal import Journal
from tests.testbed.manager import Manager

UNIT = "lib/systemd/system/metabroker.service"


class Service:
    """What of the unit concerns the process: account, folders, command, powers, its log."""

    def __init__(self, root: CleanRoot) -> None:
        self._root = root
        self._folder = root.path / "run"
        (self._folder / "systemd" / "journal").mkdir(parents=True, exist_ok=True)
        self.journal = Journal(self._folder / "systemd" / "journal" / "socket")
        self.manager = Manager(self._folder)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Until it says that it is ready."""
        ready = self.manager.count("READY")
        user, folder = self._says("User"), f"/run/{self._says('RuntimeDirectory')}"
        powers = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
        assert self._says("NoNewPrivileges") == "yes" and self._says("CapabilityBoundingSet") == ""
        assert self._says("KillMode") == "process"
        stderr = self._folder / "stderr"
        with stderr.open("wb") as stream:
            stream_id = stderr.stat()
            variables = {
                "PATH": ENVIRONMENT["PATH"],
                "NOTIFY_SOCKET": "/run/notify",
                "WATCHDOG_USEC": "3000000",
                "JOURNAL_STREAM": f"{stream_id.st_dev}:{stream_id.st_ino}",
            }
            words = [f"{name}={value}" for name, value in variables.items()]
            become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *powers]
            prepare = f"install -d -o {user} -g {user} -m 0755 {folder} && echo $$ > /run/main"
            script = f'cd / && {prepare} && exec "$@"'
            command = self._says("ExecStart").split()
            self._process = subprocess.Popen(
                self._root.argv(
                    *("sh", "-c", script, "sh", *become, "env", "-i", *words, *command)
                ),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=ENVIRONMENT,
            )
        process = self._process

        def serves() -> bool:
            assert process.poll() is None, self.said()
            return self.manager.count("READY") > ready

        eventually(serves, "it serves")

    def reload(self) -> None:
        """Until it says that it has read its configuration."""
        ready = self.manager.count("READY")
        done = self._root.sh(f"MAINPID=$(cat /run/main); {self._says('ExecReload')}")
        assert done.returncode == 0, done.stderr
        eventually(lambda: self.manager.count("READY") > ready, "it has read it")

    def stopped(self) -> int:
        """Only the daemon was ended (KillMode=process); its exit code."""
        assert self._process is not None
        code = self._process.wait(60)
        # systemd removes the RuntimeDirectory.
        self._root.sh("rm -r /run/metabroker")
        return code

    def said(self) -> str:
        """What came by stderr, and so not by the journal's socket."""
        return (self._folder / "stderr").read_text()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self.journal.close()
        self.manager.close()

    def _says(self, key: str) -> str:
        text = Path(self._root.path, UNIT).read_text()
        (value,) = re.findall(rf"^{key}=(.*)$", text, re.M)
        return str(value)
