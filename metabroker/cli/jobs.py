"""`metabroker queue` and `show`."""

from __future__ import annotations

import click

from metabroker.cli import common


@click.command()
@click.option("-u", "--user", metavar="NAME", help="only this user's jobs")
@click.option("--me", is_flag=True, help="only your own jobs")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="at most N jobs, oldest first")
@common.socket_option
@common.json_option
def queue(
    user: str | None, me: bool, limit: int | None, socket_path: str | None, as_json: bool
) -> None:
    """Waiting and running jobs: where they are, why each waits, and its place in its queue.

    AGE is the time since a job started, or since it was submitted if it has not. START is when it
    started, or the earliest time it may start if that is known.
    """
    client = common.connect(socket_path)
    name = client.get("whoami")["user"] if me else user
    answer = client.get("jobs", user=name, limit=limit)
    if as_json:
        common.print_json(answer)
        return
    from metabroker.cli.views import print_queue

    print_queue(answer["jobs"])


@click.command()
@click.argument("job", type=common.JobId())
@common.socket_option
@common.json_option
def show(job: int, socket_path: str | None, as_json: bool) -> None:
    """One JOB: its components, attempts, native ids, reservations, and its history of events."""
    answer = common.connect(socket_path).get(f"jobs/{job}")
    if as_json:
        common.print_json(answer)
        return
    from metabroker.cli.views import print_job

    print_job(answer)
