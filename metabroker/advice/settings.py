"""The settings that are tried on a site's log, by what they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from metabroker.policy import BACKFILLING, POLICIES, RANDOMISED, Aging
from metabroker.simulation.local_users import Line
from metabroker.simulation.planned import Plan

PART = 2
"""Of so many users one is taken to come through the broker, where others stay in the clusters' own
queues."""
_DEPTH = 32  # the daemon's, where nothing is set
DEPTHS, SIBLINGS = (1, 4, 16, _DEPTH), (1, 2, 3)
SHARES = (0.25, 0.5, 1.0)
AGING = Aging(overtaken=20, wait=86400.0)  # the daemon's, where nothing is set
NO_PLANS = Plan(ahead=0.0)
_SHARE = 0.5  # the daemon's, where nothing is set
_AGAIN = 300.0  # seconds between two looks at who has a time: a year's log is replayed


@dataclass(frozen=True)
class Setting:
    """A policy and discipline of the broker; `line` and `plan`: how its jobs stand in line, and how
    co-allocated ones get a time, where a part of the users stays in the clusters' own queues
    (`shared`). `aging`: the daemon's, where nothing is set."""

    policy: str
    discipline: str | None = None
    shared: bool = False
    line: Line | None = None
    plan: Plan | None = None
    aging: Aging | None = AGING

    @property
    def name(self) -> str:
        """What it is called in a report."""
        if self.shared:
            told = [_line_name(self.line), *([_plan_name(self.plan)] if self.plan else [])]
            return ", ".join(told)
        return self.policy if self.discipline is None else f"{self.policy}, {self.discipline}"

    @property
    def keys(self) -> dict[str, object]:
        """The keys of the configuration that make it."""
        if self.shared:
            found: dict[str, object] = {"line": {"depth": 0}}
            if self.line is not None:
                found["line"] = {"depth": self.line.depth, "siblings": self.line.siblings}
            if self.plan is not None:
                found["plan"] = {"share": self.plan.share} if self.plan.ahead else {"ahead": 0}
            return found
        given = {"policy": self.policy, "discipline": self.discipline}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def live(self) -> bool:
        """Whether the daemon can do it, and not the simulator alone."""
        return self.policy in (*POLICIES, *BACKFILLING)


@dataclass(frozen=True)
class Family:
    """Settings that are compared with `now`, the one in force. `about`: what they change."""

    about: str
    now: Setting
    others: tuple[Setting, ...]


def _line_name(line: Line | None) -> str:
    if line is None:
        return "no line"
    several = "siblings" if line.siblings > 1 else "sibling"
    return f"line of depth {line.depth}, {line.siblings} {several}"


def _plan_name(plan: Plan) -> str:
    return f"plans with a share of {plan.share:g}" if plan.ahead else "no plans"


def families(clusters: int, now: str, co_allocated: bool) -> list[Family]:
    """What is tried on so many clusters. `now`: the policy in force; `co_allocated`: there are jobs
    of several components, which plans are for."""
    policy = now if now in POLICIES and now not in RANDOMISED else "FPFS"
    plan = Plan(share=_SHARE, again=_AGAIN) if co_allocated else None
    usual = Setting(policy, None, True, Line(_DEPTH, min(2, clusters)), plan)
    found = [
        Family(
            "the policy, if all jobs come through the broker",
            Setting(now),
            _policies(clusters, now),
        ),
        _lines(clusters, usual),
    ]
    return [*found, _plans(usual)] if co_allocated else found


def _policies(clusters: int, now: str) -> tuple[Setting, ...]:
    tried: list[Setting]
    if clusters == 1:
        tried = [Setting(policy) for policy in ("FCFS", "FPFS", "EASY", "CONSERVATIVE")]
    else:
        queues = [policy for policy in POLICIES if policy not in RANDOMISED]
        tried = [Setting(policy) for policy in (*queues, "EASY")]
        tried += [Setting(p, "FPFS") for p in queues if p not in ("FCFS", "FPFS")]
    return tuple(setting for setting in tried if setting != Setting(now))


def _lines(clusters: int, usual: Setting) -> Family:
    tried: Sequence[Line | None] = [
        None,
        *(Line(depth, min(2, clusters)) for depth in DEPTHS),
        *(Line(_DEPTH, siblings) for siblings in SIBLINGS if siblings <= clusters),
    ]
    return _beside(usual, "the line", [replace(usual, line=line) for line in tried])


def _plans(usual: Setting) -> Family:
    plans = [NO_PLANS, *(Plan(share=share, again=_AGAIN) for share in SHARES)]
    return _beside(usual, "plans", [replace(usual, plan=plan) for plan in plans])


def _beside(usual: Setting, what: str, tried: Sequence[Setting]) -> Family:
    others = tuple(setting for setting in dict.fromkeys(tried) if setting != usual)
    return Family(f"{what}, if one of {PART} users comes through the broker", usual, others)
