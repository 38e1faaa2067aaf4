"""Where a cluster's login host is, and who logs in there: for both ways over SSH."""

from __future__ import annotations

from dataclasses import dataclass, field

CHANNELS = 4
"""Sessions at once over one connection: sshd has 10 by default, and frees them a little late."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A host on the way."""

    host: str
    port: int | None = None
    user: str | None = None

    def __str__(self) -> str:
        return self.host if self.port in (None, 22) else f"[{self.host}]:{self.port}"


@dataclass(frozen=True, slots=True)
class SshTarget:
    """One cluster's login host. Times in seconds.

    `key` and `certificate` are files; `agent`: whether the agent's keys are offered. There are no
    passwords. `known_hosts` None: the account's own. `config`: an ssh_config, for OpenSSH alone.
    """

    target: Hop
    key: str | None = None
    certificate: str | None = None
    agent: bool = True
    known_hosts: str | None = None
    jump: tuple[Hop, ...] = field(default=())
    config: str | None = None
    connect_timeout: float = 10.0
    keepalive: float = 15.0
    pause: float = 1.0
