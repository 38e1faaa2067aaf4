"""`srun` in jobs that `sbatch` has brought to several nodes of a live OpenPBS
(`tests/daemon/pbs.py`)."""

from __future__ import annotations

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site
from tests.daemon.pbs import NODES, OpenPBS, PbsServer, server_of_nodes
from tests.daemon.test_front_ends import Ask
from tests.daemon.test_front_ends import ask as ask

pytestmark = pytest.mark.xdist_group("openpbs")
NODE, COUNT = NODES["processors"], NODES["count"]


@pytest.fixture
def server() -> PbsServer:
    return server_of_nodes()


@pytest.fixture
def site(server: PbsServer, make_site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> Site:
    made = make_site(OpenPBS({"nodes": server}, sizes={"nodes": NODE * COUNT}))
    made.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(made.socket))
    monkeypatch.chdir(made.work)
    return made


def sbatch(site: Site, ask: Ask, server: PbsServer, options: str, lines: str) -> int:
    """Submit; the job's number."""
    script = site.work / "script"
    own = "".join(f"export {name}={value}\n" for name, value in server.env.items())
    script.write_text(f'#!/bin/sh\n{own}PATH="$PATH:{server.bin}"\n{lines}\n')
    code, out, err = ask("sbatch", "--parsable", *options.split(), str(script))
    assert code == 0, err
    return int(out)


def test_tasks_run_on_all_nodes(site: Site, ask: Ask, server: PbsServer) -> None:
    lines = """echo "$SLURM_JOB_NUM_NODES $SLURM_NTASKS $SLURM_TASKS_PER_NODE" > told
srun -l sh -c 'echo $SLURM_NODEID $SLURM_LOCALID $SLURMD_NODENAME $SLURM_JOB_ID' > ranks
srun -n 3 sh -c 'exit $((SLURM_NODEID * 2))'
echo $? > code"""
    number = sbatch(site, ask, server, f"-N {COUNT} -n {2 * COUNT} -t 5", lines)
    site.wait_end(number, "COMPLETED")
    assert (site.work / "told").read_text() == f"{COUNT} {2 * COUNT} 2(x{COUNT})\n"
    found = sorted((site.work / "ranks").read_text().splitlines())
    names = [line.split()[3] for line in found]
    assert sorted(set(names)) == sorted(server.nodes())
    assert found == [
        f"{rank}: {rank // 2} {rank % 2} {names[rank]} {number}" for rank in range(2 * COUNT)
    ]
    assert (site.work / "code").read_text() == f"{2 * (COUNT - 1)}\n"


def test_a_signal_reaches_all_nodes(site: Site, ask: Ask, server: PbsServer) -> None:
    task = "trap 'echo > heard.$SLURM_NODEID; exit 0' USR2; while :; do sleep 0.1; done"
    lines = f'srun -N {COUNT} -n {COUNT} sh -c "$(cat task)"'
    (site.work / "task").write_text(task)
    options = f"-N {COUNT} -n {COUNT} -t 5 --signal=USR2@290"
    site.wait_end(sbatch(site, ask, server, options, lines), "COMPLETED")
    assert len(list(site.work.glob("heard.*"))) == COUNT
