"""Who may change a time limit by `scontrol update`: beside real Slurm."""

from __future__ import annotations

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.kinds import Slurm
from tests.daemon.test_front_ends import Ask, ask
from tests.testbed import SlurmCluster

pytestmark = [pytest.mark.slurm, pytest.mark.root]
__all__ = ["ask"]

CHANGES = ("5", "7", "20", "+5", "-1", "0:30:00", "-90")
LIMIT = ("squeue", "-h", "-o", "%l", "-j")


@pytest.mark.parametrize("waits", [True, False])
def test_its_user_may_change_that_of_a_job_that_waits_as_in_slurm(
    waits: bool,
    clusters: dict[str, SlurmCluster],
    make_site: MakeSite,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, real = make_site(Slurm(clusters)), clusters["lab"]
    site.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(site.socket))
    monkeypatch.chdir(site.work)
    words = ("sbatch", "--parsable", "-n1", "-t10", "-o/dev/null", "--wrap", "sleep 600")
    held = ("-H",) if waits else ()
    theirs = real.run(*words, *held, user="nobody", check=True).stdout.strip()
    ours = ask(*words, *held)[1].strip()
    if not waits:
        real.wait_job(theirs, "RUNNING")
        site.wait_state(int(ours), "RUNNING")
    for change in CHANGES:
        to = f"timelimit={change}"
        expected = real.run("scontrol", "update", f"job={theirs}", to, user="nobody")
        limit = real.run(*LIMIT, theirs).stdout
        code, _, _ = ask("scontrol", "update", f"job={ours}", to)
        if waits:
            assert (change, code, ask(*LIMIT, ours)[1]) == (change, expected.returncode, limit)
        else:  # Slurm lets its user lower it
            assert (code, ask(*LIMIT, ours)[1]) == (1, "10:00\n")
    ask("scancel", ours)
    real.run("scancel", theirs)
