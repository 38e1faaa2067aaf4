"""Certificate and key, before anybody is served with them."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest

from metabroker.access.tls import TlsError, server_context
from tests.security.certificates import Authority, locked


def test_a_sound_pair_serves_by_new_protocols_only(tmp_path: Path) -> None:
    context = server_context(*Authority(tmp_path).sign("localhost"))
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o644, 0o660, 0o666, 0o602])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    certificate, key = Authority(tmp_path).sign("localhost")
    key.chmod(mode)
    with pytest.raises(TlsError, match=f"mode {mode:04o}.*chmod 600") as caught:
        server_context(certificate, key)
    assert caught.value.key == "key"


def test_a_group_may_read_it(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).sign("localhost")
    key.chmod(0o640)
    server_context(certificate, key)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.sign("localhost")
    _, other = authority.sign("localhost", "other")
    with pytest.raises(TlsError, match="is not the key of"):
        server_context(certificate, other)
    with pytest.raises(TlsError, match=r"listen.certificate: .*none.pem cannot be read: No such"):
        server_context(tmp_path / "none.pem", key)
    with pytest.raises(TlsError, match=r"listen.key: .*none.key cannot be read: No such"):
        server_context(certificate, tmp_path / "none.key")
    with pytest.raises(TlsError, match="are not a certificate and a private key"):
        server_context(key, key)
    with pytest.raises(TlsError, match="passphrase"):
        server_context(certificate, locked(tmp_path, b"secret"))
    with pytest.raises(TlsError, match=r"listen.key"):
        server_context(certificate, tmp_path)


@pytest.mark.root
def test_whose_a_key_is_counts_for_who_serves_and_not_for_root_who_looks(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving a file away needs root")
    certificate, key = Authority(tmp_path).sign("localhost")
    os.chown(key, 12345, 12345)
    with pytest.raises(TlsError, match="belongs to another user"):
        server_context(certificate, key)
    server_context(certificate, key, any_owner=True)
    key.chmod(0o644)
    with pytest.raises(TlsError, match="mode 0644"):
        server_context(certificate, key, any_owner=True)
