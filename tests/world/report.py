"""A storm as a document: what it has reached, and what it never has."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from .scenario import (
    BROKERS,
    DENIES,
    HOME,
    LATE,
    LIE,
    MOMENTS,
    POWER,
    RENAME,
    STORE,
    WINDOWS,
    Tally,
)

ALL_FAULTS = sorted([*WINDOWS, *MOMENTS, *STORE, DENIES, HOME, LATE, LIE, POWER, RENAME])
ALL_EVENTS = (
    "submitted", "placed", "reserved", "no answer", "refused", "submitting", "waiting",
    "at the barrier", "opened", "started", "ended", "gave up", "not in its cluster",
    "over its time limit", "not submitted in time", "rolled back", "queued", "held", "released",
    "cancel", "cancelled", "completed", "failed", "timeout", "moved", "files sent",
    "results back", "results kept",
)  # fmt: skip


@dataclass(slots=True)
class Storm:
    """The outcome of many seeds."""

    seeds: int
    tally: Tally
    failed: list[tuple[int, str]]
    seconds: float
    several: bool = False  # brokers


def never_reached(result: Storm) -> list[str]:
    """What no seed has reached."""
    faults = sorted([*ALL_FAULTS, *(BROKERS if result.several else ())])
    wanted = [f"event {what}" for what in ALL_EVENTS]
    wanted += [f"fault {what}" for what in faults]
    wanted += [f"pair {a} + {b}" for a, b in combinations(faults, 2)]
    return [what for what in wanted if what not in result.tally.counts]


def report(result: Storm, found: list[tuple[str, int | None, str]], command: str) -> str:
    """The storm as a document."""
    counts = result.tally.counts
    jobs = sum(n for key, n in counts.items() if key.startswith("ended "))
    lines = [
        "# What the storms have reached",
        "",
        f"`{command}` at commit {commit()}: {result.seeds} seeds in {result.seconds:.0f} s on "
        f"{os.cpu_count()} cores (Python {platform.python_version()}), "
        f"**{len(result.failed)} violations**.",
        "",
        f"{jobs} jobs; {sum(n for k, n in counts.items() if k.startswith('event '))} events of "
        f"jobs; {sum(n for k, n in counts.items() if k.startswith('fault '))} faults; "
        f"{sum(n for k, n in counts.items() if k.startswith('fate '))} commands.",
    ]
    for title, prefix in (
        ("How jobs ended", "ended "),
        ("Faults", "fault "),
        ("Moments of crashes", "crash "),
        ("Moments of stops", "stop "),
        ("Leads", "lead "),
        ("What became of commands", "fate "),
        ("Events of jobs", "event "),
        ("Answers", "reply "),
        ("Policies", "policy "),
        ("Kinds", "kind "),
        ("What users did", "user "),
    ):
        rows = sorted(
            (k.removeprefix(prefix), n) for k, n in counts.items() if k.startswith(prefix)
        )
        if not rows:
            continue
        lines += ["", f"## {title}", "", "| what | times |", "|---|---|"]
        lines += [f"| {name} | {count} |" for name, count in rows]
    pairs = [n for k, n in counts.items() if k.startswith("pair ")]
    missing = never_reached(result)
    lines += ["", "## Reach", "", f"{len(pairs)} pairs of faults in one world."]
    lines += ["Never reached: " + (", ".join(missing) if missing else "nothing.")]
    if found:
        lines += [
            "",
            "## Planted mistakes",
            "",
            "| mistake | found after seeds | by |",
            "|---|---|---|",
        ]
        lines += [
            f"| {name} | {count or 'MISSED'} | {what.replace('|', '/')[:100]} |"
            for name, count, what in sorted(found)
        ]
    return "\n".join(lines) + "\n"


@cache
def commit() -> str:
    """The code that was played, as git names it."""
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
