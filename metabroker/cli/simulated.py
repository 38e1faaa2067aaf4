"""What `metabroker simulate` tells people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metabroker.cli.table import print_table

MARK = "*"
_SATURATED = (
    f"{MARK} SATURATED: the system cannot keep up with the jobs. The means marked {MARK} depend "
    "only on the length of the run."
)

Json = dict[str, Any]


def print_run(result: Json) -> None:
    """One run: what was played, and its figures with their intervals."""
    _head(result)
    print()
    mark = MARK if result["saturated"] else ""
    times = {
        "response time": result["response_time"]["total"],
        "  local jobs": result["response_time"]["local"],
        "  global jobs": result["response_time"]["global"],
        "waiting time": result["waiting_time"],
    }
    rows = [
        (name, number(of["mean"], mark), number(of["ci95"]))
        for name, of in times.items()
        if of["mean"] is not None and not ("classes" in result and "local" in name)
    ]
    print_table(["", "MEAN", "+- 95%"], rows, right=["MEAN", "+- 95%"])
    if "by_kind" in result:
        print()
        _print_kinds(result["by_kind"], mark)
    print()
    print_table(["FIGURE", "VALUE"], _figures(result, mark), right=["VALUE"])
    _tail(result)


def print_sweep(results: Sequence[Json]) -> None:
    """A line per run."""
    swept = list(results[0]["set"])
    heads = [key.rpartition(".")[2].upper() for key in swept]
    figures = ["RESPONSE", "+- 95%", "LOCAL", "GLOBAL", "WAIT", "GROSS", "NET", "RUNS"]
    kinds = list(results[0].get("by_kind", ()))
    figures += [f"WAIT {kind.replace('_', ' ').upper()}" for kind in kinds]
    rows = []
    for result in results:
        mark = MARK if result["saturated"] else ""
        response, use = result["response_time"], result["utilization"]
        rows.append(
            [
                *(result["set"][key] for key in swept),
                number(response["total"]["mean"], mark),
                number(response["total"]["ci95"]),
                number(response["local"]["mean"], mark),
                number(response["global"]["mean"], mark),
                number(result["waiting_time"]["mean"], mark),
                number(use["gross"]),
                number(use["net"]),
                result["replications"],
                *(number(result["by_kind"][kind]["waiting_time"]["mean"], mark) for kind in kinds),
            ]
        )
    print_table([*heads, *figures], rows, right=figures)
    if any(result["saturated"] for result in results):
        print(f"\n{_SATURATED}")
    for note in sorted({note for result in results for note in result.get("notes", ())}):
        print(f"\nNote: {note}.")


def _print_kinds(kinds: Json, mark: str) -> None:
    """A line for the jobs of local users, of one component and of several."""
    figures = {"waiting_time": "WAIT", "response_time": "RESPONSE", "bounded_slowdown": "SLOWDOWN"}
    rows = []
    for kind, of in kinds.items():
        cells = [
            cell
            for name in figures
            for cell in (number(of[name]["mean"], mark), number(of[name]["ci95"]))
        ]
        rows.append([kind.replace("_", " "), *cells, number(of["utilization"])])
    right = [head for figure in figures.values() for head in (figure, "+- 95%")]
    print_table(["JOBS", *right, "UTILIZATION"], rows, right=[*right, "UTILIZATION"])


def number(value: float | None, mark: str = "") -> str | None:
    """A figure with five significant digits."""
    if value is None:
        return None
    digits = f"{value:.5g}" if abs(value) < 100_000 else f"{value:.0f}"
    return digits + mark


def _head(result: Json) -> None:
    scenario = result["scenario"]
    clusters = scenario["clusters"]
    sizes = [of["processors"] if isinstance(of, dict) else of for of in clusters.values()]
    shared = [of for of in clusters.values() if isinstance(of, dict) and of["local"]]
    users = f"; {len(shared)} with local users" if shared else ""
    workload, keys = next(iter(scenario["workload"].items()))
    names = {"synthetic": "utilization", "swf": "file", "runtimes": "table", "job_mix": "nmax"}
    name = names.get(workload, "count")
    detail = keys.get(name)
    if detail is None:
        name, detail = "arrival_rate", keys.get("arrival_rate")
    policy = [scenario["policy"], scenario["placement"], scenario["discipline"]]
    print(f"policy     {', '.join(word for word in policy if word)}")
    print(f"clusters   {len(clusters)}, {sum(sizes)} processors{users}")
    print(f"workload   {workload}, {name} {detail}")
    cut = result["warmup"]
    warmup = f"the first {cut} of each cut as warm-up" if cut else "no warm-up cut"
    count = result["replications"]
    print(f"played     {result['jobs']} jobs x {count}, {warmup}")


def _figures(result: Json, mark: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = [
        ("utilization, gross", number(result["utilization"]["gross"])),
        ("utilization, net", number(result["utilization"]["net"])),
    ]
    if "transfer_time" in result:
        found.append(("files to come, mean time", number(result["transfer_time"]["mean"], mark)))
    for name in ("bounded_slowdown", "awrt", "awwt"):
        if name in result:
            found.append((name.replace("_", " "), number(result[name], mark)))
    if "makespan" in result:
        found.append(("end of the last job", number(result["makespan"])))
    if "multi_site" in result:
        several = result["multi_site"]
        found.append(("jobs that were split", number(several["jobs"])))
        found.append(("  their part of the work", number(several["area_share"])))
    for kind, of in result.get("classes", {}).items():
        found.append((f"{kind} jobs, mean response", number(of["mean_response"], mark)))
        found.append((f"{kind} jobs, largest response", number(of["max_response"], mark)))
    found.append(("jobs per second", number(result["jobs_per_second"])))
    return found


def _tail(result: Json) -> None:
    precision = result.get("precision")
    if precision is not None and precision["maximum_hit"]:
        found = number(precision["found"])
        print(
            f"\nNot precise enough: after the maximum of {result['replications']} replications "
            f"the interval is still {found} of the mean; {precision['asked']:g} was asked for."
        )
    if result["saturated"]:
        print(f"\n{_SATURATED}")
    for skipped in result.get("skipped", ()):
        print(f"\nLeft out of the log: {skipped['count']} lines: {skipped['reason']}.")
    for note in result.get("notes", ()):
        print(f"\nNote: {note}.")
