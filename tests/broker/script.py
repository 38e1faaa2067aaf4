"""The language of the golden files: one event a line, followed by all that came of it.

    submit components=16,8 user=anna
    ----
    # 1.0 submitted: user=anna hold=False
    ...

Components are named job.attempt.component; `1.1.*` is all of them that are live. Where the store
came back from a backup, what was begun later has a term too: 1.1.0.1.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from metabroker.broker.events import (
    AbandonJob,
    Armed,
    Arrived,
    CancelJob,
    Cleaned,
    ClusterUnreachable,
    Discarded,
    DrainCluster,
    Ended,
    Event,
    Fetched,
    GaveUp,
    HoldJob,
    Observed,
    Opened,
    Refused,
    ReleaseJob,
    Reserved,
    ResumeCluster,
    Staged,
    Started,
    SubmitJob,
    Submitted,
    Unsure,
)
from metabroker.broker.job import NewJob, Split
from metabroker.broker.observation import (
    Coming,
    NativeJob,
    NativeReservation,
    NativeState,
    Snapshot,
)
from metabroker.broker.rejected import Rejected
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.submission.tasks import parse_array

from .bench import START, Bench

_NATIVE = {
    "PENDING": NativeState.PENDING,
    "RUNNING": NativeState.RUNNING,
    "SUSPENDED": NativeState.RUNNING,
    "COMPLETED": NativeState.ENDED,
    "FAILED": NativeState.ENDED,
    "CANCELLED": NativeState.ENDED,
    "TIMEOUT": NativeState.ENDED,
    "NODE_FAIL": NativeState.ENDED,
}
_CAUSES = {
    "FAILED": Cause.KILLED,
    "CANCELLED": Cause.KILLED,
    "TIMEOUT": Cause.OVERTIME,
    "NODE_FAIL": Cause.NODE,
}


class Script:
    """Plays a file's lines."""

    def __init__(self) -> None:
        self.bench: Bench | None = None
        self._backup = b""

    def close(self) -> None:
        """Let go of the bench."""
        if self.bench is not None:
            self.bench.close()

    def play(self, line: str) -> list[str]:
        """One line, and what came of it in words."""
        words = shlex.split(line)
        command, args = words[0], [w for w in words[1:] if "=" not in w]
        options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        if command == "begin":
            return self._begin(options)
        assert self.bench is not None, "a file starts with `begin`"
        others: dict[str, Callable[[list[str], dict[str, str]], list[str]]] = {
            "wait": self._wait,
            "restart": self._restart,
            "idle": self._idle,
            "queues": self._queues,
            "look": self._look,
            "backup": self._back_up,
            "come-back": self._come_back,
            "leftovers": self._leftovers,
        }
        if command in others:
            return others[command](args, options)
        return self._events(_Events(self.bench).of(command, args, options))

    def _begin(self, options: dict[str, str]) -> list[str]:
        clusters = dict(_sizes(options.pop("clusters")))
        retries = {k: int(v) for k, v in options.items() if k.endswith("_retries")}
        self.bench = Bench(
            clusters,
            policy=options.get("policy", "GS"),
            units=dict(_sizes(options["units"])) if "units" in options else None,
            placeholders=options.get("placeholders", "").split(","),
            submission_retries=retries.get("submission_retries", 3),
            completion_retries=retries.get("completion_retries", 0),
        )
        return []

    @property
    def _on(self) -> Bench:
        assert self.bench is not None
        return self.bench

    def _events(self, events: list[Event]) -> list[str]:
        try:
            return self._on.describe(self._on.handle(*events))
        except Rejected as rejected:
            return [f"rejected: {rejected.message}; {rejected.advice}"]

    # --- what is no event ---------------------------------------------------------------------

    def _wait(self, args: list[str], _options: dict[str, str]) -> list[str]:
        """Time passes, with a tick whenever one is due."""
        lines = []
        for time, ready in self._on.ticks(float(args[0])):
            said = self._on.describe(ready)
            lines += [f"at {self._on.clock(time)}", *(f"  {line}" for line in said)] if said else []
        return lines

    def _restart(self, _args: list[str], _options: dict[str, str]) -> list[str]:
        """The daemon was killed, and starts from the store."""
        return self._on.describe(self._on.restart())

    def _back_up(self, _args: list[str], _options: dict[str, str]) -> list[str]:
        """The store is copied."""
        self._backup = self._on.back_up()
        return []

    def _come_back(self, args: list[str], _options: dict[str, str]) -> list[str]:
        """The daemon starts from that copy."""
        return self._on.describe(self._on.come_back(self._backup, release="release" in args))

    def _leftovers(self, args: list[str], _options: dict[str, str]) -> list[str]:
        """What is there of the lost time; those named are wanted no more."""
        bench = self._on
        for left in bench.broker._saga.orphans:
            left.unwanted = left.unwanted or left.token in args
        return [f"{bench.name(left.cluster)} {left.token}" for left in bench.broker._saga.orphans]

    def _idle(self, _args: list[str], _options: dict[str, str]) -> list[str]:
        """What the broker could get now."""
        bench = self._on
        idle = bench.broker._state.ledger.available(bench.now)
        return [f"{name} {n}" for name, n in zip(bench.names.names, idle, strict=True)]

    def _queues(self, _args: list[str], _options: dict[str, str]) -> list[str]:
        """Who waits where, from the head on."""
        bench = self._on
        lines: dict[int, list[str]] = {}
        for job in sorted(bench.broker.view.jobs.values(), key=lambda job: job.seq):
            if job.state is JobState.QUEUED:
                lines.setdefault(job.queue, []).append(str(job.id))
        return [
            f"{bench.names.queue(queue) or 'global'}: {' '.join(keys)}"
            for queue, keys in sorted(lines.items())
        ]

    def _look(self, args: list[str], options: dict[str, str]) -> list[str]:
        """A look at clusters: `look delft others=10 1.1.0=RUNNING:16 2.1.0=RUNNING+reserved:8`."""
        return self._events([_look(self._on, self._on.names.names.index(c), options) for c in args])


def _sizes(text: str) -> list[tuple[str, int]]:
    """delft:64,leiden:32"""
    words = (word.split(":") for word in text.split(","))
    return [(name, int(size)) for name, size in words]


def _look(bench: Bench, cluster: int, options: dict[str, str]) -> Observed:
    processors = int(options.get("processors", bench.settings.clusters[cluster].processors))
    ours: dict[str, int] = {}
    jobs: dict[str, NativeJob] = {}
    reservations: dict[str, NativeReservation] = {}
    taken_at = bench.now - float(options.get("ago", 0))
    for key, value in options.items():
        if not key[0].isdigit():
            continue
        token = bench.token(_ref(key))
        word, _, held = value.partition(":")
        word, _, reserved = word.rpartition("+") if "+" in word else (word, "", word)
        if reserved in ("reserved", "degraded"):
            lost = reserved == "degraded"
            reservations[token] = NativeReservation(int(held), degraded=lost)
        if word not in ("reserved", "degraded"):
            state = _NATIVE.get(word, NativeState.UNKNOWN)
            cause = _CAUSES.get(word)
            code = 0 if word == "COMPLETED" else None
            stands = word == "SUSPENDED"
            jobs[token] = NativeJob(
                "7", taken_at, state, word, exit_code=code, cause=cause, suspended=stands
            )
        if held:
            ours[token] = int(held)
    return Observed(
        cluster,
        Snapshot(
            taken_at=taken_at,
            processors=processors,
            usable=int(options.get("usable", processors)),
            busy=int(options.get("others", 0)) + sum(ours.values()),
            ours=ours,
            jobs=jobs,
            reservations=reservations,
            coming=[
                _coming(bench.now, text) for text in options.get("coming", "").split(",") if text
            ],
            settled="unsettled" not in options,
        ),
    )


def _coming(now: float, text: str) -> Coming:
    """course:300:8 or course:300:16:8: in 300 s, 16 processors, of which 8 are idle now."""
    name, later, processors, *idle = text.split(":")
    start, held = now + float(later), int(processors)
    return Coming(name, start, start + 3600, held, int(idle[0]) if idle else held, name == "maint")


def _native_id(ref: Ref) -> str:
    """An id that no other component gets."""
    return str(1000 * ref.job + 100 * ref.attempt + ref.component - 1000)


def _ref(text: str) -> Ref:
    return Ref(*map(int, text.split(".")))


class _Events:
    """From a line's words to the broker's events."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def of(self, command: str, args: list[str], options: dict[str, str]) -> list[Event]:
        """The events of one line."""
        if command == "submit":
            return [SubmitJob(self._job(args, options))]
        if command in ("cancel", "hold", "release", "abandon"):
            by = options.get("by", "anna")
            kinds: dict[str, Callable[[int, str], Event]]
            kinds = {
                "cancel": CancelJob,
                "hold": HoldJob,
                "release": ReleaseJob,
                "abandon": AbandonJob,
            }
            return [kinds[command](int(number), by) for number in args]
        if command in ("drain", "resume"):
            cluster, by = self._bench.names.names.index(args[0]), options.get("by", "root")
            if command == "resume":
                return [ResumeCluster(cluster, by)]
            return [DrainCluster(cluster, by, options.get("why", ""))]
        if command == "lost":
            index = self._bench.names.names.index(args[0])
            return [ClusterUnreachable(index, options.get("why", "connect failure"))]
        refs = [ref for arg in args if "." in arg for ref in self._refs(arg)]
        rest = [arg for arg in args if "." not in arg]
        return [self._reply(command, ref, rest, options) for ref in refs]

    def _refs(self, text: str) -> list[Ref]:
        if not text.endswith(".*"):
            return [_ref(text)]
        job, attempt, _ = text.split(".")
        found = [
            r
            for c in self._bench.broker._saga.claims.live
            for r in c
            if r[:2] == (int(job), int(attempt))
        ]
        owed = [
            r for r in self._bench.broker._saga.claims.known if r[:2] == (int(job), int(attempt))
        ]
        return sorted({*found, *owed})

    def _job(self, args: list[str], options: dict[str, str]) -> NewJob:
        names = self._bench.names.names
        where: tuple[int, ...] | None = None
        local: int | None = None
        if "on" in options:
            parts = [part.split(":") for part in options["on"].split(",")]
            where = tuple(names.index(name) for name, _ in parts)
            sizes = tuple(int(size) for _, size in parts)
            local = where[0] if len(where) == 1 else None
        else:
            asked = options.get("n") or options.get("total") or options["components"]
            sizes = tuple(map(int, asked.split(",")))
        home = names.index(options["home"]) if "home" in options else None
        return NewJob(
            user=options.get("user", "anna"),
            name=options.get("name", "job"),
            request=Request(sizes, where),
            time_limit=int(options.get("limit", 600)),
            local=local,
            home=home,
            hold="held" in args,
            stages_in="sends" in args,
            stages_out="fetches" in args,
            array=parse_array(options["array"]) if "array" in options else None,
            split=Split(int(options.get("parts", len(names)))) if "total" in options else None,
        )

    def _reply(self, command: str, ref: Ref, rest: list[str], options: dict[str, str]) -> Event:
        now = self._bench.now
        why = options.get("why", "")
        hosts = f"n{ref.component}"
        code = int(options["exit"]) if "exit" in options else None
        cause = Cause(options["cause"]) if "cause" in options else None
        if command == "cleaned":
            since = START if "started" in rest else None
            end = now if since else None
            shut, doubtful = "shut" in rest, "doubtful" in rest
            signalled = "signalled" in rest
            return Cleaned(
                ref, "started" in rest, since, end, code, cause, shut, doubtful, signalled=signalled
            )
        if command == "refused":
            return Refused(ref, Step(rest[0]), cause or Cause.BUSY, why or "nodes are busy")
        if command == "unsure":
            return Unsure(ref, Step(rest[0]), why or "timed out", "fenced" in rest)
        if command == "ended":
            return Ended(ref, now, code or 0, "signalled" in rest)
        replies: dict[str, Event] = {
            "reserved": Reserved(ref),
            "submitted": Submitted(ref, _native_id(ref), now),
            "armed": Armed(ref),
            "opened": Opened(ref),
            "staged": Staged(ref, 2, 300),
            "fetched": Fetched(ref, 1, 20, "/home/anna/results"),
            "discarded": Discarded(ref),
            "arrived": Arrived(ref, hosts),
            "started": Started(ref, now, hosts),
            "gave-up": GaveUp(ref),
        }
        return replies[command]
