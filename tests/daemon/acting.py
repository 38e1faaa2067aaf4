"""Ordinary users who ask a daemon of another account, and what their jobs say."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from tests.daemon.harness import Site, until
from tests.testbed.accounts import Done, People, open_code
from tests.testbed.openssh import OpenSsh
from tests.testbed.sshd import Account, Sshd

WHO = '#!/bin/sh\nid -un; touch made; echo "$HOME ${SUDO_USER:-none}"\n'
MEET = f"#!/bin/sh\nid -un > who.$METABROKER_CLUSTER\n{until('end')}\n"


class _Peopled(Protocol):
    people: People


@contextlib.contextmanager
def people_and_login_host(openssh: OpenSsh) -> Iterator[tuple[People, Sshd]]:
    """Accounts, and a host on which the service logs in; it is not started yet."""
    with tempfile.TemporaryDirectory(prefix="mb-acting-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        people = People(folder)
        svc = Account(people.name("svc"), people.uid("svc"), people.uid("svc"))
        sshd = Sshd(openssh, folder / "sshd", who=svc)
        try:
            sshd.start()
            os.chown(sshd.key, svc.uid, svc.gid)
            yield people, sshd
        finally:
            sshd.stop()
            people.remove()


W = TypeVar("W", bound=_Peopled)


@dataclass
class Acting(Generic[W]):
    """A daemon, and users who ask it things. `world`: what was started once for all tests."""

    world: W
    site: Site

    def as_service(self) -> None:
        """The daemon runs as the service account."""
        people = self.world.people
        os.chown(self.site.folder, people.uid("svc"), -1)
        self.site.prefix = people.words("svc", reading=True)

    def ask(self, who: str, *words: str) -> Done:
        """The command line, as that user, at home."""
        people = self.world.people
        words = (sys.executable, "-m", "metabroker", *words)
        env = (f"PYTHONPATH={open_code()}", f"METABROKER_SOCKET={self.site.socket}")
        return people.run(who, *env, *words, cwd=people.home(who), reading=True)

    def submit(self, who: str, *options: str, script: str = WHO) -> int:
        """A job of that user's."""
        file = self.site.folder / "script"
        file.write_text(script)
        file.chmod(0o644)
        done = self.ask(who, "submit", *options, str(file))
        assert done.returncode == 0, f"{done.stderr}\n{self.site.story()}"
        return int(done.stdout)

    def run_everywhere(self, together: str) -> None:
        """alice and bob each have a job in each of the clusters, and bob one in all of them: what
        these write is their users' own."""
        people = self.world.people
        clusters = [word.partition(":")[0] for word in together.split(",")]
        jobs = {
            self.submit(who, "-n", "1", "--cluster", name, "-o", f"{name}.out"): (who, [name])
            for who in ("alice", "bob")
            for name in clusters
        }
        parts = [f"both.{component}" for component in range(len(clusters))]
        jobs[self.submit("bob", "--on", together, "-o", "both.%c.out")] = ("bob", parts)
        for job, (who, files) in jobs.items():
            self.site.wait_end(job, "COMPLETED")
            for file in files:
                home = people.home(who)
                said = (home / f"{file}.out").read_text()
                assert said == f"{people.name(who)}\n{home} none\n"
                assert (home / f"{file}.out").stat().st_uid == people.uid(who)
