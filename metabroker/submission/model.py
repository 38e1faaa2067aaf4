"""What a user asks for: one submission, as the command line makes it and the daemon checks it.

Everything here is plain data. It crosses the daemon's socket as JSON, so the daemon never
trusts it: `metabroker.submission.checks` is run on the daemon's side too.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Processors:
    """How many processors, in exactly one of four forms (contract C2).

    `single`: one component of N processors, on `cluster` if that is given.
    `components`: an unordered request; the broker chooses the clusters.
    `on`: an ordered request; pairs of cluster name and processors.
    `total`: a flexible request; the broker splits it by the limits.
    """

    single: int | None = None
    cluster: str | None = None
    components: tuple[int, ...] | None = None
    on: tuple[tuple[str, int], ...] | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """One job as its user described it. Times in seconds, sizes in processors."""

    script: bytes
    script_name: str
    processors: Processors
    chdir: str
    args: tuple[str, ...] = ()
    name: str | None = None
    time_limit: int | None = None
    output: str | None = None
    error: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    native: dict[str, tuple[str, ...]] = field(default_factory=dict)
    hold: bool = False
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as the kernel says (SO_PEERCRED), never as the request says."""

    uid: int
    user: str
