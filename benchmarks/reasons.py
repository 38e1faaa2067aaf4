"""Why claims of the papers come out as they do: each reason tested by changing what it blames.

`python -m benchmarks.reasons [NAME...]`; what is played is kept as by `metabroker experiment`. It
prints a table for each of:

place       the utilization of the comparison (BE-11, 17, 21, 27, 41, 45, 65)
same        policies that are said to differ: are they the same within 1 %? (BE-36, 37, 54, 62)
ties        how Worst Fit breaks ties (BE-05)
length      the length of KH's short runs (KH-16)
extracts    where ER's extracts begin: the log lacks 23 jobs of the paper's (ER-05 to 10)
sizes       other sizes and service times that agree with what is told of the DAS log (BT)
runtimes    other mixes of Ensflow and Poisson (CO-03, CO-04)
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from metabroker.experiments import ernemann_2002_claims, four_clusters, grids
from metabroker.experiments import karatza_hilzer_2002 as kh
from metabroker.experiments.ctc import Replayed, log
from metabroker.experiments.das import measured, total_sizes, traced
from metabroker.experiments.evidence import Below, Close, Comparison, Quantity
from metabroker.experiments.experiment import METRICS
from metabroker.experiments.result_cache import (
    KeptResults,
    ResultCache,
    trials,
    users_folder,
)
from metabroker.experiments.scale import FULL
from metabroker.experiments.search import Search
from metabroker.policy import Options
from metabroker.simulation.executor import executor_of
from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.workloads.distributions import Discrete, Exponential, Law, Lognormal
from metabroker.simulation.workloads.runtimes import Runtimes, work
from metabroker.simulation.workloads.shapes import SplitRule
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for

Rows = Iterator[tuple[str, str, Comparison]]
"""What is looked at, what is changed, and the comparison there."""
JOBS, REPLICATIONS = 50_000, 10
SEARCHED, SEARCHES = 40_000, 4
UNBALANCED, HALF_TWO = four_clusters.UNBALANCED_80, four_clusters.HALF_TWO
SHIFTS = (0, -23, 23)


def mean(case: four_clusters.Case, policy: str, utilization: float, kind: str) -> Quantity:
    """The mean response time of one kind of jobs."""
    run = four_clusters.run(case, policy, utilization, JOBS, 1)
    return Quantity(f"{policy} {kind}", (run,), METRICS[kind], total=kind == "total")


def below(
    case: four_clusters.Case, u: float, first: str, second: str, kind: str, factor: float = 1.0
) -> Below:
    """One policy is below `factor` times the other at a utilization."""
    return Below(mean(case, first, u, kind), mean(case, second, u, kind), factor)


def steps(low: float, high: float, step: float = 0.02) -> list[float]:
    """Utilizations."""
    return [round(low + n * step, 3) for n in range(round((high - low) / step) + 1)]


def place() -> Rows:
    """The same comparisons at other utilizations."""
    for claim, family in (("BE-17", "LP"), ("BE-27", "EQ")):
        for u in steps(0.66, 0.80):
            first, second = f"{family}-RD", f"{family}-LF"
            yield claim, f"at {u:g}", below(UNBALANCED, u, first, second, "global", 0.8)
    for u in steps(0.80, 0.90):
        yield "BE-41", f"at {u:g}", below(HALF_TWO, u, "LP-GF", "GS", "total")
    for case in (four_clusters.LOCAL_80, four_clusters.LOCAL_90):
        for u in steps(0.74, 0.84):
            yield "BE-45", f"{case} at {u:g}", below(case, u, "LQ", "EQ-GF", "total", 1.25)
    for claim, family in (("BE-11, 65", "LP"), ("BE-21, 65", "EQ")):
        for case in (four_clusters.EVEN, four_clusters.HALF_TWO_THREE):
            for u in steps(0.78, 0.88):
                first, second = f"{family}-GF", f"{family}-LF"
                yield claim, f"{case} at {u:g}", below(case, u, first, second, "total")


def same() -> Rows:
    """Are they the same within 1 %?"""
    for claim, case, kind, first, second in (
        ("BE-36", four_clusters.EVEN, "total", "LP-GF", "EQ-GF"),
        ("BE-37", four_clusters.EVEN, "global", "LP-GF", "EQ-GF"),
        ("BE-54", UNBALANCED, "total", "EQ-LF", "LP-LF"),
        ("BE-62", four_clusters.EVEN, "global", "EQ-GF", "LP-GF"),
    ):
        for number in (0, 1):
            u = four_clusters.level(case, (first, second), number)
            a, b = mean(case, first, u, kind), mean(case, second, u, kind)
            yield claim, f"at {u:g}", Close(a, b, 0.01)


def ties() -> Rows:
    """Ties of Worst Fit to the lowest index, as everywhere, or broken at random."""
    case = four_clusters.LOCAL_90
    for ties in ("lowest", "random"):
        found = []
        for policy in ("LS-OR", "LS-RO"):
            run = four_clusters.run(case, policy, 0.79, JOBS // 5, 1)
            run = replace(run, system=replace(run.system, options=Options(ties=ties)))
            found.append(Quantity(policy, (run,), METRICS["total"], total=True))
        yield "BE-05: RO is worse than OR", f"ties: {ties}", Below(found[1], found[0])
        yield "BE-05: OR is worse than RO", f"ties: {ties}", Below(found[0], found[1])


def length() -> Rows:
    """Short runs of other lengths."""
    for jobs in (1_000, 2_500, 5_000, 10_000, 20_000):
        run = replace(kh.long_run("LG-SS", 4, FULL), jobs=jobs, warmup="none")
        first, second = (
            Quantity(name, (kh.ShortRun(run),), kh.METRICS[name]) for name in ("MRT_s", "MRT_g")
        )
        yield "KH-16", f"{jobs} jobs", Below(first, second)


def extracts(results: ResultCache) -> None:
    """ER-05 to ER-10 on extracts that begin elsewhere. A claim of ER is of many comparisons."""
    print("| claim | the extract begins | comparisons that hold |\n|---|---|---|")
    scale = replace(FULL, name="reasons", ctc_log=log(FULL))
    for shift in SHIFTS:
        for name in ("ER-05", "ER-06", "ER-07", "ER-08", "ER-09", "ER-10", "ER-13"):
            check = ernemann_2002_claims.CLAIMS[name]
            assert isinstance(check, ernemann_2002_claims.OnExtracts)
            found = []
            for statement in check.statements(scale):
                for _, exact in statement.at:
                    assert isinstance(exact, ernemann_2002_claims.Exact)
                    moved = tuple(replace(task, shift=shift, count=10_000) for task in exact.tasks)
                    results.play(trials(moved, 1))
                    found.append(replace(exact, tasks=moved).judge(results, 1).sign)
            held = f"{found.count('yes')} of {len(found)}"
            print(f"| {name} | {shift:+d} jobs | {held} |", flush=True)
    least: dict[str, float] = {}
    for workload in ernemann_2002_claims.ORG:
        for name in grids.CONFIGURATIONS:
            task: Replayed = grids.multi_site(workload, name, 0, scale)
            outcome: JobOutcome = results.outcomes(replace(task, count=10_000), 1)[0]
            least[workload] = min(least.get(workload, 1e9), outcome.awwt / 3600)
    for workload, hours in least.items():
        print(f"| ER-10 | {workload} | the least AWWT at p=0 is {hours:.2f} h |")


BANDS = (0, 16, 24, 32, 64)
"""What is told of the DAS log: how many jobs are of 64, above 64 and 128 processors, and how many
have several components, which depends on the bands between the limits of the component size."""


def banded(law: Discrete, ends: bool) -> Discrete:
    """The same mean and the same part in each band: on its two ends, or around its mean."""
    known = dict(zip(law.values, law.probabilities, strict=True))
    made = {size: p for size, p in known.items() if size in BANDS or size > 64}
    for low, high in pairwise(BANDS):
        inner = {size: p for size, p in known.items() if low < size < high}
        weight = sum(inner.values())
        if not weight:
            continue
        middle = sum(size * p for size, p in inner.items()) / weight
        below, above = (low + 1, high - 1) if ends else (int(middle), int(middle) + 1)
        share = (middle - below) / (above - below)
        for size, part in ((below, 1 - share), (above, share)):
            made[size] = made.get(size, 0.0) + weight * part
    values = tuple(sorted(size for size, p in made.items() if p > 0))
    return Discrete(values, tuple(made[size] for size in values))


def sizes() -> Rows:
    """Other laws of sizes and of service times."""
    full = total_sizes(128)
    service = traced("GS", 16, 1, 1).workload
    assert isinstance(service, Synthetic)
    variants: dict[str, tuple[Discrete, Law]] = {
        "as everywhere": (full, service.service),
        "sizes around the middle of their band": (banded(full, False), service.service),
        "sizes at the ends of their band": (banded(full, True), service.service),
        "service: exponential": (full, Exponential(service.service.mean)),
        "service: cv 3": (full, Lognormal(356.45, 3.0, 900.0)),
        "service: cv 8": (full, Lognormal(356.45, 8.0, 900.0)),
    }

    def at(policy: str, limit: int, most: int, name: str) -> Quantity:
        law, time = variants[name]
        unit = traced(policy, limit, SEARCHED, 1, most=most)
        workload = unit.workload
        assert isinstance(workload, Synthetic) and isinstance(workload.shapes, SplitRule)
        shapes = replace(workload.shapes, totals=law.limited(most))
        rate = rate_for(1.0, shapes, time, 128, workload.extension)
        workload = replace(workload, shapes=shapes, service=time, arrival_rate=rate)
        search = Search(replace(unit, workload=workload), 0.004)
        return Quantity(policy if policy == "SC" else f"{policy} {limit}", (search,), float)

    for name in variants:
        ls_16, ls_32 = at("LS-DO", 16, 128, name), at("LS-DO", 32, 128, name)
        lp_16, lp_32 = at("LP-GF", 16, 128, name), at("LP-GF", 32, 128, name)
        yield "BT-01", name, Below(at("GS", 32, 128, name), ls_32)
        single = at("SC", 0, 128, name)
        yield "BT-05", name, Below(single, Quantity("0.65", single.tasks, lambda _: 0.65))
        yield "BT-08", name, Below(ls_32, ls_16, 1 / 1.05)
        yield "BT-09", name, Close(lp_16, lp_32, 0.03)
        yield "BT-22", name, Below(at("GS", 16, 64, name), at("LP-GF", 16, 64, name))


def runtimes() -> Rows:
    """Other mixes of the applications' jobs: without their smallest, or their largest sizes."""
    for name, left_out in (
        ("as everywhere", set[int]()),
        ("without the smallest sizes", {8, 10, 12}),
        ("without the largest sizes", {60, 64}),
    ):

        def at(rule: str, policy: str, left_out: set[int] = left_out) -> Quantity:
            unit = measured("Ensflow and Poisson", rule, policy, SEARCHED, 1)
            assert isinstance(unit.workload, Runtimes)
            table = tuple(each for each in unit.workload.table if each.total not in left_out)
            rate = 128 / work(table)
            workload = replace(unit.workload, table=table, arrival_rate=rate)
            search = Search(replace(unit, workload=workload), 0.004)
            return Quantity(f"{policy} [{rule}]", (search,), float)

        yield "CO-03", name, Close(at("fco", "GS"), at("no", "GS"), 0.03)
        for policy in ("LS-DO", "LP-GF"):
            none = at("no", "LS-DO")
            for rule in ("rco", "fco"):
                yield "CO-04", name, Below(none, at(rule, policy), 1 / 1.05)
                yield "CO-04", name, Below(at("co", policy), at(rule, policy), 1 / 1.05)


def told(rows: Iterable[tuple[str, str, Comparison]], results: ResultCache, count: int) -> None:
    """Print what each row shows."""
    found = list(rows)
    results.play(trials([task for _, _, each in found for task in each.tasks], count))
    print("| claim | where, or what is changed | | what is compared |\n|---|---|---|---|")
    for claim, changed, comparison in found:
        verdict = comparison.judge(results, count)
        print(f"| {claim} | {changed} | {verdict.sign} | {verdict.text} |", flush=True)


ALL: dict[str, tuple[Callable[[], Rows], int]] = {
    "place": (place, REPLICATIONS),
    "same": (same, 2 * REPLICATIONS),
    "length": (length, 4 * REPLICATIONS),
    "ties": (ties, REPLICATIONS),
    "sizes": (sizes, SEARCHES),
    "runtimes": (runtimes, SEARCHES),
}


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ALL, "extracts", []])
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    with executor_of(arguments.processes, None) as executor:
        results = ResultCache(executor, KeptResults(users_folder()))
        for name in arguments.names or [*ALL, "extracts"]:
            print(f"\n### {name}\n", flush=True)
            if name == "extracts":
                extracts(results)
            else:
                rows, count = ALL[name]
                told(rows(), results, count)


if __name__ == "__main__":
    main()
