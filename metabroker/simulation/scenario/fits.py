"""Jobs that could never run: found before anything is simulated, and blamed on a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from metabroker.config.keys import Key
from metabroker.config.problems import Problem
from metabroker.policy import Limits, Planner, Request
from metabroker.simulation.system import System
from metabroker.simulation.workloads.latency import Groups
from metabroker.simulation.workloads.replay import Replay
from metabroker.traces.errors import TraceError
from metabroker.traces.lines import lines

from .errors import Wrong, blamed


class Room:
    """What can run on a system at all; `near`: see `Run`. Raises Wrong for a policy that cannot be
    made."""

    def __init__(
        self, system: System, names: Iterable[str], limits: Limits, near: Groups = ()
    ) -> None:
        with blamed(("policy",), "choose another policy, or other clusters"):
            self._policy = system.scheduler(0, 0)
        self._processors = system.processors
        self._names = tuple(names)
        self._limits = limits
        self._near = near
        self._known: dict[tuple[object, int], str] = {}

    def why_not(self, request: Request, local: int) -> str:
        """Why a job submitted at the cluster `local` could never run; empty if it could."""
        kind = (request.shape, local)
        if kind not in self._known:
            self._known[kind] = self._why_not(request, local)
        return self._known[kind]

    def _why_not(self, request: Request, local: int) -> str:
        refusal = self._limits.check(request.sizes)
        if refusal is not None:
            return f"{_shown(request)} is beyond the limits: {refusal}"
        if self._near and not request.single:
            request = replace(request, groups=self._near)
        policy = self._policy
        near = " in clusters that are near enough to each other" if request.groups else ""
        if isinstance(policy, Planner):
            fits, where = policy.ever_fits(request), near
        else:
            queue = policy.queue_of(request, local)
            fits = policy.ever_fits(request, queue, self._processors)
            if queue < len(self._names) and request.single:
                where = f" in the local queue of {self._names[queue]}"
            else:
                where = near
        if fits:
            return ""
        sizes = ", ".join(map(str, self._processors))
        return f"{_shown(request)} can never run{where} (processors of the clusters: {sizes})"

    def check(self, requests: Iterable[Request], shares: Iterable[float], key: Key) -> None:
        """See that all requests fit wherever they may be submitted. Raises Wrong."""
        places = [place for place, share in enumerate(shares) if share]
        for request in requests:
            for place in places:
                why = self.why_not(request, place)
                if why:
                    advice = "make the jobs smaller, or the clusters or limits larger"
                    raise Wrong([Problem(key, f"has jobs that are too large: {why}", advice)])

    def check_log(self, replay: Replay, count: int, key: Key) -> None:
        """See that all jobs of a log fit. Raises Wrong naming the log's line."""
        for entry, job in zip(replay.entries(count), replay.jobs(count=count), strict=True):
            why = self.why_not(job.request, job.local)
            if why:
                line = _line(replay.trace.file, entry.number)
                message = f"{replay.trace.file}:{line}: job {entry.number}: {why}"
                advice = "set `workload.swf.max_size`, or make the clusters or limits larger"
                raise Wrong([Problem(key, message, advice)])


def _shown(request: Request) -> str:
    return f"a job of {'+'.join(map(str, request.sizes))} processors"


def _line(file: str, number: int) -> int:
    """The line of a job in a log, by its number; 1 if it cannot be found any more."""
    try:
        for line, text in lines(file):
            if text.split(maxsplit=1)[:1] == [str(number)]:
                return line
    except TraceError:
        pass
    return 1
