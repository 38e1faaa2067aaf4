"""How long until the last of four co-allocated components runs, against four bare sbatch jobs?

    python -m benchmarks.coallocation [--runs 15]

In turn, in one run. A cluster schedules once a second, so how long a job waits depends on when
in this second it comes: each way is begun in the same parts of the second, in an order of its
own. Printed: the median seconds of each, their ratio, the skew between components, and where the
time goes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from metabroker.submission.model import Processors
from tests.testbed import Testbed

from .federation import Federation, on_slurm

_PLACES = (("delft", 16), ("leiden", 16), ("lab", 8), ("delft", 8))
_SCRIPT = "#!/bin/sh\ndate +%s.%N > {folder}/{tag}.$METABROKER_COMPONENT\n"
_BARE = "#!/bin/sh\ndate +%s.%N > {folder}/{tag}.{index}\n"


def _stamps(folder: Path, tag: str) -> list[float]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [f.read_text().strip() for f in folder.glob(f"{tag}.*")]
        if len(found) == len(_PLACES) and all(found):
            return [float(text) for text in found]
        time.sleep(0.005)
    raise TimeoutError(tag)


def bare(federation: Federation, testbed: Testbed, number: int) -> float:
    """Four sbatch jobs, in parallel, without a broker."""
    tag = f"bare{number}"

    def submit(index: int) -> None:
        cluster, processors = _PLACES[index]
        script = _BARE.format(folder=federation.folder, tag=tag, index=index)
        testbed[cluster].run(
            "sbatch", f"-n{processors}", "-t5", "-o/dev/null", stdin=script, check=True
        )

    began = time.time()
    with ThreadPoolExecutor(len(_PLACES)) as pool:
        list(pool.map(submit, range(len(_PLACES))))
    return max(_stamps(federation.folder, tag)) - began


def brokered(federation: Federation, number: int, *, cli: bool) -> tuple[float, float, int]:
    """The same through the broker: seconds to the last first line, skew, the job."""
    tag = f"job{number}{'c' if cli else 'a'}"
    script = _SCRIPT.format(folder=federation.folder, tag=tag)
    began = time.time()
    if cli:
        file = federation.folder / f"script-{tag}"
        file.write_text(script)
        where = ",".join(f"{c}:{n}" for c, n in _PLACES)
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "metabroker",
                "submit",
                "--socket",
                str(federation.folder / "metabroker.sock"),
                "--on",
                where,
                "-t",
                "5",
                "-o",
                "/dev/null",
                str(file),
            ],
            check=True,
            capture_output=True,
            text=True,
            cwd=federation.folder,
        )
        job = int(done.stdout.split()[0])
    else:
        wire = federation.submission(
            script, Processors(on=_PLACES), time_limit=300, output="/dev/null"
        )
        job = federation.client.submit(wire)["job"]
    stamps = _stamps(federation.folder, tag)
    return max(stamps) - began, max(stamps) - min(stamps), job


def _parts(runs: int, seed: int) -> list[float]:
    """When in a second each run of one way begins: evenly spread, in an order of its own."""
    parts = [(number + 0.5) / runs for number in range(runs)]
    random.Random(seed).shuffle(parts)
    return parts


def _await_part(part: float) -> None:
    time.sleep((part - time.time()) % 1.0)


def _phases(federation: Federation, job: int) -> dict[str, float]:
    """Seconds from the submission to the last of each event."""
    shown = federation.client.get(f"jobs/{job}")
    last: dict[str, float] = {}
    for event in shown["events"]:
        last[event["event"]] = event["time"] - shown["submit_time"]
    return last


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    alone, through, by_cli, skews = [], [], [], []
    phases: dict[str, list[float]] = {}
    parts = zip(*(_parts(runs, seed) for seed in range(3)), strict=True)
    with on_slurm(poll_interval="2s") as (federation, testbed):
        for number, (first, second, third) in enumerate(parts):
            _await_part(first)
            alone.append(bare(federation, testbed, number))
            testbed.reset()
            federation.idle()
            _await_part(second)
            seconds, skew, job = brokered(federation, number, cli=False)
            through.append(seconds)
            skews.append(skew)
            federation.idle()
            for what, at in _phases(federation, job).items():
                phases.setdefault(what, []).append(at)
            _await_part(third)
            seconds, skew, _job = brokered(federation, number, cli=True)
            by_cli.append(seconds)
            skews.append(skew)
            federation.idle()
    median = statistics.median
    print(f"four bare sbatch jobs, the last one's first line: {median(alone):.3f} s (median)")
    for way, times in (("API", through), ("CLI", by_cli)):
        ratio = median(times) / median(alone)
        print(f"co-allocated by the {way}: {median(times):.3f} s (median), ratio {ratio:.2f}")
    print(f"start skew: median {median(skews):.3f} s, largest {max(skews):.3f} s")
    print("where the time goes (median seconds after the submission, last of the components):")
    for what, seconds_ in sorted(phases.items(), key=lambda item: median(item[1])):
        print(f"  {what:<16} {median(seconds_):.3f}")


if __name__ == "__main__":
    main()
