"""The policies again, as slow and obvious as can be: every rule is evaluated from the job list.

Written from BE03 2.5, BE07 2.3, DCS 2.4 and the definition of aging, without the data structures
of the real one: jobs are counted one by one, queues are filtered out of one list, each start looks
at every waiting job.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from metabroker.policy import Aging, Options, Placement, Request, Rng


def worst_fit(sizes: Sequence[int], idle: Sequence[int]) -> list[int] | None:
    """BE03 2.4: sort once, the i-th largest on the i-th most idle, distinct clusters."""
    components = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    clusters = sorted(range(len(idle)), key=lambda c: (-idle[c], c))
    chosen = [-1] * len(sizes)
    for rank, component in enumerate(components):
        if rank >= len(clusters) or idle[clusters[rank]] < sizes[component]:
            return None
        chosen[component] = clusters[rank]
    return chosen


def worst_fit_reuse(sizes: Sequence[int], idle: Sequence[int]) -> list[int] | None:
    """DCS 2.4, with its lists N and Y."""
    left = list(idle)
    n = sorted(range(len(idle)), key=lambda c: (-left[c], c))
    y: list[int] = []
    chosen = [-1] * len(sizes)
    for component in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
        if n and left[n[0]] >= sizes[component]:
            cluster = n.pop(0)
            y.append(cluster)
        elif y and left[y[0]] >= sizes[component]:
            cluster = y[0]
        else:
            return None
        left[cluster] -= sizes[component]
        y.sort(key=lambda c: (-left[c], c))
        chosen[component] = cluster
    return chosen


@dataclass
class Job:
    """A waiting job."""

    key: int
    sizes: tuple[int, ...]
    wanted: tuple[int, ...] | None
    queue: int
    joined: float
    seq: int
    clusters: frozenset[int]
    """Where it could run."""
    overtaken: int = 0


@dataclass
class Reference:
    """The same calls as a Scheduler, for any policy."""

    policy: str
    clusters: int
    placement: str
    discipline: str
    aging: Aging | None = None
    rng: Rng | None = None
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        self.jobs: list[Job] = []
        self.next_seq = 0
        self.departed = False
        self.released: list[int] = []
        self.news: list[Job] = []
        self.last_seq = 0
        self.capacity: list[int] | None = None
        self.moment = 0
        self.disabled_at = dict.fromkeys(range(self.clusters), -1)
        self.most_overtaken = 0

    # What happens.

    def arrive(
        self, key: int, request: Request, queue: int, now: float, seq: int | None = None
    ) -> None:
        if seq is None:
            seq = self.next_seq
        self.next_seq = max(self.next_seq, seq + 1)
        everywhere = frozenset(range(self.clusters))
        if request.clusters is not None:
            clusters = frozenset(request.clusters)
        elif len(request.sizes) == 1 and queue < self.clusters:
            clusters = frozenset([queue])
        else:
            clusters = everywhere
        job = Job(key, request.sizes, request.clusters, queue, now, seq, clusters)
        in_front = [other for other in self.queue(queue) if other.seq < seq]
        self.jobs.append(job)
        self.jobs.sort(key=lambda other: other.seq)
        if seq < self.last_seq and self.discipline == "FCFS":
            self.departed = True
        if self.is_aside(job):
            return
        if self.discipline == "FPFS" or not in_front or in_front[0].seq >= self.last_seq:
            self.news.append(job)
        if self.policy == "LQ" and self.options.lq == "arrival":
            self.departed = True

    def remove(self, key: int) -> None:
        self.jobs = [job for job in self.jobs if job.key != key]
        self.departed = True

    def depart(self, clusters: Sequence[int] = ()) -> None:
        self.departed = True
        self.released.extend(clusters)

    def run(
        self, idle: list[int], now: float, capacity: Sequence[int] | None = None
    ) -> list[tuple[int, Placement]]:
        self.idle, self.now = idle, now
        self.starts: list[tuple[int, Placement]] = []
        if capacity is not None:
            before = {job.key for job in self.jobs if self.is_aside(job)}
            self.capacity = list(capacity)
            if before != {job.key for job in self.jobs if self.is_aside(job)}:
                self.departed = True
        news = [job for job in self.news if job in self.jobs]
        departed, self.departed, self.news = self.departed, False, []
        if departed or news:
            self.protected_first()
        if departed:
            self.departure_pass()
            self.released = []
        elif news:
            self.arrival_pass(news)
        self.last_seq = self.next_seq
        return self.starts

    # What is the case.

    def queue(self, index: int) -> list[Job]:
        return [job for job in self.jobs if job.queue == index and not self.is_aside(job)]

    def non_empty_locals(self) -> list[int]:
        return [index for index in range(self.clusters) if self.queue(index)]

    def is_aside(self, job: Job) -> bool:
        return self.capacity is not None and self.place(job, self.capacity) is None

    def place(self, job: Job, idle: Sequence[int]) -> list[int] | None:
        if job.wanted is not None:
            left = list(idle)
            for size, cluster in zip(job.sizes, job.wanted, strict=True):
                left[cluster] -= size
            return list(job.wanted) if all(left[cluster] >= 0 for cluster in job.wanted) else None
        if len(job.clusters) == 1 and job.queue < self.clusters:
            return [job.queue] if idle[job.queue] >= job.sizes[0] else None
        rule = worst_fit if self.placement == "worst-fit" else worst_fit_reuse
        return rule(job.sizes, idle)

    def is_protected(self, job: Job) -> bool:
        if self.aging is None or self.is_aside(job):
            return False
        bound, wait = self.aging.overtaken, self.aging.wait
        by_count = bound is not None and job.overtaken >= bound
        return by_count or (wait is not None and self.now - job.joined >= wait)

    def protected_heads(self) -> list[Job]:
        """The oldest protected job of every set of clusters."""
        protected_heads: dict[frozenset[int], Job] = {}
        for job in self.jobs:
            if self.is_protected(job):
                protected_heads.setdefault(job.clusters, job)
        return list(protected_heads.values())

    def fit(self, job: Job) -> list[int] | None:
        left = list(self.idle)
        for other in self.jobs:
            if other.seq < job.seq and self.is_protected(other):
                for cluster in other.clusters:
                    left[cluster] = 0
        return self.place(job, left)

    # What is done.

    def start(self, job: Job, placement: list[int]) -> None:
        self.jobs.remove(job)
        for size, cluster in zip(job.sizes, placement, strict=True):
            self.idle[cluster] -= size
            assert self.idle[cluster] >= 0
        for other in self.jobs:
            if other.seq < job.seq and other.clusters & set(placement):
                other.overtaken += 1
                if not self.is_aside(other):
                    self.most_overtaken = max(self.most_overtaken, other.overtaken)
        self.starts.append((job.key, tuple(placement)))

    def visit(self, index: int, last: float = float("inf")) -> bool:
        """Start one job of the queue, if the discipline finds one; jobs up to `last` only."""
        jobs = self.queue(index)
        for job in jobs if self.discipline == "FPFS" else jobs[:1]:
            placement = self.fit(job)
            if job.seq <= last and placement is not None:
                self.start(job, placement)
                return True
        return False

    def disable(self, index: int) -> None:
        self.moment += 1
        self.disabled_at[index] = self.moment

    def protected_first(self) -> None:
        done: list[int] = []
        while True:
            protected_heads = [job for job in self.protected_heads() if job.queue not in done]
            if not protected_heads:
                return
            index = protected_heads[0].queue
            if not self.visit(index, protected_heads[0].seq):
                done.append(index)
            elif not self.queue(index):
                self.disable(index)

    def departure_pass(self) -> None:
        if self.policy == "LQ" and self.options.lq != "departure":
            self.longest_queue_pass()
        else:
            self.rounds(self.order_at_departure())

    def rounds(self, enabled: list[int], opened: bool | None = None) -> None:
        if opened is None:
            opened = self.policy.startswith("LP") and bool(self.empty_local())
        while enabled:
            gone = []
            for index in enabled:  # grows while it is visited
                if not self.visit(index):
                    self.disable(index)
                    gone.append(index)
                elif not self.queue(index):
                    self.disable(index)
                    gone.append(index)
                    more = self.opened_by_emptying(index, opened)
                    opened = opened or bool(more)
                    enabled.extend(more)
            enabled = [index for index in enabled if index not in gone]

    def empty_local(self) -> list[int]:
        return [index for index in range(self.clusters) if not self.queue(index)]

    def opened_by_emptying(self, index: int, opened: bool) -> list[int]:
        top = self.clusters
        if self.policy == "GP" and index == top and self.options.gp == "same-pass":
            return self.non_empty_locals()
        if self.policy.startswith("LP") and index != top and not opened and self.queue(top):
            return [top]
        return []

    def order_at_departure(self) -> list[int]:
        """The non-empty queues that a departure enables, in order."""
        top = self.clusters
        local = self.non_empty_locals()
        glob = [top] if self.queue(top) else []
        match self.policy.split("-"):
            case ["GS"] | ["FCFS"] | ["FPFS"]:
                return glob
            case ["LS", "OR"]:
                return local
            case ["LS", "RD"]:
                first = self.draw(top) if len(local) > 1 else 0
                cycle = [(first + step) % top for step in range(top)]
                return [index for index in cycle if index in local]
            case ["LS", "RO"]:
                order = self.released + list(range(top))
                return [i for at, i in enumerate(order) if i in local and i not in order[:at]]
            case ["LS", "DO"]:
                return sorted(local, key=lambda index: (self.disabled_at[index], index))
            case ["GP"]:
                return glob or local
            case ["LQ"]:
                return glob if self.global_longest() else local
            case ["LP", order] if self.empty_local():
                return self.merged(order, local, glob)
            case ["LP", _]:
                return local
            case ["EQ", order]:
                return self.merged(order, local, glob)
        raise AssertionError(self.policy)

    def merged(self, order: str, local: list[int], glob: list[int]) -> list[int]:
        if order == "RD" and local and glob:
            order = "GF" if self.draw(2) else "LF"
        return glob + local if order == "GF" else local + glob

    def draw(self, stop: int) -> int:
        assert self.rng is not None
        return self.rng.randrange(stop)

    def global_longest(self) -> bool:
        longest_local = max(len(self.queue(index)) for index in range(self.clusters))
        return len(self.queue(self.clusters)) > longest_local

    def longest_queue_pass(self) -> None:
        disabled: list[int] = []
        while True:
            side = self.global_longest()
            enabled = [self.clusters] if side else self.non_empty_locals()
            enabled = [index for index in enabled if index not in disabled]
            if not enabled:
                return
            for index in enabled:
                if not self.visit(index):
                    disabled.append(index)
                elif self.global_longest() != side:
                    break

    def permits(self, index: int) -> bool:
        top = self.clusters
        if self.policy == "GP":
            return index == top or not self.queue(top)
        if self.policy.startswith("LP"):
            return index != top or bool(self.empty_local())
        if self.policy == "LQ":
            return (index == top) == self.global_longest()
        return True

    def arrival_pass(self, news: list[Job]) -> None:
        later: list[int] = []
        for job in news:
            waiting = self.queue(job.queue)
            if job not in waiting or not self.permits(job.queue):
                continue
            head = waiting[0] is job
            if self.discipline == "FCFS" and not head:
                continue
            placement = self.fit(job)
            if placement is not None:
                self.start(job, placement)
            counts = self.policy != "LS-DO" or self.options.ls_do == "all"
            if head and counts and not (placement and self.queue(job.queue)):
                self.disable(job.queue)
            if placement is None:
                continue
            if self.policy == "LQ" and self.options.lq == "start":
                if not self.permits(job.queue):
                    self.longest_queue_pass()
            elif not self.queue(job.queue):
                later += self.opened_by_emptying(job.queue, job.queue == self.clusters)
        if self.policy.startswith("LP"):
            later = later[:1]
        self.rounds(later, opened=True)
