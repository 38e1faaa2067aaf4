"""Many jobs on a live OpenPBS."""

from __future__ import annotations

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.pbs import OpenPBS, servers

pytestmark = pytest.mark.xdist_group("openpbs")

JOBS, LOOKS = 60, 12


def test_many_jobs_do_not_use_up_the_ports_of_the_commands_host(make_site: MakeSite) -> None:
    """A command that opened two connections for each of them would hang before the last look: from
    privileged ports, of which there are some thousand, each kept for a minute after its use."""
    server = servers()["lab"]
    for _ in range(JOBS):
        server.run(
            *("qsub", "-f", "-h", "-o", "/dev/null", "-e", "/dev/null", "-l", "walltime=60"),
            *("--", "/bin/true"),
        )
    site = make_site(OpenPBS({"lab": server}, sizes={"lab": 32}))
    site.start()
    for _ in range(LOOKS):
        site.look_at_clusters(anew=True)
    assert "does not answer" not in site.log.read_text()
    assert site.stop() == 0
    server.reset()
