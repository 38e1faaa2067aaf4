"""The daemon's addresses: each is tried, also while a daemon serves."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from metabroker.access.tls import server_context
from metabroker.clusters.examination import CheckOutcome, CheckResult, CheckResults
from metabroker.config.model import Config
from metabroker.doctor import addresses
from tests.security.certificates import Authority

OK, WARNING, MISSING = CheckOutcome.OK, CheckOutcome.WARNING, CheckOutcome.MISSING


@contextlib.contextmanager
def serving(body: bytes, pair: tuple[Path, Path] | None = None) -> Iterator[int]:
    """Somebody who answers that at a port, by TLS with a certificate and its key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        if pair is not None:
            server.socket = server_context(*pair).wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
        return port


def examined(*, served: bool, **keys: Any) -> CheckResult:
    clusters = {"lab": {"system": "simulated", "processors": 8}}
    config = Config.model_validate({"metrics": None, "clusters": clusters, **keys})
    found = CheckResults()
    addresses.examine(found, config, served=served)
    (one,) = found.all
    return one


OURS, OTHERS = b"# HELP x\nmetabroker_up 1\n", b"node_cpu_seconds_total 1\n"


@pytest.mark.parametrize(
    ("body", "served", "outcome", "said"),
    [
        (None, False, OK, "no other process listens there"),
        (None, True, WARNING, "not there: it has another configuration"),
        (OURS, True, OK, "the daemon serves"),
        (OTHERS, True, MISSING, "not the daemon"),
        (OURS, False, MISSING, "in use"),
    ],
)
def test_the_address_of_the_metrics(
    body: bytes | None, served: bool, outcome: CheckOutcome, said: str
) -> None:
    with contextlib.ExitStack() as stack:
        port = free_port() if body is None else stack.enter_context(serving(body))
        found = examined(served=served, metrics=f"127.0.0.1:{port}")
        if body is OURS and served:
            assert examined(served=True, metrics=f"0.0.0.0:{port}").outcome is OK
    assert found.outcome is outcome and said in found.said
    assert (found.advice == "") is (outcome is OK)


def test_the_address_of_the_api_by_its_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair, other = authority.sign("localhost"), authority.sign("localhost", "other")
    with serving(b"", pair) as port:
        for (certificate, key), outcome in ((pair, OK), (other, WARNING)):
            listen = {"address": f"127.0.0.1:{port}", "certificate": certificate, "key": key}
            found = examined(served=True, listen=listen)
            assert found.outcome is outcome, found
    assert "another certificate" in found.said and "reload" in found.advice
    with serving(OURS) as port:
        found = examined(served=True, listen={**listen, "address": f"127.0.0.1:{port}"})
    assert found.outcome is MISSING and "not the daemon" in found.said


def test_an_address_of_another_host_is_not_asked() -> None:
    found = examined(served=True, metrics="192.0.2.1:9798")
    assert found.outcome is MISSING and "assign" in found.said
