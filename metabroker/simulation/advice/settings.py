"""The settings that are tried on a site's log, by what they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metabroker.policy import POLICIES, RANDOMISED
from metabroker.simulation.local_users import Line

PART = 2
"""Of so many users one is taken to come through the broker, where others stay in the clusters' own
queues."""
DEPTHS, SIBLINGS = (1, 4, 16), (1, 2, 3)


@dataclass(frozen=True)
class Setting:
    """A policy and discipline of the broker; `line`: how its jobs stand in line, where a part of
    the users stays in the clusters' own queues (`shared`)."""

    policy: str
    discipline: str | None = None
    shared: bool = False
    line: Line | None = None

    @property
    def name(self) -> str:
        """What it is called in a report."""
        if self.shared:
            if self.line is None:
                return "no line"
            several = "siblings" if self.line.siblings > 1 else "sibling"
            return f"line of depth {self.line.depth}, {self.line.siblings} {several}"
        return self.policy if self.discipline is None else f"{self.policy}, {self.discipline}"

    @property
    def keys(self) -> dict[str, object]:
        """The keys of the configuration that make it."""
        if self.shared:
            if self.line is None:
                return {"line": {"depth": 0}}
            return {"line": {"depth": self.line.depth, "siblings": self.line.siblings}}
        given = {"policy": self.policy, "discipline": self.discipline}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def live(self) -> bool:
        """Whether the daemon can do it, and not the simulator alone."""
        return self.policy in POLICIES


@dataclass(frozen=True)
class Family:
    """Settings that are compared with `now`, the one in force. `about`: what they change."""

    about: str
    now: Setting
    others: tuple[Setting, ...]


def families(clusters: int, now: str) -> list[Family]:
    """What is tried on so many clusters; `now`: the policy in force."""
    present = Setting(now)
    return [
        Family(
            "the policy, if all jobs come through the broker", present, _policies(clusters, now)
        ),
        _lines(clusters, now if now in POLICIES and now not in RANDOMISED else "FPFS"),
    ]


def _policies(clusters: int, now: str) -> tuple[Setting, ...]:
    tried: list[Setting]
    if clusters == 1:
        tried = [Setting(policy) for policy in ("FCFS", "FPFS", "EASY", "CONSERVATIVE")]
    else:
        queues = [policy for policy in POLICIES if policy not in RANDOMISED]
        tried = [Setting(policy) for policy in (*queues, "EASY")]
        tried += [Setting(p, "FPFS") for p in queues if p not in ("FCFS", "FPFS")]
    return tuple(setting for setting in tried if setting != Setting(now))


def _lines(clusters: int, policy: str) -> Family:
    tried: Sequence[Line | None] = [
        None,
        *(Line(depth, min(2, clusters)) for depth in DEPTHS),
        *(Line(16, siblings) for siblings in SIBLINGS if siblings <= clusters),
    ]
    settings = tuple(dict.fromkeys(Setting(policy, None, True, line) for line in tried))
    usual = Setting(policy, None, True, Line(16, min(2, clusters)))
    others = tuple(setting for setting in settings if setting != usual)
    about = f"the line, if one of {PART} users comes through the broker"
    return Family(about, usual, others)
