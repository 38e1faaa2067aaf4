"""`listen`, `rates`, `audit` and the limits of users and queues."""

from __future__ import annotations

from pathlib import Path

import pytest

from metabroker.config import ConfigErrors, load, parse
from metabroker.config.values import Address
from tests.security.certificates import Authority

LEAST = "clusters: {lab: {system: simulated, processors: 32}}\n"
EXAMPLE = Path(__file__).parents[2] / "configs" / "login-nodes.yaml"


def test_nothing_listens_unless_it_is_asked_for() -> None:
    config = parse(LEAST)
    assert config.listen is None
    assert (config.rates.requests, config.rates.submissions, config.rates.burst) == (100, 20, 30)
    assert config.limits.per_user.dependencies == 100_000
    assert config.limits.per_user.waiting is None


def test_the_audit_log_is_beside_the_store() -> None:
    assert parse(f"store: sqlite:////s/mb.db\n{LEAST}").audit_file == Path("/s/audit.log")
    assert parse(f"audit: /var/log/mb.log\n{LEAST}").audit_file == Path("/var/log/mb.log")


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        ("listen: {address: 'x:1', certificate: a}", "listen.key", "is missing"),
        ("listen: {address: x, certificate: a, key: b}", "listen.address", "HOST:PORT"),
        ("listen: {address: null, certificate: a, key: b}", "listen.address", "must be an address"),
        ("listen: {address: 'x:1', certificate: a, key: b, tls: no}", "listen.tls", "unknown key"),
        ("listen: yes", "listen", "must be a mapping"),
        ("rates: {requests: 0}", "rates.requests", "from 0.001"),
        ("rates: {burst: 0}", "rates.burst", "at least 1"),
        ("rates: {request: 1}", "rates.request", "did you mean 'requests'"),
        ("limits: {script: 5000000}", "limits.script", "at most 4194304"),
        ("limits: {per_user: {waiting: 0}}", "limits.per_user.waiting", "at least 1"),
        ("limits: {per_user: {wait: 1}}", "limits.per_user.wait", "did you mean 'waiting'"),
    ],
)
def test_errors_name_the_key(text: str, key: str, told: str) -> None:
    with pytest.raises(ConfigErrors) as caught:
        parse(f"{text}\n{LEAST}")
    (error,) = caught.value.errors
    assert (error.key, error.line) == (key, 1)
    assert told in str(error)


def test_the_example_is_checked_with_its_files(tmp_path: Path) -> None:
    file = tmp_path / "login-nodes.yaml"
    file.write_text(EXAMPLE.read_text())
    with pytest.raises(ConfigErrors, match=r"metabroker.pem cannot be read") as caught:
        load(file, files=True)
    (error,) = caught.value.errors
    written = file.read_text().splitlines()
    assert error.key == "listen.certificate" and "certificate:" in written[error.line - 1]
    (tmp_path / "tls").mkdir()
    _, key = Authority(tmp_path / "tls").sign("broker.example.org", "metabroker")
    config = load(file, files=True)
    assert config.listen is not None and config.listen.address == Address("0.0.0.0", 9797)
    assert config.audit_file == tmp_path / "audit.log"
    key.chmod(0o644)
    with pytest.raises(ConfigErrors, match="may be read or changed by others") as caught:
        load(file, files=True)
    assert "key:" in written[caught.value.errors[0].line - 1]


@pytest.mark.parametrize(
    ("cluster", "shared"),
    [
        ("{system: slurm}", True),
        ("{system: openpbs, run_as: self}", True),
        ("{system: simulated, processors: 4}", True),
        ("{system: simulated, processors: 4, run: false}", False),
        ("{system: slurm, run_as: sudo, users: same}", False),
        ("{system: slurm, via: ssh, host: login, user: mbsvc}", False),
    ],
)
def test_submitters_who_would_be_the_daemon_must_be_meant(cluster: str, shared: bool) -> None:
    text = f"submitters: [anna]\nclusters:\n  d: {cluster}\n"
    if shared:
        with pytest.raises(ConfigErrors) as caught:
            parse(text)
        (error,) = caught.value.errors
        assert (error.line, error.key) == (1, "submitters")
        assert "submitters_share_everything: true" in error.advice
    config = parse(f"submitters_share_everything: true\n{text}")
    assert config.shared_with_submitters == (("d",) if shared else ())
    assert parse(text.replace("[anna]", "[]")).shared_with_submitters == ()
