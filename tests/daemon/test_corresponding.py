"""`aftercorr` between arrays over two real clusters, beside one cluster's own sbatch and squeue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import eventually, until
from tests.daemon.kinds import Slurm
from tests.daemon.test_front_ends import Ask, ask
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm
__all__ = ["ask"]

FIRST = (  # 0 ends well, 1 does not, the others when they are told
    "case $SLURM_ARRAY_TASK_ID in 0) exit 0 ;; 1) exit 3 ;; esac\n" + until("told.$TELL")
)
WAITING = {  # name: options of sbatch, of jobs that wait for the first array
    "same": "-a 0-5",
    "killed": "-a 0-3 --kill-on-invalid-dep=yes",
    "single": "",
    "some": "-a 1-2",
}
STATES = "squeue -h -r -t all -o %i|%t|%r|%E -j"
MIDST = """\
same_0 CD None (null)
same_1 PD DependencyNeverSatisfied aftercorr:first_*(failed)
same_2 PD Dependency aftercorr:first_*(unfulfilled)
same_3 PD Dependency aftercorr:first_*(unfulfilled)
same_4 PD Dependency aftercorr:first_*(unfulfilled)
same_5 PD Dependency aftercorr:first_*(unfulfilled)
killed_0 CD None (null)
killed_1 CA DependencyNeverSatisfied aftercorr:first_*(failed)
killed_2 PD Dependency aftercorr:first_*(unfulfilled)
killed_3 PD Dependency aftercorr:first_*(unfulfilled)
single PD Dependency aftercorr:first_*(unfulfilled)
some_1 PD DependencyNeverSatisfied aftercorr:first_*(failed)
some_2 PD Dependency aftercorr:first_*(unfulfilled)
"""
END = """\
same_0 CD None (null)
same_1 PD DependencyNeverSatisfied aftercorr:first_*(failed)
same_2 CD None (null)
same_3 CD None (null)
same_4 PD DependencyNeverSatisfied aftercorr:first_*(failed)
same_5 PD DependencyNeverSatisfied aftercorr:first_*(failed)
killed_0 CD None (null)
killed_1 CA DependencyNeverSatisfied aftercorr:first_*(failed)
killed_2 CD None (null)
killed_3 CD None (null)
single PD DependencyNeverSatisfied aftercorr:first_*(failed)
some_1 PD DependencyNeverSatisfied aftercorr:first_*(failed)
some_2 CD None (null)
"""


def submit_all(run: Callable[..., str], work: Path, mark: str) -> dict[str, str]:
    """The ids of the same jobs by one sbatch."""
    (work / "first.sh").write_text(f"#!/bin/sh\nTELL={mark}\n{FIRST}\n")
    (work / "next.sh").write_text("#!/bin/sh\nexit 0\n")
    words = ("sbatch", "--parsable", "-n1", "-t5", "-o/dev/null")
    ids = {"first": run(*words, "-a", "0-3", str(work / "first.sh")).strip()}
    for name, options in WAITING.items():
        on = ("-d", f"aftercorr:{ids['first']}")
        ids[name] = run(*words, *options.split(), *on, str(work / "next.sh")).strip()
    return ids


def told(run: Callable[..., str], ids: dict[str, str]) -> str:
    """What squeue says of them, by their names."""
    found = {}
    for name in WAITING:
        for line in run(*STATES.split(), ids[name]).splitlines():
            words = line.replace(ids[name], name, 1).replace(f":{ids['first']}_", ":first_")
            found[words.partition("|")[0]] = words.replace("|", " ")
    order = [line.partition(" ")[0] for line in END.splitlines()]
    return "".join(f"{found.get(name, name)}\n" for name in order)


def test_each_task_waits_for_its_own_as_in_slurm(
    clusters: dict[str, SlurmCluster],
    make_site: MakeSite,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, real = make_site(Slurm(clusters)), clusters["delft"]
    with site.changing() as text:
        kept = {name: text["clusters"][name] for name in ("leiden", "lab")}
        text["clusters"] = {name: {**each, "partition": "batch"} for name, each in kept.items()}
    site.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(site.socket))
    monkeypatch.chdir(site.work)

    def of_slurm(*words: str) -> str:
        return real.run(*words, check=True, cwd=site.work).stdout

    def of_ours(*words: str) -> str:
        code, out, err = ask(*words)
        assert code == 0, err
        return out

    theirs, ours = submit_all(of_slurm, site.work, "1"), submit_all(of_ours, site.work, "2")
    for run, ids in ((of_slurm, theirs), (of_ours, ours)):
        eventually(lambda run=run, ids=ids: told(run, ids) == MIDST, MIDST, seconds=120)  # type: ignore[misc]
    site.kill()
    (site.work / "told.1").touch()
    (site.work / "told.2").touch()
    site.start_and_look()
    for run, ids in ((of_slurm, theirs), (of_ours, ours)):
        eventually(lambda run=run, ids=ids: told(run, ids) == END, END, seconds=120)  # type: ignore[misc]
    for run, ids in ((of_slurm, theirs), (of_ours, ours)):
        run("scancel", *ids.values())
