"""What holds after every fault, once it is healed."""

from __future__ import annotations

from collections import Counter, defaultdict

from metabroker.api.client import Client
from metabroker.submission.model import Processors, Submission
from metabroker.submission.wire import to_wire
from tests.daemon.harness import Json, Site, eventually

# Wide enough that only a fault, and never a slow machine, uses them up.
PATIENT: Json = {
    "timeouts": {"command": "10s", "reserve": "60s", "submit": "60s", "barrier": "60s"},
}


UNTIL_END = "until [ -e end ]; do sleep 0.1; done"


def send(site: Site, request: str, script: str, timeout: float, patience: float) -> int:
    """Submit a script for one processor as the command line does; the job's number.

    Raises `ClientError` where that is not acknowledged."""
    wire = to_wire(
        Submission(
            script=script.encode(),
            script_name="script",
            processors=Processors(single=1),
            chdir=str(site.work),
            request_id=request,
        )
    )
    return int(Client(site.socket, timeout=timeout, patience=patience).submit(wire)["job"])


def whole(site: Site, *, traceback: bool = False) -> None:
    """Each component ran once in an attempt, all of an attempt or none, nothing is left behind,
    nothing is owed, and the daemon had no accident and ends in good order.

    With `traceback` an accident in its log is what the test was after.
    """
    site.wait_clean()
    eventually(lambda: site.client.get("status")["owed_effects"] == 0, "nothing is owed any more")
    once_and_together(site)
    assert site.client.get("status")["store"] == "ok"
    assert site.stop() == 0, site.story()
    assert traceback or "Traceback" not in site.log.read_text(), site.story(200)


def once_and_together(site: Site) -> None:
    """No component started twice in an attempt (P2); of no attempt only a part started (P3)."""
    runs = site.runs()
    often = Counter((run.job, run.attempt, run.component) for run in runs)
    assert not [run for run, times in often.items() if times > 1], f"twice: {runs}"
    parts = defaultdict(set)
    for run in runs:
        parts[run.job, run.attempt].add(run.component)
    for (job, attempt), started in parts.items():
        wanted = {part["index"] for part in site.job(job)["components"]}
        assert started == wanted, f"job {job}, attempt {attempt}: only {started} of {wanted}"
