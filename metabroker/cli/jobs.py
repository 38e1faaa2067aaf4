"""`metabroker queue` and `show`."""

from __future__ import annotations

import click

from metabroker.cli import common


@click.command()
@click.option("-u", "--user", metavar="NAME", help="only this user's jobs")
@click.option("--me", is_flag=True, help="only your own jobs")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="at most N jobs, the oldest first"
)
@common.socket_option
@common.json_option
def queue(
    user: str | None, me: bool, limit: int | None, socket_path: str | None, as_json: bool
) -> None:
    """List waiting and running jobs: where they are, why each waits, and its position in its queue.

    AGE is the time since a job started or, if it has not, since it was submitted. START is when it
    started or, if known, the earliest time at which it may start.
    """
    client = common.connect(socket_path)
    name = client.get("whoami")["user"] if me else user
    pages = client.pages("jobs", "jobs", user=name, limit=limit)
    if as_json:
        common.print_json_pages("jobs", pages)
        return
    from metabroker.cli.views import print_queue

    print_queue(job for page in pages for job in page)


@click.command()
@click.argument("job", type=common.JobOrTasks())
@common.socket_option
@common.json_option
def show(job: int | str, socket_path: str | None, as_json: bool) -> None:
    """Show one JOB: its components, attempts, native ids, reservations and history."""
    answer = common.connect(socket_path).get(f"jobs/{job}")
    if as_json:
        common.print_json(answer)
        return
    from metabroker.cli.views import print_job

    print_job(answer)
