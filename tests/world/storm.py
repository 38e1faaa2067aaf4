"""`make storm`: many seeds on all cores, with progress; a report of what they reached.

    python -m tests.world.storm --seeds 1000 [--first 0] [--mutations LIMIT] [--report FILE]
    python -m tests.world.storm --all --seeds 1000000 --state FILE   # goes on where FILE ended
    python -m tests.world.storm --kinds --seeds 50000 --state FILE   # each of a special kind

Exit code 1 if a promise was broken; then the story of the smallest failing scenario is printed,
and the scenario is written to a file that can stay as a test (tests/world/scenarios/).
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from . import kept
from .kinds import FOR_SEVERAL, KINDS
from .mutations import AMONG, MUTATIONS, SHARED
from .play import Outcome, play_seed, shrink
from .report import Storm, report
from .scenario import Tally

_CHUNK = 20
ALONE: Sequence[int] = (1,)  # how many brokers there are, by turns
SEVERAL: Sequence[int] = (2, 3)
ALL: Sequence[int] = (1, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Worlds:
    """Which worlds a storm plays. `numbers`: of brokers, by turns; `special`: each is of a kind of
    `kinds`, by turns."""

    target: str
    numbers: Sequence[int]
    special: bool = False

    def of(self, seed: int) -> tuple[int, str]:
        """How many brokers the world of a seed has, and of which kind it is to be ("": any)."""
        if not self.special:
            return brokers_of(seed, self.numbers), ""
        names = sorted(KINDS)
        kind = names[seed // len(self.numbers) % len(names)]
        return brokers_of(seed, SEVERAL if kind in FOR_SEVERAL else self.numbers), kind


def brokers_of(seed: int, numbers: Sequence[int]) -> int:
    """How many brokers the world of a seed has."""
    return numbers[seed % len(numbers)]


def _chunk(first: int, count: int, worlds: Worlds) -> tuple[Tally, list[tuple[int, str]]]:
    tally, failed = Tally(), []
    for seed in range(first, first + count):
        brokers, kind = worlds.of(seed)
        outcome = play_seed(seed, tally, brokers=brokers, kind=kind)
        kinds = sorted({fault.what for fault in outcome.scenario.faults})
        for pair in combinations(kinds, 2):
            tally.add(f"pair {pair[0]} + {pair[1]}")
        tally.add(f"policy {outcome.scenario.policy}")
        tally.add(f"brokers {outcome.scenario.brokers}")
        if kind:
            tally.add(f"kind {kind}")
        if outcome.wrong:
            failed.append((seed, outcome.wrong.strip().splitlines()[-1]))
    return tally, failed


def _chunk_of(given: tuple[int, int, Worlds]) -> tuple[int, Tally, list[tuple[int, str]]]:
    return (given[1], *_chunk(*given))


def storm(
    first: int,
    seeds: int,
    *,
    worlds: Worlds,
    processes: int,
    each: Callable[[Storm], None] = lambda _so_far: None,
    before: Storm | None = None,
) -> Storm:
    """Play `seeds` seeds from `first` on. `each` is told what was played so far. Ctrl-C ends it;
    what was played until then counts. `before`: what was played of them already; it is gone on from
    there."""
    began = time.monotonic()
    result = before or Storm(0, Tally(), [], 0.0, max(worlds.numbers) > 1)
    spent = result.seconds
    chunks = [
        (start, min(_CHUNK, first + seeds - start), worlds)
        for start in range(first + result.seeds, first + seeds, _CHUNK)
    ]
    with (
        multiprocessing.Pool(processes, _prepared) as pool,
        contextlib.suppress(KeyboardInterrupt),
    ):
        for count, tally, failed in pool.imap(_chunk_of, chunks):
            result.seeds += count
            result.tally.merge(tally)
            result.failed += failed
            result.seconds = spent + time.monotonic() - began
            each(result)
    return result


def _prepared() -> None:
    """Leave Ctrl-C to the first process. A world is a tenth faster where what it holds is looked
    through for garbage less often."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    gc.set_threshold(5_000, 20, 50)


def _progress(result: Storm, seeds: int) -> None:
    left = (seeds - result.seeds) * result.seconds / max(1, result.seeds)
    text = f"{result.seeds}/{seeds} seeds, {len(result.failed)} violations, {left:.0f} s left"
    if sys.stderr.isatty():
        print(f"\r{text}  ", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)
    for seed, wrong in result.failed[-5:] if not sys.stderr.isatty() else []:
        print(f"  seed {seed}: {wrong}", file=sys.stderr, flush=True)


def hunt(name: str, first: int, limit: int) -> tuple[str, int | None, str]:
    """How many seeds it takes to find a planted mistake (None: not found)."""
    for seed in range(first, first + limit):
        brokers = brokers_of(seed, SEVERAL if name in SHARED else ALONE)
        outcome = play_seed(seed, mutation=name, brokers=brokers, kind=AMONG.get(name, ""))
        if outcome.wrong:
            return name, seed - first + 1, outcome.wrong.strip().splitlines()[-1]
    return name, None, ""


def _hunt(given: tuple[str, int, int]) -> tuple[str, int | None, str]:
    return hunt(*given)


def hunt_all(first: int, limit: int, *, processes: int) -> Iterator[tuple[str, int | None, str]]:
    """Hunt for every mistake."""
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap_unordered(_hunt, [(name, first, limit) for name in MUTATIONS])


def _tell(outcome: Outcome, folder: Path) -> None:
    small = shrink(outcome)
    print(f"\nseed {outcome.scenario.seed}: {small.wrong.strip()}\n", file=sys.stderr)
    print("\n".join(line[:180] for line in small.story[-60:]), file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"seed-{outcome.scenario.seed}.json"
    file.write_text(small.scenario.to_json())
    print(f"\nthe scenario is in {file}", file=sys.stderr)


def _as_json(result: Storm, missed: list[str]) -> str:
    return json.dumps(
        {
            "seeds": result.seeds,
            "seconds": result.seconds,
            "missed": missed,
            "failed": result.failed,
            "reached": result.tally.counts,
        }
    )


def _in_words(result: Storm, missed: list[str]) -> str:
    return (
        f"{result.seeds} seeds, {len(result.failed)} violations, {result.seconds:.0f} s; "
        f"mistakes missed: {', '.join(missed) or 'none'}"
    )


def _worlds(given: argparse.Namespace) -> Worlds:
    if given.kinds:
        return Worlds("storm-kinds", ALL, special=True)
    if given.all:
        return Worlds("storm-all", ALL)
    return Worlds("storm-brokers", SEVERAL) if given.several else Worlds("storm", ALONE)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.world.storm")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--mutations", type=int, default=0, metavar="LIMIT")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--several", action="store_true", help="two brokers and three, by turns")
    parser.add_argument("--all", action="store_true", help="one broker, two and three, by turns")
    parser.add_argument("--kinds", action="store_true", help="each world of a special kind")
    parser.add_argument("--state", type=Path, help="keep what was played, and go on from there")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    worlds = _worlds(given)
    command = f"make {worlds.target} SEEDS={given.seeds} FIRST={given.first}"
    before = None if given.state is None else kept.load(given.state, command)
    last = 0 if before is None else before.seeds

    def each(so_far: Storm) -> None:
        nonlocal last
        if given.state is not None:
            kept.save(so_far, given.state, command)
        if not given.json and sys.stderr.isatty():
            _progress(so_far, given.seeds)
        if so_far.seeds - last >= 1000:
            last = so_far.seeds
            if not given.json and not sys.stderr.isatty():
                _progress(so_far, given.seeds)
            if given.report:
                given.report.write_text(report(so_far, [], command))

    result = storm(
        given.first,
        given.seeds,
        worlds=worlds,
        processes=given.processes,
        each=each,
        before=before,
    )
    found = []
    if given.mutations:
        for name, count, what in hunt_all(50_000, given.mutations, processes=given.processes):
            found.append((name, count, what))
            print(f"{name}: {f'found after {count}' if count else 'MISSED'}", file=sys.stderr)
    if given.report:
        if given.mutations:
            command += f" && make storm-mutations LIMIT={given.mutations}"
        given.report.write_text(report(result, found, command))
    missed = [name for name, count, _ in found if count is None]
    print(_as_json(result, missed) if given.json else _in_words(result, missed))
    for seed, _wrong in result.failed[:1]:
        brokers, kind = worlds.of(seed)
        outcome = play_seed(seed, brokers=brokers, kind=kind)
        _tell(outcome, Path("storm-failures"))
    return 1 if result.failed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
