"""`metabroker abandon`."""

from __future__ import annotations

import click

from metabroker.api.client import Json
from metabroker.cli import common
from metabroker.cli.errors import FAILED, complain
from metabroker.cli.table import print_table

_OVER = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"})


@click.command()
@click.argument("job", type=common.JobId())
@click.option(
    "--yes", is_flag=True, help="write it off; without this option, only tell what may still run"
)
@common.socket_option
@common.json_option
def abandon(job: int, yes: bool, socket_path: str | None, as_json: bool) -> int:
    """Write off JOB where its clusters cannot bring it to an end. For administrators.

    The command tells what may still run, so that somebody can go and look. Then the job is FAILED
    and its processors are free for other jobs. The daemon goes on trying to end it. Use this where
    `metabroker cancel` has no effect.
    """
    client = common.connect(socket_path)
    found = client.get(f"jobs/{job}")
    left = _left(found)
    if not as_json:
        _print(job, left)
    if yes:
        done = client.change(job, "abandon")
        if as_json:
            common.print_json({"job": done, "may_still_run": left, "abandoned": True})
        else:
            print(f"{job} {done.get('state', '')}")
        return 0
    if as_json:
        common.print_json({"job": found, "may_still_run": left, "abandoned": False})
    complain(
        f"job {job} is not written off yet", f"to write it off: metabroker abandon --yes {job}"
    )
    return FAILED


def _left(job: Json) -> list[Json]:
    """What clusters may hold of the job, as far as the broker knows."""
    running = job["state"] not in (*_OVER, "QUEUED", "HELD")
    left = [
        {
            "attempt": job["attempts"],
            "component": part["index"],
            **{key: part[key] for key in ("cluster", "native_id", "reservation", "hosts")},
            "detail": part.get("detail") or part["state"],
        }
        for part in job["components"]
        if running and part["state"] not in _OVER
    ]
    return left + [
        {
            **{key: part[key] for key in ("attempt", "component", "cluster")},
            "native_id": None,
            "reservation": part["name"],
            "hosts": [],
            "detail": part["detail"],
        }
        for part in job.get("left_behind") or ()
    ]


def _print(job: int, left: list[Json]) -> None:
    if not left:
        print(f"nothing of job {job} is known to be in a cluster")
        return
    heads = ("COMPONENT", "CLUSTER", "NATIVE", "RESERVATION", "HOSTS", "LAST SEEN")
    rows = [
        (
            f"{part['attempt']}.{part['component']}",
            *(part[key] for key in ("cluster", "native_id", "reservation")),
            ",".join(part["hosts"]),
            part["detail"],
        )
        for part in left
    ]
    print("may still run, and hold processors:")
    print_table(heads, rows)
