"""The users: each submits a job, cancels or holds it as its plan says, waits for its end, and goes
on with the next. Whoever gets no answer asks again, with the same request id.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from metabroker.api.client import ENDED, Client, ClientError
from metabroker.submission.model import Submission
from metabroker.submission.wire import to_wire
from tests.daemon.harness import Site

from .work import INPUT, Plan

Json = dict[str, Any]
_GIVE_UP = 300.0  # seconds in which a submission must be acknowledged at last
_STAGED = {"stage_in": (INPUT,), "stage_out": ("result.*",)}


@dataclass
class Told:
    """What a user was told of one job."""

    plan: Plan
    job: int
    submitted: float  # Unix time
    numbers: set[int] = field(default_factory=set)  # all that its request id was answered with
    cancelled: bool = False  # asked for, whatever came of it
    state: str | None = None  # the end that it was told first
    heard: float | None = None  # when it was told that; Unix time


class People:
    """`users` at a time, until `stop`; `told` is what they know."""

    def __init__(
        self, sites: Sequence[Site], plans: Iterator[Plan], users: int, prefix: str
    ) -> None:
        """Each asks one of the brokers, and all of them if that does not answer."""
        self.told: list[Told] = []
        self.accidents: list[str] = []  # what should not have been answered
        self.refused = 0
        self._sites = sites
        self._site = sites[0]
        self._plans = plans
        self._prefix = prefix
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._user, args=(number,), daemon=True)
            for number in range(users)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """No new jobs; those under way come to their ends."""
        self._stopped.set()

    def wait(self, seconds: float) -> list[Told]:
        """Until every user's last job has ended; the jobs that have not."""
        give_up = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, give_up - time.monotonic()))
        with self._lock:
            return [told for told in self.told if told.state is None]

    def _user(self, number: int) -> None:
        turn = number % len(self._sites)
        sites = (*self._sites[turn:], *self._sites[:turn])
        clients = [Client(site.socket, timeout=30.0, patience=120.0) for site in sites]
        while not self._stopped.is_set():
            with self._lock:
                plan = next(self._plans)
            try:
                self._live(clients, plan)
            except Exception as error:
                with self._lock:
                    self.accidents.append(f"job of request {plan.number}: {error!r}")

    def _live(self, clients: Sequence[Client], plan: Plan) -> None:
        client, last = clients[0], clients[-1]
        wire = self._wire(plan)
        if plan.twice:
            with ThreadPoolExecutor(2) as both:
                numbers = set(both.map(lambda asked: self._submit(asked, wire), (client, last)))
        elif plan.by_command:
            # By hand first, then by the API as one who did not see the answer.
            numbers = {self._submit_by_command(plan), self._submit(last, wire)}
        else:
            numbers = {self._submit(client, wire)}
        told = Told(plan, max(numbers), time.time(), numbers)
        with self._lock:
            self.told.append(told)
        self._meddle(client, told)
        told.state = client.wait(told.job, lambda _state: None, every=20.0, began=True)["state"]
        told.heard = time.time()
        assert told.state in ENDED

    def _submit(self, client: Client, wire: Json) -> int:
        """Acknowledged in the end: asked again, whatever happens to the daemon."""
        give_up = time.monotonic() + _GIVE_UP
        while True:
            try:
                return int(client.submit(wire)["job"])
            except ClientError as error:
                if error.status is not None and 400 <= error.status < 500 and error.status != 429:
                    raise
                if time.monotonic() > give_up:
                    raise
            time.sleep(0.2)

    def _submit_by_command(self, plan: Plan) -> int:
        """`metabroker submit`, repeated as it tells one to."""
        words = ["submit", "--json", "--request-id", self._request(plan), *_options(plan)]
        file = self._site.folder / f"script-{plan.number}"
        file.write_text(plan.script(self._site.work))
        give_up = time.monotonic() + _GIVE_UP
        site = self._sites[plan.number % len(self._sites)]
        while (done := site.cli(*words, str(file))).returncode != 0:
            if time.monotonic() > give_up or "Traceback" in done.stderr:
                raise AssertionError(done.stderr)
            time.sleep(0.2)
        file.unlink()
        return int(json.loads(done.stdout)["job"])

    def _meddle(self, client: Client, told: Told) -> None:
        """What the user does to the job; a refusal (it has ended, it runs) is an answer too."""
        if told.plan.deed is None:
            return
        time.sleep(told.plan.after)
        if told.plan.deed == "cancel":
            told.cancelled = True
            self._change(client, told.job, "cancel")
            return
        self._change(client, told.job, "hold")
        time.sleep(1.0)
        self._change(client, told.job, "release")

    def _change(self, client: Client, job: int, verb: str) -> None:
        give_up = time.monotonic() + _GIVE_UP
        while time.monotonic() < give_up:
            with suppress(ClientError):
                client.change(job, verb)
                return
            try:
                state = client.get(f"jobs/{job}")["state"]
            except ClientError:
                state = None
            # A held job must be released; any other change may come too late.
            if state is not None and (verb != "release" or state != "HELD"):
                with self._lock:
                    self.refused += 1
                return
            time.sleep(0.2)

    def _request(self, plan: Plan) -> str:
        return f"{self._prefix}-{plan.number}"

    def _wire(self, plan: Plan) -> Json:
        return to_wire(
            Submission(
                script=plan.script(self._site.work).encode(),
                script_name="soak",
                processors=plan.processors,
                chdir=str(self._site.work),
                submit_dir=str(self._site.work),
                time_limit=plan.limit,
                output="/dev/null",
                request_id=self._request(plan),
                **(_STAGED if plan.fate == "staged" else {}),  # type: ignore[arg-type]
            )
        )


def _options(plan: Plan) -> list[str]:
    """The plan as words of the command line."""
    asked = plan.processors
    if asked.components is not None:
        size = ["--components", ",".join(map(str, asked.components))]
    elif asked.on is not None:
        size = ["--on", ",".join(f"{name}:{count}" for name, count in asked.on)]
    elif asked.total is not None:
        size = ["--total", str(asked.total)]
    else:
        size = ["-n", str(asked.single), *(["--cluster", asked.cluster] if asked.cluster else [])]
    files = ["--stage-in", INPUT, "--stage-out", "result.*"] if plan.fate == "staged" else []
    return [*size, "-t", str(plan.limit // 60), "-o", "/dev/null", *files]
