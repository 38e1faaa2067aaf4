"""The daemon may have many files open; what it starts has the limit that it was started with."""

from __future__ import annotations

import sys

from tests.testbed.processes import captured

_DAEMON = """
import resource
from metabroker import openfiles
from metabroker.clusters.transports.base import Command
from metabroker.clusters.transports.local import LocalTransport
print(openfiles.words(["true", "-x"]))
print(openfiles.raise_limit(), openfiles.share(2, 999))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
done = LocalTransport({}).run(Command(["sh", "-c", 'ulimit -Sn; echo "$0 $*"', "a b", "$HOME;"]))
print(done.stdout, end="")
openfiles.restore_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_the_limit_is_raised_for_the_daemon_alone() -> None:
    done = captured(["prlimit", "--nofile=100:1000", sys.executable, "-c", _DAEMON], check=True)
    words = "['true', '-x']"
    assert done.stdout.splitlines() == [words, "1000 500", "1000", "100", "a b $HOME;", "100"]
