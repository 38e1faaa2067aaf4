"""How long until the last of four co-allocated components runs, against four bare sbatch jobs?

    python -m benchmarks.coallocation [--runs 15]

Both start at the same moment of the clusters' own rhythm, in turn, in one run. Printed: the
median seconds of each, their ratio, the skew between components, and where the time goes.
"""

from __future__ import annotations

import argparse
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
    with on_slurm(poll_interval="2s") as (federation, testbed):
        for number in range(runs):
            alone.append(bare(federation, testbed, number))
            testbed.reset()
            seconds, skew, job = brokered(federation, number, cli=False)
            through.append(seconds)
            skews.append(skew)
            federation.idle()
            for what, at in _phases(federation, job).items():
                phases.setdefault(what, []).append(at)
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
