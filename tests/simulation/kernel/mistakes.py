"""Mistakes to be planted in the kernel: one wrong step in each of its rules."""

from typing import NamedTuple

LS = ("LS-OR", "LS-RD", "LS-RO", "LS-DO")
LP = ("LP-LF", "LP-GF", "LP-RD")
EQ = ("EQ-LF", "EQ-GF", "EQ-RD")
CONSERVATIVE = ("CONSERVATIVE",)
MIX = ("AFCFS-BS", "LG-SS-BS", "AFCFS", "LG-SS")


class Mistake(NamedTuple):
    """In a module, `old` becomes `new`; it shows under one of the policies."""

    module: str
    old: str
    new: str
    policies: tuple[str, ...]


MISTAKES = [
    # the loop
    Mistake("events", "min(now, w.jobs[", "max(now, w.jobs[", ("GS",)),
    Mistake(
        "events",
        "while is_due(w, now):\n            arrive",
        "if is_due(w, now):\n            arrive",
        ("LG-SS", "LQ"),
    ),
    Mistake("events", "depart(w, key, more)\n", "depart(w, key, not more)\n", ("LS-RO", "LQ")),
    Mistake("events", "job.run >= job.estimate", "job.run > job.estimate", ("EASY", "AFCFS-BS")),
    Mistake("events", "read_until(w) <= now", "read_until(w) < now", ("EASY", "GS")),
    Mistake("heap", "ends[above].tie < tie)", "ends[above].tie > tie)", ("GS", "LS-RO")),
    Mistake("heap", "below = 2 * at + 1", "below = 2 * at + 2", ("GS", "EASY")),
    # placement
    Mistake("placing", "idle[cluster] > idle[best]", "idle[cluster] >= idle[best]", ("GS", "FPFS")),
    Mistake("placing", "left[cluster] > left[best]", "left[cluster] >= left[best]", ("FCFS",)),
    Mistake("placing", "left[best] < w.sizes", "left[best] <= w.sizes", ("GS",)),
    Mistake("placing", "left[best] -= size", "left[best] -= size - 1", ("FCFS", "FPFS")),
    # queues
    Mistake("lines", "queue.length += 1", "queue.length += 2", ("LQ",)),
    Mistake("lines", "queue.tail = job.previous", "queue.tail = job.next", ("FPFS", "EASY")),
    Mistake("visits", "head >= state.since", "head > state.since", ("LQ", "GP", "LS-DO", "EQ-LF")),
    Mistake("visits", "return bool(job.parts == 1 and", "return bool(job.parts <= 2 and", LS),
    Mistake("visits", "job.parts == 1):\n        return local", "True):\n        return local", LP),
    Mistake("visits", "idle[cluster] >= w.sizes", "idle[cluster] > w.sizes", LS),
    Mistake("visits", "not state.opened and", "state.opened and", LP),
    Mistake("visits", "count = emptied(w, index, count)", "pass", ("GP", *LP)),
    Mistake("visits", "order[at] == cluster", "order[at] != cluster", ("LS-RO",)),
    Mistake("visits", "queue.scan = following\n", "queue.scan = NOBODY\n", ("FPFS",)),
    # policies
    Mistake("queues", "if turned[at] >= first", "if turned[at] > first", ("LS-RD",)),
    Mistake("queues", "first = count == 0 or draw", "first = draw", ("EQ-RD", "LP-RD")),
    Mistake("queues", "draw(w) == 1", "draw(w) == 0", ("EQ-RD", "LP-RD")),
    Mistake("queues", "state.draw += 1", "state.draw += 2", ("LS-RD", "EQ-RD")),
    Mistake("queues", "state.released = 0", "state.released = state.released", ("LS-RO",)),
    Mistake("queues", "if not found:", "if found:", ("LS-DO",)),
    Mistake("queues", "count < state.clusters", "count <= state.clusters", LP),
    Mistake("queues", "first = state.version == GLOBAL_FIRST", "first = False", ("EQ-GF", "LP-GF")),
    Mistake("queues", "length >= length", "length > length", ("LQ",)),
    Mistake("queues", "if turned != side:", "if turned == side:", ("LQ",)),
    Mistake("queues", "if disabled[index]:", "if not disabled[index]:", ("LQ",)),
    Mistake("queues", "state.since = state.submitted", "pass", ("LQ", "GP", "LS-DO")),
    # EASY
    Mistake("easy", "missing <= 0 and", "missing < 0 and", ("EASY",)),
    Mistake("easy", "0 and end > shadow", "0 and end >= shadow", ("EASY",)),
    Mistake("easy", "estimate <= state.shadow", "estimate < state.shadow", ("EASY",)),
    Mistake("easy", "state.extra -= job.total", "state.extra -= 0", ("EASY",)),
    Mistake("easy", "job.total <= state.extra", "job.total < state.extra", ("EASY",)),
    Mistake("easy", "state.settled = 0", "state.settled = 1", ("EASY",)),
    Mistake("easy", "state.fresh = NOBODY", "state.fresh = state.fresh", ("EASY",)),
    # CONSERVATIVE
    Mistake("conservative", "steps[later].tie < size", "steps[later].tie <= size", CONSERVATIVE),
    Mistake("conservative", "elif state.early:", "elif not state.early:", CONSERVATIVE),
    Mistake("conservative", "job.until < now", "job.until <= now", CONSERVATIVE),
    Mistake("conservative", "mask].slot <= now", "mask].slot < now", CONSERVATIVE),
    # the job mix
    Mistake("job_mix", "rank < least", "rank <= least + 1", MIX),
    Mistake("job_mix", "-queue.tasks if", "queue.tasks if", ("LG-SS", "LG-SS-BS")),
    Mistake("job_mix", "needs > state.free\n", "needs > state.free + 1\n", MIX),
    Mistake("job_mix", "queue.needs > most", "queue.needs >= most", MIX),
    Mistake("job_mix", "and not blocked(w, index)", "", ("AFCFS-BS", "LG-SS-BS")),
    Mistake("job_mix", "state.departed = False", "pass", MIX),
]  # fmt: skip
