"""`metabroker simulate`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError, tell

if TYPE_CHECKING:
    from metabroker.simulation.executor import Executor
    from metabroker.simulation.rounds import Played
    from metabroker.simulation.scenario.loader import Plan

SMALL = 40_000
"""Jobs that are played sooner than other processes have started."""
SLOW = 500_000
"""Jobs of which it is told that they could be played faster."""


@click.command()
@click.argument("scenario", metavar="SCENARIO.yaml")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="set a dotted key to a value; a list of values makes a sweep (repeatable)",
)
@click.option("--jobs-out", metavar="FILE.csv", help="write each job of the first replication")
@click.option("--csv", "table", metavar="FILE.csv", help="write the figures, one line per run")
@click.option("--plot", metavar="FILE.png|svg", help="plot response time against utilization")
@click.option(
    "--processes",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="number of processes (default: one per processor)",
)
@click.option("--dask", metavar="tcp://HOST:PORT", help="run on a Dask cluster")
@common.json_option
def simulate(
    scenario: str,
    sets: tuple[str, ...],
    jobs_out: str | None,
    table: str | None,
    plot: str | None,
    processes: int | None,
    dask: str | None,
    as_json: bool,
) -> int:
    """Simulate a policy on a synthetic workload or on a log.

    `--set policy=[GS,LS-DO] --set workload.synthetic.utilization=[0.5,0.6]` runs every combination.
    --jobs-out writes jobs in the order of their ends, with `;` between the clusters of one job. All
    times are in the workload's unit. Examples: configs/simulate/.
    """
    from metabroker.config import ConfigErrors

    if processes is not None and dask is not None:
        raise CliError("--processes and --dask cannot go together", "leave one out", USAGE)
    with _needed():
        from metabroker.simulation.scenario.loader import load
    _check_outputs(jobs_out, table, plot)
    try:
        plans = load(scenario, sets)
    except ConfigErrors as found:
        if as_json:
            common.print_json({"ok": False, "errors": [e.as_json() for e in found.errors]})
        for error in found.errors:
            tell(str(error))
        return USAGE
    if jobs_out is not None and len(plans) > 1:
        advice = "leave --jobs-out out, or give each key one value"
        raise CliError(f"--jobs-out takes one run, and these are {len(plans)} runs", advice, USAGE)
    _warn(plans)
    _tell_slower(plans)
    results = _play(plans, jobs_out, processes, dask)
    _write(results, table, plot)
    _print(plans, results, as_json)
    return 0


@contextlib.contextmanager
def _needed() -> Iterator[None]:
    """One line where what simulating needs is not installed."""
    try:
        yield
    except ImportError as error:
        name = (error.name or "a package").partition(".")[0]
        advice = "install it: pip install 'metabroker[simulation]'"
        raise CliError(f"simulating needs {name}, which is not installed", advice) from error


def _check_outputs(jobs_out: str | None, table: str | None, plot: str | None) -> None:
    """Wrong names are found before anything is played."""
    if plot is not None:
        from metabroker.simulation.scenario.plot import ENDINGS

        if Path(plot).suffix.lower() not in ENDINGS:
            advice = f"end the name with {' or '.join(ENDINGS)}"
            raise CliError(f"--plot {ascii(plot)[:80]} is not the name of a picture", advice, USAGE)
        with _needed():
            import matplotlib  # noqa: F401
    for option, name in (("--jobs-out", jobs_out), ("--csv", table), ("--plot", plot)):
        if name is not None and not Path(name).absolute().parent.is_dir():
            message = f"{option} {ascii(name)[:80]}: there is no such folder"
            raise CliError(message, "create it, or name a file elsewhere", USAGE)


def _warn(plans: list[Plan]) -> None:
    """What was left out of logs, once each."""
    from metabroker.simulation.workloads.replay import Replay

    traces = {
        plan.run.workload.trace.file: plan.run.workload.trace
        for plan in plans
        if isinstance(plan.run.workload, Replay)
    }
    for trace in traces.values():
        for skipped in trace.skipped.values():
            told = f"{trace.file}: {skipped.count} lines left out: {skipped.why}"
            tell(f"{told}; the first is line {skipped.first_line}")


def _tell_slower(plans: list[Plan]) -> None:
    """Say it where much is to be played without numba."""
    from metabroker.simulation.kernel import play

    jobs = sum(plan.run.jobs * (plan.scenario.replications or 1) for plan in plans)
    if not play.installed() and jobs > SLOW:
        told = "numba is not installed: simulating takes several times as long"
        tell(f"{told}; install it: pip install 'metabroker[simulation]'")


def _play(
    plans: list[Plan], jobs_out: str | None, processes: int | None, dask: str | None
) -> list[dict[str, Any]]:
    """The JSON object of each plan."""
    from metabroker.simulation.rounds import play_rounds
    from metabroker.simulation.scenario.jobs_out import JobsOut
    from metabroker.simulation.scenario.results import as_data, stop_of

    runs = [(plan.run, plan.scenario.replications or 1, stop_of(plan)) for plan in plans]
    played: list[Played]
    try:
        with contextlib.ExitStack() as stack:
            also = None
            if jobs_out is not None:
                also = JobsOut(plans[0], stack.enter_context(_opened("--jobs-out", jobs_out)))
            executor = stack.enter_context(_executor(plans, processes, dask))
            played = play_rounds(runs, executor, also)
    except ValueError as error:
        advice = "correct the scenario: such a run has no end or no jobs"
        raise CliError(f"it cannot be simulated: {error}", advice, USAGE) from error
    return [as_data(plan, result) for plan, result in zip(plans, played, strict=True)]


def _executor(plans: list[Plan], processes: int | None, dask: str | None) -> Executor:
    from metabroker.simulation.executor import executor_of, usable_processors

    number = sum(plan.scenario.replications or 1 for plan in plans)
    jobs = sum(plan.run.jobs * (plan.scenario.replications or 1) for plan in plans)
    here = processes is None and jobs <= SMALL
    return executor_of(1 if here else min(processes or usable_processors(), number), dask)


@contextlib.contextmanager
def _opened(option: str, name: str) -> Iterator[TextIO]:
    """A file to write. Raises CliError where it cannot be, also when the disk becomes full."""
    try:
        with open(name, "w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        message = f"{option} {ascii(name)[:80]} cannot be written: {error.strerror}"
        raise CliError(message, "name a file that you may write", USAGE) from error


def _write(results: list[dict[str, Any]], table: str | None, plot: str | None) -> None:
    from metabroker.simulation.scenario import sweeps

    if table is not None:
        with _opened("--csv", table) as file:
            sweeps.write_csv(results, file)
    if plot is not None:
        from metabroker.simulation.scenario.plot import draw

        try:
            draw(sweeps.lines(results), Path(plot))
        except OSError as error:
            message = f"--plot {ascii(plot)[:80]} cannot be written: {error.strerror}"
            raise CliError(message, "name a file that you may write") from error


def _print(plans: list[Plan], results: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        common.print_json(results[0] if not plans[0].swept else {"runs": results})
        return
    from metabroker.cli.simulated import print_run, print_sweep

    if plans[0].swept:
        print_sweep(results)
    else:
        print_run(results[0])
