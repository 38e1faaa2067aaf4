"""`metabroker doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from metabroker.api.client import Client, ClientError, Json
from metabroker.cli import common
from metabroker.cli.errors import FAILED, one_line

if TYPE_CHECKING:
    from metabroker.doctor import Report

_WORDS = {"ok": "ok     ", "warning": "warning", "missing": "MISSING"}


@click.command()
@click.option("--config", "file", required=True, metavar="FILE", help="the configuration")
@click.option("--run", "jobs", is_flag=True, help="also run a job of one processor in each cluster")
@click.option(
    "--links",
    "between",
    is_flag=True,
    help="also run a trial job in each cluster, and measure how their nodes reach each other",
)
@common.json_option
def doctor(file: str, jobs: bool, between: bool, as_json: bool) -> int:
    """Contact each cluster and tell what works, what is missing, and how to mend it.

    To see whether reserving is allowed, a reservation of one processor, a month ahead, is made and
    deleted. Run it as the daemon's account. The exit code is 1 if anything needed is missing.
    """
    config = common.configuration(file)
    from metabroker.doctor import Report, examine, examine_host, examine_links

    host = Report("this host", examine_host(config))
    if not as_json:
        _print(host)
    reports: list[Report] = []
    for report in examine(config, jobs=jobs, folder=Path.cwd()):
        reports.append(report)
        if not as_json:
            _print(report)
    pairs: list[Report] = []
    kept = ""
    if between:
        pairs, links = examine_links(config, Path.cwd())
        kept = _kept(str(config.socket), [link.told() for link in links])
        if not as_json:
            for report in pairs:
                _print(report)
            print("kept: see `metabroker clusters --links`" if not kept else f"not kept: {kept}")
    well = all(report.well for report in (host, *reports, *pairs))
    if as_json:
        told = [_data(report) for report in reports]
        answer = {"ok": well, "host": _data(host), "clusters": told}
        if between:
            answer |= {"links": [_data(each) for each in pairs], "kept": not kept}
        common.print_json(answer)
    return 0 if well else FAILED


def _kept(socket: str, links: list[Json]) -> str:
    """Have the daemon keep what was measured; why it does not, if so."""
    try:
        Client(socket).tell_links(links)
    except ClientError as error:
        return error.message
    return ""


def _print(report: Report) -> None:
    for found in report.findings:
        word = _WORDS[found.outcome.value]
        print(one_line(f"{report.cluster}  {word}  {found.check}: {found.said} [{found.tried}]"))
        if found.advice:
            print(one_line(f"{' ' * len(report.cluster)}           -> {found.advice}"), flush=True)


def _data(report: Report) -> dict[str, object]:
    return {
        "name": report.cluster,
        "ok": report.well,
        "findings": [
            {
                "check": found.check,
                "outcome": found.outcome.value,
                "tried": found.tried,
                "said": found.said,
                "advice": found.advice or None,
            }
            for found in report.findings
        ],
    }
