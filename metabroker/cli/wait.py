"""`metabroker wait`."""

from __future__ import annotations

import click

from metabroker.cli import common
from metabroker.cli.waiting import exit_code, tell_end, wait_for


@click.command()
@click.argument("jobs", nargs=-1, required=True, type=common.JobId(), metavar="JOB...")
@common.socket_option
@common.json_option
def wait(jobs: tuple[int, ...], socket_path: str | None, as_json: bool) -> int:
    """Wait until each JOB has ended; exit with the job's exit code.

    The code is 1 where a job ended otherwise than by its script's exit (cancelled, time limit).
    With several jobs it is the first one's that is not 0. A restart of the daemon is waited out.
    """
    client = common.connect(socket_path)
    ended = []
    for job in jobs:
        ended.append(wait_for(client, job))
        tell_end(ended[-1])
        if not as_json:
            state, code = ended[-1]["state"], ended[-1].get("exit_code")
            print(f"{job} {state}" + ("" if code is None else f" {code}"), flush=True)
    if as_json:
        common.print_json({"jobs": ended})
    return next((code for code in map(exit_code, ended) if code), 0)
