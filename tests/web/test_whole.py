"""A whole daemon's HTTP address, and a user's own page: who may know what."""

from __future__ import annotations

import contextlib
import gzip
import http.cookiejar
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import REPOSITORY, Site, eventually, recording, until
from tests.daemon.kinds import Simulated
from tests.daemon.test_offline import free_port

SECRET = "secret-project"


def get(url: str, **headers: str) -> Any:
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60)


def told(opener: urllib.request.OpenerDirector, url: str) -> dict[str, Any]:
    """The first overview of the page's stream."""
    with opener.open(f"{url}/events", timeout=60) as stream:
        for line in stream:
            if line == b"event: overview\n":
                found: dict[str, Any] = json.loads(next(stream).partition(b": ")[2])
                return found
    raise AssertionError("the stream ended")


def status(url: str, **headers: str) -> int:
    try:
        with get(url, **headers) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@contextlib.contextmanager
def own_page(site: Site) -> Iterator[str]:
    """`metabroker page`; what it prints."""
    words = [sys.executable, "-m", "metabroker", "page", "--socket", str(site.socket)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.fixture
def address() -> str:
    return f"127.0.0.1:{free_port()}"


def test_strangers_are_told_totals_and_a_user_what_the_socket_tells(
    make_site: MakeSite, address: str
) -> None:
    site = make_site(Simulated(), {"metrics": address})
    site.start_and_look()
    job = site.submit(f"-n 8 --job-name {SECRET}", recording(until("go")))
    site.wait_state(job, "RUNNING")
    stranger = told(urllib.request.build_opener(), f"http://{address}")
    assert sum(queue["under_way"] for queue in stranger["queues"]) == 1
    assert stranger["jobs"] is None
    assert SECRET not in json.dumps(stranger)

    with own_page(site) as url:
        base, _, key = url.partition("/?key=")
        assert base.startswith("http://127.0.0.1:") and len(key) > 20
        assert status(f"{base}/events") == 403
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        opener = urllib.request.build_opener(cookies)
        with opener.open(url, timeout=60) as page:
            assert (page.url, page.status) == (f"{base}/", 200)
        (row,) = told(opener, base)["timeline"]
        assert (row["job"], row["name"], row["kind"]) == (job, SECRET, "running")
    (site.work / "go").touch()
    site.wait_end(job, "COMPLETED")
    assert site.stop() == 0


def test_metrics_are_beside_it_as_they_were(make_site: MakeSite, address: str) -> None:
    site = make_site(Simulated(), {"metrics": address, "page": None})
    site.start()
    url = f"http://{address}/metrics"
    with get(url) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        said = answer.read()
        assert b"metabroker_build_info" in said and b"process_open_fds " in said
    accepted = "application/openmetrics-text; version=1.0.0"
    with get(url, Accept=accepted, **{"Accept-Encoding": "gzip"}) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        assert gzip.decompress(answer.read()).endswith(b"# EOF\n")
    with get(f"{url}?name[]=metabroker_jobs_submitted_total") as answer:
        lines = [line for line in answer.read().decode().splitlines() if line[:1] != "#"]
        assert {line.partition("{")[0] for line in lines} == {"metabroker_jobs_submitted_total"}
    assert status(url, Host="rebound.example") == 421, "by DNS rebinding any web page could read it"
    assert status(f"http://{address}/") == 404
    assert status(f"http://{address}/events") == 404
    for path in ("healthz", "-/healthy", "-/ready"):
        with get(f"http://{address}/{path}") as answer:
            assert answer.read() == b"ok\n"
    assert site.stop() == 0


def test_an_address_that_is_taken_costs_no_job(make_site: MakeSite) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        site = make_site(Simulated(), {"metrics": address})
        site.start()
        told = f"no metrics and no page: cannot listen at {address}: Address"
        eventually(lambda: told in site.log.read_text(), told)
    site.look_at_clusters()
    site.wait_end(site.submit("-n 1", recording("true")), "COMPLETED")
    assert site.stop() == 0


@pytest.mark.parametrize("wanted", ["0.0.0.0:0", "nonsense"])
def test_ones_own_page_is_for_this_host_alone(make_site: MakeSite, wanted: str) -> None:
    done = make_site(Simulated()).cli("page", "--address", wanted)
    assert done.returncode == 2
    assert done.stderr.startswith("metabroker: --address ") and "127.0.0.1" in done.stderr
