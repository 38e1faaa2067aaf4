"""Nobody is served without TLS, and no daemon is believed without its authority."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
import warnings
from pathlib import Path

import pytest

from metabroker.api.client import ClientError, Unreachable
from metabroker.api.remote import Remote
from tests.daemon.harness import eventually
from tests.security.certificates import Authority
from tests.security.front import Front


def test_a_certificate_of_no_known_authority_is_refused_by_the_client(
    front: Front, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What switches verification off elsewhere does not here.
    monkeypatch.setenv("PYTHONHTTPSVERIFY", "0")
    token = front.token()["token"]
    (folder / "elsewhere").mkdir()
    for authority in (None, Authority(folder / "elsewhere").file):
        client = front.client(token)
        client._endpoint = Remote(front.url, front.kept(token), authority)
        with pytest.raises(Unreachable, match="cannot be trusted") as caught:
            client.get("jobs")
        assert "--ca-file" in caught.value.advice
    assert front.line(action="connect", outcome="refused")["reason"].startswith("tls: ")
    assert "tls" in front.refused


def test_a_certificate_of_another_name_is_refused_by_the_client(front: Front) -> None:
    certificate, key = front.authority.sign("elsewhere.example.org")
    assert (certificate.name, key.name) == ("server.pem", "server.key")
    front.server.reload_certificate()
    with pytest.raises(Unreachable, match=r"cannot be trusted.*[Hh]ostname"):
        front.client(front.token()["token"]).get("jobs")


def test_a_new_certificate_is_taken_and_a_bad_one_is_not(front: Front) -> None:
    token = front.token()["token"]
    old = front.client(token)
    key = front.folder / "server.key"
    key.write_text("nonsense")
    with pytest.raises(Exception, match="are not a certificate"):
        front.server.reload_certificate()
    assert old.get("jobs") == {"jobs": []}
    (front.folder / "new").mkdir()
    authority = Authority(front.folder / "new")
    for file in authority.sign("localhost"):
        (front.folder / file.name).write_bytes(file.read_bytes())
    front.server.reload_certificate()
    with pytest.raises(Unreachable, match="cannot be trusted"):
        old.get("jobs")
    assert front.client(token, authority.file).get("jobs") == {"jobs": []}


@pytest.mark.parametrize("url", ["http://localhost:9797", "ftp://x", "localhost", "https://",
                                 "https://a:b@localhost", "https://localhost/x",
                                 "https://x:99999"])  # fmt: skip
def test_the_client_has_no_way_without_tls(front: Front, url: str) -> None:
    with pytest.raises(ClientError, match=r"over TLS only|not the URL"):
        Remote(url, front.kept(front.token()["token"]), None)


def test_plain_http_is_refused_by_the_server(front: Front) -> None:
    plain = http.client.HTTPConnection("127.0.0.1", front.port, timeout=30)
    with pytest.raises((http.client.HTTPException, OSError)):
        plain.request("GET", "/v1/status", headers={"Authorization": "Bearer x"})
        plain.getresponse()
    line = front.line(action="connect", outcome="refused")
    assert line["reason"] == "tls: HTTP_REQUEST" and line["from"] == "127.0.0.1"


def test_old_protocols_are_refused_by_the_server(front: Front) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_verify_locations(front.authority.file)
    with front.plain() as plain, pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(plain, server_hostname="localhost")
    assert "UNSUPPORTED_PROTOCOL" in front.line(action="connect", outcome="refused")["reason"]


def test_of_many_failures_few_have_a_line_and_others_are_served(front: Front) -> None:
    began = time.monotonic()
    for _ in range(60):
        with front.plain() as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            while plain.recv(100):  # an alert, then the end
                pass
    eventually(lambda: front.refused.count("tls") == 60, "all are counted")
    lines = [line for line in front.lines() if line["action"] == "connect"]
    assert 20 <= len(lines) <= 30 + 2 * (time.monotonic() - began)
    assert front.client(front.token()["token"]).get("jobs") == {"jobs": []}


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o660])
def test_a_token_that_others_may_read_is_not_sent(front: Front, mode: int) -> None:
    file = front.kept(front.token()["token"])
    file.chmod(mode)
    with pytest.raises(ClientError, match=f"may be read by others.*{mode:04o}"):
        Remote(front.url, file, front.authority.file)


def test_files_without_a_token_are_told(front: Front) -> None:
    with pytest.raises(ClientError, match="there is no token in"):
        Remote(front.url, front.kept("hello"), None)
    with pytest.raises(ClientError, match="cannot be read: No such file"):
        Remote(front.url, front.folder / "none", None)
    with pytest.raises(ClientError, match=r"is not a file of certificates"):
        Remote(front.url, front.kept(front.token()["token"]), front.folder / "none")


def test_a_daemon_that_is_not_there(front: Front) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    way = Remote(f"https://localhost:{port}", front.kept(front.token()["token"]), None)
    with pytest.raises(Unreachable, match=r"Connection refused.*METABROKER_URL"):
        way.connection(5.0)
