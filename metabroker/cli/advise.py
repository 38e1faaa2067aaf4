"""`metabroker advise`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metabroker.cli import common
from metabroker.cli.errors import FAILED, USAGE, CliError, tell

if TYPE_CHECKING:
    from metabroker.advice.advice import Advice
    from metabroker.advice.site import Site

FOLDER = "metabroker-advice"
_LOG = "log.swf"


@click.command()
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="FILE...",
    help="the site's logs: SWF, the output of sacct, or OpenPBS accounting files",
)
@click.option("--from-history", is_flag=True, help="the broker's own ended jobs")
@click.option(
    "--clusters",
    metavar="NAME=PROCESSORS,...",
    help="the site's clusters (default: what the log tells)",
)
@click.option(
    "--policy", metavar="NAME", help="the policy in force (default: EASY on one cluster, else GS)"
)
@click.option(
    "--out", default=FOLDER, show_default=True, metavar="DIR", help="folder of the report"
)
@click.option(
    "--processes",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="number of processes (default: one per processor)",
)
@click.option("--dask", metavar="tcp://HOST:PORT", help="run on a Dask cluster that sees --out")
@click.argument("more", nargs=-1, metavar="")
@common.socket_option
@common.json_option
def advise(
    sources: tuple[str, ...],
    from_history: bool,
    clusters: str | None,
    policy: str | None,
    out: str,
    processes: int | None,
    dask: str | None,
    more: tuple[str, ...],
    socket_path: str | None,
    as_json: bool,
) -> int:
    """Say what to set, by a site's own log.

    The log is replayed under every policy, line and plan that fits its clusters. The report
    (advice.md, advice.html) says what to set, for whom that changes what, and how sure that is.
    """
    if from_history == bool(sources) or (more and not sources):
        raise CliError("name one log", "write --from FILE..., or --from-history", USAGE)
    if dask is not None and processes is not None:
        raise CliError("--dask and --processes cannot go together", "leave one out", USAGE)
    _check_installed()
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = (folder / _LOG).absolute()
        if from_history:
            _write(log, _history(socket_path))
        else:
            _write(log, _lines([*sources, *more]))
        title = "the broker's history" if from_history else ", ".join([*sources, *more])
        advice = _advise(_site(log, clusters, title), policy, processes, dask)
        from metabroker.advice import report

        written = [str(path) for path in report.write(advice, folder)]
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}"
        raise CliError(message, "choose another place with --out", FAILED) from error
    if as_json:
        common.print_json({**advice.as_json(), "files": written})
    else:
        print((folder / "advice.md").read_text(encoding="utf-8"))
        print(f"written: {', '.join(written)}")
    return 0


def _check_installed() -> None:
    try:
        import matplotlib
        import scipy  # noqa: F401
    except ImportError as error:
        advice = "install the simulation packages: pip install 'metabroker[simulation]'"
        raise CliError(f"{error.name} is not installed", advice) from error
    del matplotlib


def _write(log: Path, lines: Iterable[str]) -> None:
    """Whole or not at all: it may be in the place of the very file that it is made of."""
    part = log.with_name(f".{log.name}.{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        part.replace(log)
    finally:
        part.unlink(missing_ok=True)


def _history(socket_path: str | None) -> Iterable[str]:
    from metabroker.cli.swf import lines

    client = common.connect(socket_path)
    jobs = (job for page in client.history(limit="all", page=1000) for job in page["jobs"])
    return lines(jobs, client.get("clusters")["clusters"])


def _lines(files: list[str]) -> Iterable[str]:
    """The log in the Standard Workload Format: as it is, or joined of several ones, or made of a
    site's own records."""
    from metabroker.traces import joined, site
    from metabroker.traces.errors import TraceError
    from metabroker.traces.lines import lines
    from metabroker.traces.write import write

    try:
        swf = [file for file in files if _is_swf(file)]
        if swf and len(swf) < len(files):
            other = next(file for file in files if file not in swf)
            what = f"{swf[0]} is in the Standard Workload Format, and {other} is not"
            advice = f"make one of the other files first: metabroker history --swf --from {other}"
            raise CliError(what, advice, USAGE)
        if len(swf) == 1:
            yield from (text for _, text in lines(swf[0]))
            return
        told = joined.read(files) if swf else joined.Joined(site.read(files))
    except TraceError as error:
        raise CliError(f"{error.where}: {error.message}", error.advice, USAGE) from error
    records = told.records
    for doubt in records.doubts:
        tell(doubt)
    for (file, why), skipped in records.skipped.items():
        tell(f"{file}: {skipped.count} left out: {why}; the first is line {skipped.first_line}")
    if not records.jobs:
        raise CliError("the files hold no job that has run", "name other files", USAGE)
    if swf and records.again:
        tell(f"{records.again} jobs stand in several of the logs, and are counted once")
    computer, clusters = ", ".join(told.clusters), told.clusters
    yield from write(records.jobs, computer=computer, processors=told.processors, clusters=clusters)


def _is_swf(file: str) -> bool:
    from metabroker.traces import swf
    from metabroker.traces.lines import lines

    first = next((text for _, text in lines(file) if text.strip()), "")
    return first.startswith(";") or len(first.split()) == swf.FIELDS


def _site(log: Path, clusters: str | None, title: str) -> Site:
    from metabroker.advice.site import Site
    from metabroker.traces.errors import TraceError
    from metabroker.traces.swf import read

    try:
        found = read(log).clusters() if clusters is None else _sizes(clusters)
    except TraceError as error:
        raise CliError(f"{error.where}: {error.message}", error.advice, USAGE) from error
    if not found:
        advice = "name them: --clusters delft=128,leiden=64"
        raise CliError("the log does not tell its clusters' processors", advice, USAGE)
    return Site(str(log), tuple(found), tuple(found.values()), title=title)


def _sizes(text: str) -> dict[str, int]:
    found = {}
    for part in text.split(","):
        name, _, size = part.partition("=")
        if not name or not (size.isascii() and size.isdigit() and 0 < int(size) < 10**8):
            advice = "write for example --clusters delft=128,leiden=64"
            raise CliError(f"{ascii(part)[:60]} is no cluster", advice, USAGE)
        found[name] = int(size)
    return found


def _advise(site: Site, policy: str | None, processes: int | None, dask: str | None) -> Advice:
    from metabroker.advice.advice import NoAdvice, advise
    from metabroker.policy import PLANNERS, POLICIES
    from metabroker.simulation.executor import executor_of, usable_processors
    from metabroker.traces.errors import TraceError

    now = policy or ("EASY" if len(site.processors) == 1 else "GS")
    if now not in (*POLICIES, *PLANNERS):
        known = ", ".join((*POLICIES, *PLANNERS))
        raise CliError(f"there is no policy {ascii(now)[:60]}", f"policies are {known}", USAGE)
    with executor_of(processes or usable_processors(), dask) as executor:
        try:
            return advise(site, now, executor)
        except NoAdvice as error:
            advice = "name the policy in force with --policy, or the clusters with --clusters"
            raise CliError(f"this log cannot be replayed: {error}", advice, USAGE) from error
        except TraceError as error:
            raise CliError(f"{site.title}: {error.message}", error.advice, USAGE) from error
        except ValueError as error:
            raise CliError(str(error), "name the clusters with --clusters", USAGE) from error
