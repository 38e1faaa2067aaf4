"""The client for Python programs, with a daemon over simulated clusters."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from metabroker.api.client import Client
from metabroker.client import Broker, ClientError, SubmissionError, Unreachable
from metabroker.client.aio import AsyncBroker
from metabroker.client.jobs import Options, described
from metabroker.config import load
from metabroker.daemon.daemon import Daemon
from metabroker.submission.model import Processors
from metabroker.submission.shape import Shape
from tests.api.test_openapi import has, of

ENDS = b"#!/bin/sh\nexit $1\n"
WAITS = b"#!/bin/sh\nsleep 300\n"


@pytest.fixture(scope="module")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("client")
    cluster = {"system": "simulated", "processors": 8}
    config = {
        "store": f"sqlite:///{folder}/metabroker.db",
        "socket": str(folder / "mb.sock"),
        "metrics": None,
        "clusters": {"delft": cluster, "leiden": cluster},
    }
    (folder / "metabroker.yaml").write_text(yaml.safe_dump(config))
    daemon = Daemon(load(folder / "metabroker.yaml"))
    daemon.start()
    yield folder / "mb.sock"
    daemon.stop()


@pytest.fixture
def broker(socket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Broker:
    monkeypatch.chdir(tmp_path)
    return Broker(socket=socket)


def test_a_job_is_submitted_shown_and_waited_for(broker: Broker) -> None:
    job = broker.submit(ENDS, ["3"], tasks=2, name="mine", output="/dev/null")
    ended = job.wait(timeout=60)
    assert (ended["state"], ended["exit_code"], ended["name"]) == ("FAILED", 3, "mine")
    assert job.ended and broker.job(job.id) == job
    assert job.id in [row["job"] for row in broker.history()]


def test_a_job_that_goes_on_is_listed_and_cancelled(broker: Broker) -> None:
    job = broker.submit(WAITS, components=(8, 8), output="/dev/null")
    behind = broker.submit(ENDS, ["0"], tasks=1, hold=True)
    with pytest.raises(TimeoutError, match=r"has not ended within 0\.2 s"):
        job.wait(timeout=0.2)
    assert {job.id, behind.id} <= {row["job"] for row in broker.jobs()}
    assert behind.state == "HELD"
    for each in (job, behind):
        each.cancel()
    assert [each.wait(60)["state"] for each in (job, behind)] == ["CANCELLED"] * 2


@pytest.mark.parametrize("timeout", [0.05, 30, 60, 61, 90, 150])
def test_no_wait_goes_on_for_longer_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout: float
) -> None:
    now = [1000.0]

    def goes_on(_client: Client, _method: str, path: str, **_more: float) -> dict[str, str]:
        now[0] += float(path.partition("timeout=")[2])
        return {"state": "RUNNING"}

    monkeypatch.setattr("metabroker.client.broker.time.monotonic", lambda: now[0])
    monkeypatch.setattr(Client, "_request", goes_on)
    with pytest.raises(TimeoutError):
        Broker(socket=tmp_path / "nobody").job(1).wait(timeout)
    assert now[0] - 1000 == pytest.approx(max(0.1, timeout))


def test_an_array_is_one_job_that_waits_for_all_of_its_tasks(broker: Broker) -> None:
    script = b"#!/bin/sh\nexit $METABROKER_ARRAY_TASK_ID\n"
    array = broker.submit(script, tasks=1, array="0-2", output="/dev/null")
    after = broker.submit(ENDS, ["0"], tasks=1, dependency=f"afterany:{array.id}")
    assert after.wait(60)["state"] == "COMPLETED"
    assert array.show()["state"] == "FAILED"


def test_a_submit_may_be_repeated_and_a_dry_run_queues_nothing(broker: Broker) -> None:
    jobs = {broker.submit(ENDS, ["0"], tasks=1, request_id="once").id for _ in range(2)}
    assert len(jobs) == 1
    would = broker.dry_run(ENDS, total=4)
    assert would["components"] and would["dry_run"] is True
    assert broker.submit(ENDS, ["0"], tasks=1).id == max(jobs) + 1, "the dry run took no number"
    assert {row["name"] for row in broker.clusters()} == {"delft", "leiden"}
    assert broker.whoami()["uid"] >= 0


def test_answers_are_as_the_openapi_document_says(broker: Broker) -> None:
    job = broker.submit(WAITS, components=(2, 2), output="/dev/null")
    for name, path in (("Job", f"jobs/{job.id}"), ("Jobs", "jobs"), ("Clusters", "clusters")):
        has(of(name), broker.client.get(path))
    has(of("Job"), job.cancel())
    has(of("Job"), job.wait(60))
    for name, path in (("Jobs", "history"), ("Jobs", "records")):
        has(of(name), broker.client.get(path))


def test_what_is_wrong_says_so(broker: Broker, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="cannot be read"):
        broker.submit("nowhere.sh", tasks=1)
    with pytest.raises(SubmissionError):
        broker.submit(ENDS)
    with pytest.raises(TypeError, match="no option 'processors'"):
        broker.submit(ENDS, processors=1)  # type: ignore[call-arg]
    with pytest.raises(ClientError) as refused:
        broker.job(10**6).show()
    assert refused.value.status == 404
    with pytest.raises(Unreachable):
        Broker(socket=tmp_path / "nobody").clusters()
    with pytest.raises(ValueError, match="not both"):
        Broker("https://x", socket=tmp_path)


def test_the_options_are_those_of_submit(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n#METABROKER -n 2 -t 5 -J ours\n#SBATCH --mem=1G\n")
    options: Options = {
        "on": [("delft", 16), ("leiden", 8)],
        "cpus_per_task": 4,
        "mem_per_cpu": "2G",
        "time": timedelta(hours=2),
        "chdir": tmp_path,
        "environment": {"A": "1"},
        "native": {"delft": ["-C", "big"]},
    }
    found = described(script, ("x",), options)
    assert found.processors == Processors(on=(("delft", 16), ("leiden", 8)))
    assert found.shape == Shape(cpus_per_task=4, memory_per_cpu=2048)
    assert (found.name, found.time_limit, found.args) == ("ours", 7200, ("x",))
    assert (found.environment, found.native) == ({"A": "1"}, {"delft": ("-C", "big")})
    assert described(script, (), {"array": "0-3%2"}).array == "0-3%2"
    assert described(script, (), {"time": "1:00:00"}).time_limit == 3600


def test_many_jobs_are_waited_for_at_once(broker: Broker, socket: Path) -> None:
    async def play() -> list[tuple[str, int]]:
        async with AsyncBroker(socket=socket) as broker:
            each = [broker.submit(ENDS, [str(n)], tasks=1, output="/dev/null") for n in range(3)]
            jobs = [await job for job in each]
            ends = await asyncio.gather(*(job.wait() for job in jobs))
            with pytest.raises(ClientError) as unknown:
                await broker.job(10**6).wait()
            assert unknown.value.status == 404
            held = await broker.submit(ENDS, ["0"], tasks=1, hold=True)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await held.wait()
            await held.release()
            assert (await held.wait())["state"] == "COMPLETED"
            return [(end["state"], end["exit_code"]) for end in ends]

    assert asyncio.run(play()) == [("COMPLETED", 0), ("FAILED", 1), ("FAILED", 2)]


def test_any_number_of_jobs_may_be_waited_for(socket: Path) -> None:
    async def play() -> dict[int | None, int]:
        async with AsyncBroker(socket=socket) as broker:
            waits = (broker.end_of(10**17 + n) for n in range(950))
            ends = await asyncio.gather(*waits, return_exceptions=True)
            return Counter(e.status for e in ends if isinstance(e, ClientError))

    assert asyncio.run(play()) == {404: 950}, "each by itself, and not the question"


def test_whatever_goes_wrong_nobody_waits_for_ever(
    broker: Broker, socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = broker.submit(ENDS, ["0"], tasks=1, hold=True)

    def breaks(*_: object) -> None:
        raise KeyError("state")

    async def play() -> None:
        async with AsyncBroker(socket=socket) as broker:
            monkeypatch.setattr(broker, "_over", breaks)
            async with asyncio.timeout(30):
                await broker.job(job.id).wait()

    with pytest.raises(KeyError):
        asyncio.run(play())
    job.cancel()
