"""The same tests over every transport."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.transports.base import Transport
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.openssh import OpenSshTransport
from metabroker.clusters.transports.ssh import SshTransport
from metabroker.clusters.transports.ssh_target import Hop, SshTarget
from tests.testbed.sshd import Sshd, account

MakeFar = Callable[..., Transport]
FAR = ("ssh", "openssh")


def reach(sshd: Sshd, port: int | None = None) -> SshTarget:
    """The way to the server; quick to try again."""
    return SshTarget(
        Hop("127.0.0.1", port or sshd.port, sshd.account.name),
        key=str(sshd.key),
        agent=False,
        known_hosts=str(sshd.known_hosts),
        connect_timeout=10.0,
        keepalive=5.0,
        pause=0.1,
    )


def make_far(
    kind: str, sshd: Sshd, way: SshTarget, env: Mapping[str, str] | None = None
) -> Transport:
    """A transport over SSH."""
    if kind == "ssh":
        return SshTransport(way, env or {}, command_timeout=20.0)
    program = str(sshd.programs.bin / "ssh")
    way = replace(way, config=way.config or "/dev/null")  # not that of whoever runs the tests
    return OpenSshTransport(way, env or {}, command_timeout=20.0, program=program)


@pytest.fixture(scope="session", params=["local", *FAR])
def transport(request: pytest.FixtureRequest) -> Iterator[Transport]:
    """Every transport."""
    if request.param == "local":
        yield LocalTransport({}, command_timeout=20.0)
        return
    sshd = request.getfixturevalue("sshd")
    with contextlib.closing(make_far(request.param, sshd, reach(sshd))) as made:
        yield made


@pytest.fixture(params=FAR)
def far(request: pytest.FixtureRequest, sshd: Sshd) -> Iterator[MakeFar]:
    """Makes transports over SSH: `far(reach)`."""
    with contextlib.ExitStack() as stack:

        def make(way: SshTarget, env: Mapping[str, str] | None = None) -> Transport:
            return stack.enter_context(contextlib.closing(make_far(request.param, sshd, way, env)))

        make.kind = request.param  # type: ignore[attr-defined]
        yield make


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder that the account at the other end owns."""
    folder = Path(tempfile.mkdtemp(prefix="mb-place-"))
    who = account()
    near = getattr(request.node, "callspec", None)  # not ours
    near = near is not None and near.params.get("transport") == "local"
    if os.geteuid() == 0 and not near:
        os.chown(folder, who.uid, who.gid)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
