"""`metabroker experiment`."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metabroker.cli import common
from metabroker.cli.errors import FAILED, USAGE, CliError

if TYPE_CHECKING:
    from metabroker.experiments.result_cache import KeptResults, ResultCache
    from metabroker.experiments.scale import Scale

FOLDER = Path("metabroker-experiments")
_EXTRA = "install the simulation packages: pip install 'metabroker[simulation]'"


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--list", "listed", is_flag=True, help="list the names of all experiments")
@click.option("--out", metavar="DIR", help="output folder (default: ./metabroker-experiments/NAME)")
@click.option(
    "--quick", is_flag=True, help="fewer and shorter runs; minutes for all experiments together"
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N")
@click.option(
    "--trace", metavar="FILE", help="the CTC SP2 log (SWF), for the claims of ER about it"
)
@click.option(
    "--only",
    metavar="ID,...",
    help="with `claims` or `beyond`: only ids that begin so, such as BE,CO-03",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="N",
    help="number of processes (default: one per usable processor)",
)
@click.option("--afresh", is_flag=True, help="play also what is known from earlier calls")
@click.option("--dask", metavar="ADDRESS", help="run on the Dask scheduler at tcp://HOST:PORT")
@common.json_option
def experiment(
    names: tuple[str, ...],
    listed: bool,
    out: str | None,
    quick: bool,
    seed: int,
    trace: str | None,
    only: str | None,
    processes: int | None,
    afresh: bool,
    dask: str | None,
    as_json: bool,
) -> int:
    """Reproduce a table or figure of a paper: data as CSV, a plot as PNG, SVG and PDF.

    NAME is an experiment (be03-fig9, ...; --list prints all), `all`, `claims` or `beyond`. `claims`
    decides the papers' statements one by one, `beyond` our own. A run that several experiments need
    is done once; it is known to later calls, too, until a source of the simulator changes.
    """
    _check_installed()
    if listed:
        return _list(as_json)
    if not names:
        raise CliError(
            "no experiment is named", "list them with: metabroker experiment --list", USAGE
        )
    if dask is not None and processes is not None:
        raise CliError("--dask and --processes cannot go together", "leave one out", USAGE)
    chosen = _chosen(names)
    from metabroker.experiments import registry
    from metabroker.simulation.executor import executor_of, usable_processors

    if only is not None and not set(registry.TABLES) & set(chosen):
        raise CliError("--only selects claims", "name `claims`, or leave it out", USAGE)
    from metabroker.experiments.result_cache import ResultCache

    folders = {
        name: FOLDER / name if out is None else Path(out) / (name if len(chosen) > 1 else "")
        for name in chosen
    }
    kept = None if afresh else _kept()
    with executor_of(processes or usable_processors(), dask) as executor:
        results = ResultCache(executor, kept)
        return _perform(folders, results, _scale(quick, seed, trace), only, as_json)


def _kept() -> KeptResults | None:
    """What earlier calls have played; None where nothing can be kept."""
    from metabroker.experiments.result_cache import KeptResults, users_folder

    try:
        return KeptResults(users_folder())
    except (OSError, RuntimeError, sqlite3.Error):
        return None


def _check_installed() -> None:
    try:
        import matplotlib
        import scipy  # noqa: F401
    except ImportError as error:
        raise CliError(f"{error.name} is not installed", _EXTRA) from error
    del matplotlib


def _list(as_json: bool) -> int:
    from metabroker.cli.table import print_table
    from metabroker.experiments.registry import BEYOND, CLAIMS, experiments

    known = [(found.name, found.title, found.source) for found in experiments().values()]
    known.append((CLAIMS, "What the papers say of their results, decided one by one", "all"))
    known.append((BEYOND, "What we say of our own experiments, decided one by one", "ours"))
    if as_json:
        keys = ("name", "title", "source")
        found = [dict(zip(keys, entry, strict=True)) for entry in known]
        common.print_json({"experiments": found})
    else:
        print_table(("NAME", "TITLE", "SOURCE"), known)
    return 0


def _chosen(names: tuple[str, ...]) -> list[str]:
    """The names without repetitions, `all` resolved. Raises CliError for an unknown one."""
    from metabroker.experiments import registry

    found: dict[str, None] = {}
    for name in names:
        if name == "all":
            found.update(dict.fromkeys(registry.experiments()))
        elif name in registry.TABLES:
            found[name] = None
        else:
            try:
                found[registry.find(name).name] = None
            except registry.UnknownExperiment as error:
                advice = "list them with: metabroker experiment --list"
                if error.nearest is not None:
                    advice = f"did you mean {error.nearest}?"
                raise CliError(str(error), advice, USAGE) from error
    return list(found)


def _scale(quick: bool, seed: int, trace: str | None) -> Scale:
    from dataclasses import replace

    from metabroker.experiments import ctc
    from metabroker.experiments.scale import FULL, QUICK
    from metabroker.traces.errors import TraceError

    log = None if trace is None else Path(trace).absolute()
    if log is not None:
        try:
            ctc.check(log)
        except TraceError as error:
            raise CliError(f"{error.where}: {error.message}", error.advice, USAGE) from error
    return replace(QUICK if quick else FULL, seed=seed, ctc_log=log)


def _perform(
    folders: dict[str, Path], results: ResultCache, scale: Scale, only: str | None, as_json: bool
) -> int:
    """Play, write and tell; everything is played before the first is told, if it is JSON."""
    from metabroker.experiments import registry

    document: dict[str, object] = {"scale": scale.name, "seed": scale.seed}
    shown: list[object] = []
    for name, folder in folders.items():
        try:
            if name in registry.TABLES:
                document[name] = _claims(name, results, scale, only, folder, as_json)
            else:
                shown.append(_figure(name, results, scale, folder, as_json))
        except OSError as error:
            message = f"{folder} cannot be written: {error.strerror or error}"
            raise CliError(message, "choose another place with --out", FAILED) from error
    if as_json:
        if shown:
            document["experiments"] = shown
        common.print_json(document)
    return 0


def _figure(
    name: str, results: ResultCache, scale: Scale, folder: Path, as_json: bool
) -> dict[str, object]:
    from metabroker.experiments import output, tables
    from metabroker.experiments.registry import find

    result = find(name).result(results, scale)
    written = [str(path) for path in output.write(result, folder)]
    if not as_json:
        for line in tables.text(result):
            print(line)
        print(f"written: {', '.join(written)}\n", flush=True)
    return {
        "name": result.name,
        "title": result.title,
        "source": result.source,
        "notes": list(result.notes),
        "files": written,
        "values": tables.rows(result),
    }


def _claims(
    table: str,
    results: ResultCache,
    scale: Scale,
    only: str | None,
    folder: Path,
    as_json: bool,
) -> list[dict[str, object]]:
    from metabroker.experiments import claims, output

    wanted = None if only is None else [part.strip().upper() for part in only.split(",")]
    decided = claims.decide(results, scale, wanted, table)
    if not decided:
        raise CliError(
            f"no claim has an id that begins with {ascii(only)[:60]}",
            "write for example --only BE, or --only CO-03",
            USAGE,
        )
    written = output.write_claims(decided, scale, folder)
    if not as_json:
        for line in claims.text(decided):
            print(line)
        print(f"written, with all evidence: {', '.join(map(str, written))}\n", flush=True)
    return [found.as_json() for found in decided]
