"""Whatever a client sends: an answer in JSON that is no failure of ours, and the next client is
served."""

from __future__ import annotations

import json
import logging
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.api import routes
from metabroker.api.client import Client
from tests.api.conftest import client, service, socket_path  # noqa: F401
from tests.api.raw import RawConnection
from tests.api.test_routes import WIRE

from .cases import fuzzed

JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30),
        st.sampled_from(["AAAA", "1-10", "delft:4", "\0", "../..", "9" * 40]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=20), inner, max_size=5)
    ),
    max_leaves=20,
)  # fmt: skip
KEYS = st.sampled_from(
    ["script", "script_name", "processors", "chdir", "args", "environment", "native", "stage_in",
     "stage_out", "output", "error", "time_limit", "name", "hold", "request_id", "submit_dir"]
)  # fmt: skip
PATHS = st.one_of(
    st.sampled_from(
        ["/v1/jobs", "/v1/jobs/1", "/v1/jobs/1/cancel", "/v1/jobs/1/wait", "/v1/clusters",
         "/v1/history", "/v1/status", "/v1/tokens", "/v1/leftovers", "/v1/jobs/1/abandon",
         "/v1/clusters/delft/drain", "/v1/clusters/delft/resume"]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40).map("/v1/".__add__),
)  # fmt: skip
QUERIES = st.one_of(
    st.sampled_from(["", "?timeout=nan", "?timeout=inf", "?timeout=-1", "?limit=1e9", "?user=%00"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30).map("?".__add__),
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
BODIES = st.one_of(
    st.none(),
    st.binary(max_size=200),
    JSON.map(lambda data: json.dumps(data).encode()),
    st.integers(1, 3000).map(lambda depth: b"[" * depth + b"]" * depth),
    st.dictionaries(KEYS, JSON, max_size=6).map(lambda data: json.dumps({**WIRE, **data}).encode()),
)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that was submitted here never ends."""
    monkeypatch.setattr(routes, "LONGEST_WAIT", 0.05)


@given(METHODS, PATHS, QUERIES, BODIES, st.sampled_from(["", "gzip", "deflate", "identity", "x"]))
@fuzzed
@pytest.mark.usefixtures("client")
def test_any_request(
    socket_path: Path,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
    method: str,
    path: str,
    query: str,
    body: bytes | None,
    encoding: str,
) -> None:
    caplog.clear()
    connection = RawConnection(socket_path, timeout=60.0)
    try:
        headers = {"Content-Encoding": encoding} if encoding else {}
        connection.request(method, path + query, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        assert answer.status < 500, (answer.status, said[:300])
        if said:
            json.loads(said)
    except (HTTPException, ValueError, ConnectionError):
        pass  # no request at all, or one that is ended without an answer
    finally:
        connection.close()
    assert Client(socket_path).get("status")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
