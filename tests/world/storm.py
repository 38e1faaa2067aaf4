"""`make storm`: many seeds on all cores, with progress; a report of what they reached.

    python -m tests.world.storm --seeds 1000 [--first 0] [--mutations LIMIT] [--report FILE]

Exit code 1 if a promise was broken; then the story of the smallest failing scenario is printed,
and the scenario is written to a file that can stay as a test (tests/world/scenarios/).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from .mutations import MUTATIONS, SHARED
from .play import Outcome, play_seed, shrink
from .scenario import BROKERS, HOME, MOMENTS, STORE, WINDOWS, Tally

_CHUNK = 20
ALL_FAULTS = sorted([*WINDOWS, *MOMENTS, *STORE, HOME])
ALONE = (1,)  # how many brokers there are, by turns
SEVERAL = (2, 3)
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


def brokers_of(seed: int, several: bool) -> int:
    """How many brokers the world of a seed has."""
    numbers = SEVERAL if several else ALONE
    return numbers[seed % len(numbers)]


def _chunk(first: int, count: int, several: bool) -> tuple[Tally, list[tuple[int, str]]]:
    tally, failed = Tally(), []
    for seed in range(first, first + count):
        outcome = play_seed(seed, tally, brokers=brokers_of(seed, several))
        kinds = sorted({fault.what for fault in outcome.scenario.faults})
        for pair in combinations(kinds, 2):
            tally.add(f"pair {pair[0]} + {pair[1]}")
        tally.add(f"policy {outcome.scenario.policy}")
        tally.add(f"brokers {outcome.scenario.brokers}")
        if outcome.wrong:
            failed.append((seed, outcome.wrong.strip().splitlines()[-1]))
    return tally, failed


def _chunk_of(given: tuple[int, int, bool]) -> tuple[int, Tally, list[tuple[int, str]]]:
    return (given[1], *_chunk(*given))


def storm(first: int, seeds: int, *, several: bool, processes: int, progress: bool) -> Storm:
    """Play `seeds` seeds from `first` on; `several`: with two brokers and three by turns."""
    began = time.monotonic()
    result = Storm(0, Tally(), [], 0.0, several)
    chunks = [
        (start, min(_CHUNK, first + seeds - start), several)
        for start in range(first, first + seeds, _CHUNK)
    ]
    with multiprocessing.Pool(processes) as pool:
        for count, tally, failed in pool.imap_unordered(_chunk_of, chunks):
            result.seeds += count
            result.tally.merge(tally)
            result.failed += failed
            result.seconds = time.monotonic() - began
            if progress and (sys.stderr.isatty() or result.seeds % 1000 < count):
                _progress(result, seeds)
    if progress:
        print(file=sys.stderr)
    return result


def _progress(result: Storm, seeds: int) -> None:
    left = (seeds - result.seeds) * result.seconds / max(1, result.seeds)
    text = f"{result.seeds}/{seeds} seeds, {len(result.failed)} violations, {left:.0f} s left"
    if sys.stderr.isatty():
        print(f"\r{text}  ", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)
    for seed, wrong in result.failed[-5:] if not sys.stderr.isatty() else []:
        print(f"  seed {seed}: {wrong}", file=sys.stderr, flush=True)


def never_reached(result: Storm) -> list[str]:
    """What no seed has reached."""
    faults = sorted([*ALL_FAULTS, *(BROKERS if result.several else ())])
    wanted = [f"event {what}" for what in ALL_EVENTS]
    wanted += [f"fault {what}" for what in faults]
    wanted += [f"pair {a} + {b}" for a, b in combinations(faults, 2)]
    return [what for what in wanted if what not in result.tally.counts]


def hunt(name: str, first: int, limit: int) -> tuple[str, int | None, str]:
    """How many seeds it takes to find a planted mistake (None: not found)."""
    for seed in range(first, first + limit):
        outcome = play_seed(seed, mutation=name, brokers=brokers_of(seed, name in SHARED))
        if outcome.wrong:
            return name, seed - first + 1, outcome.wrong.strip().splitlines()[-1]
    return name, None, ""


def _hunt(given: tuple[str, int, int]) -> tuple[str, int | None, str]:
    return hunt(*given)


def hunt_all(first: int, limit: int, *, processes: int) -> Iterator[tuple[str, int | None, str]]:
    """Hunt for every mistake."""
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap_unordered(_hunt, [(name, first, limit) for name in MUTATIONS])


def report(result: Storm, found: list[tuple[str, int | None, str]], command: str) -> str:
    """The storm as a document."""
    counts = result.tally.counts
    jobs = sum(n for key, n in counts.items() if key.startswith("ended "))
    lines = [
        "# What the storms have reached",
        "",
        f"`{command}` at commit {_commit()}: {result.seeds} seeds in {result.seconds:.0f} s on "
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


def _commit() -> str:
    """The code that was played, as git names it."""
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _tell(outcome: Outcome, folder: Path) -> None:
    small = shrink(outcome)
    print(f"\nseed {outcome.scenario.seed}: {small.wrong.strip()}\n", file=sys.stderr)
    print("\n".join(line[:180] for line in small.story[-60:]), file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"seed-{outcome.scenario.seed}.json"
    file.write_text(small.scenario.to_json())
    print(f"\nthe scenario is in {file}", file=sys.stderr)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.world.storm")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--mutations", type=int, default=0, metavar="LIMIT")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--several", action="store_true", help="two brokers and three, by turns")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    result = storm(
        given.first,
        given.seeds,
        several=given.several,
        processes=given.processes,
        progress=not given.json,
    )
    found = []
    if given.mutations:
        for name, count, what in hunt_all(50_000, given.mutations, processes=given.processes):
            found.append((name, count, what))
            print(f"{name}: {f'found after {count}' if count else 'MISSED'}", file=sys.stderr)
    if given.report:
        target = "storm-brokers" if given.several else "storm"
        command = f"make {target} SEEDS={given.seeds} FIRST={given.first}"
        if given.mutations:
            command += f" && make storm-mutations LIMIT={given.mutations}"
        given.report.write_text(report(result, found, command))
    missed = [name for name, count, _ in found if count is None]
    if given.json:
        print(
            json.dumps(
                {
                    "seeds": result.seeds,
                    "seconds": result.seconds,
                    "missed": missed,
                    "failed": result.failed,
                    "reached": result.tally.counts,
                }
            )
        )
    else:
        print(
            f"{result.seeds} seeds, {len(result.failed)} violations, {result.seconds:.0f} s; "
            f"mistakes missed: {', '.join(missed) or 'none'}"
        )
    for seed, _wrong in result.failed[:1]:
        outcome = play_seed(seed, brokers=brokers_of(seed, given.several))
        _tell(outcome, Path("storm-failures"))
    return 1 if result.failed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
