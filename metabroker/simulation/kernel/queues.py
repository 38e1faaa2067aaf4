"""The queue policies, each by its passes: GS, LS, GP, LP, EQ and LQ in all versions.

See the classes of these names in `metabroker.policy`; what is said there holds here.
"""

from __future__ import annotations

from .compiled import entry, inlined, merged, program
from .events import loop_of, loop_of_pyss
from .layout import (
    DEPARTURES,
    DISABLE_ORDER,
    DISABLED,
    ENABLED,
    EQ,
    GLOBAL_FIRST,
    GP,
    GS,
    LP,
    LQ,
    LS,
    NOBODY,
    ORDER,
    RANDOM,
    RELEASE_ORDER,
    RELEASED,
    World,
)
from .visits import (
    arrive,
    depart,
    emptied,
    ever_fits,
    newcomer,
    rewind,
    rounds,
    visit,
    waiting_locals,
)


@inlined
def decide(w: World, now: float) -> None:
    """One pass."""
    state = w.state[0]
    if state.fpfs:
        rewind(w)
    if state.departed:
        state.departed = False
        departure(w, now)
    elif state.since < state.submitted:
        arrivals(w, now)
    state.since = state.submitted


@merged
def departure(w: World, now: float) -> None:
    """A departure pass: enable, then visit."""
    state = w.state[0]
    if state.family == GS:
        while w.queues[state.clusters].head != NOBODY and visit(w, state.clusters, now):
            pass
    elif state.family == LS:
        over = rounds(w, enabled_of_ls(w), now)
        if state.version == DISABLE_ORDER:
            disabled_last(w, over)
    elif state.family == LQ and state.option != DEPARTURES:
        alternate(w, now)
    else:
        rounds(w, enabled_of_two_levels(w), now)


@merged
def arrivals(w: World, now: float) -> None:
    """Try the newcomers in their order, then visit the queues that the rules open thereby."""
    state = w.state[0]
    state.opened = False
    count = 0
    for key in range(state.since, state.submitted):
        job = w.jobs[key & state.mask]
        index = job.queue
        if index < 0 or not job.new or forbidden(w, index):
            continue
        started = newcomer(w, key, now)
        if state.family == LQ:
            turned = started and global_longest(w) == (index < state.clusters)
            if turned and state.option != DEPARTURES:
                alternate(w, now)
        elif state.version == DISABLE_ORDER:
            head = w.queues[index].head
            if (head == NOBODY if started else head == key) and state.option != DEPARTURES:
                w.lists[DISABLED][0] = index
                disabled_last(w, 1)
        elif started and w.queues[index].head == NOBODY:
            count = emptied(w, index, count)
    kept = 0
    for at in range(count):
        if w.queues[w.lists[ENABLED][at]].head != NOBODY:
            w.lists[ENABLED][kept] = w.lists[ENABLED][at]
            kept += 1
    rounds(w, kept, now)


@program
def forbidden(w: World, index: int) -> bool:
    """Does the policy's rule keep this queue disabled?"""
    state = w.state[0]
    local = index < state.clusters
    if state.family == GP:
        return bool(local and w.queues[state.clusters].head != NOBODY)
    if state.family == LP and not local:
        for other in range(state.clusters):
            if w.queues[other].head == NOBODY:
                return False
        return True
    return bool(state.family == LQ and local == global_longest(w))


@program
def enabled_of_ls(w: World) -> int:
    """The number of enabled queues, and in ENABLED their order, at a departure under LS."""
    state, enabled = w.state[0], w.lists[ENABLED]
    count = 0
    if state.version == DISABLE_ORDER:
        for at in range(state.clusters):
            index = w.lists[ORDER][at]
            if w.queues[index].head != NOBODY:
                enabled[count] = index
                count += 1
        return count
    if state.version == RELEASE_ORDER:
        for at in range(state.released):
            index = w.lists[RELEASED][at]
            if w.queues[index].head != NOBODY:
                enabled[count] = index
                count += 1
        for index in range(state.clusters):
            if w.queues[index].head != NOBODY and not released_before(w, index):
                enabled[count] = index
                count += 1
        state.released = 0
        return count
    count = waiting_locals(w, 0)
    if state.version == RANDOM and count > 1:
        turn_to(w, count, draw(w))
    return count


@program
def released_before(w: World, index: int) -> bool:
    """Has a job released this cluster since the last departure pass?"""
    for at in range(w.state[0].released):
        if w.lists[RELEASED][at] == index:
            return True
    return False


@program
def turn_to(w: World, count: int, first: int) -> None:
    """The enabled queues in a cyclic order that begins at the index `first`."""
    enabled, turned = w.lists[ENABLED], w.lists[DISABLED]
    for at in range(count):
        turned[at] = enabled[at]
    to = 0
    for at in range(count):
        if turned[at] >= first:
            enabled[to] = turned[at]
            to += 1
    for at in range(count):
        if turned[at] < first:
            enabled[to] = turned[at]
            to += 1


@program
def disabled_last(w: World, over: int) -> None:
    """LS-DO: the `over` queues in DISABLED come last, the others before them as they were."""
    order, disabled = w.lists[ORDER], w.lists[DISABLED]
    kept = 0
    for at in range(w.state[0].clusters):
        index = order[at]
        found = False
        for other in range(over):
            if disabled[other] == index:
                found = True
                break
        if not found:
            order[kept] = index
            kept += 1
    for at in range(over):
        order[kept + at] = disabled[at]


@program
def enabled_of_two_levels(w: World) -> int:
    """The same under GP, LP, EQ, and LQ when it is evaluated at departures alone."""
    state, enabled = w.state[0], w.lists[ENABLED]
    waits = w.queues[state.clusters].head != NOBODY
    if state.family == GP or state.family == LQ:
        if waits if state.family == GP else global_longest(w):
            enabled[0] = state.clusters
            return 1
        return waiting_locals(w, 0)
    count = waiting_locals(w, 0)
    state.opened = state.family == EQ or count < state.clusters
    if not (waits and state.opened):
        return count
    first = state.version == GLOBAL_FIRST
    if state.version == RANDOM:
        first = count == 0 or draw(w) == 1
    if first:
        for at in range(count, 0, -1):
            enabled[at] = enabled[at - 1]
    enabled[0 if first else count] = state.clusters
    return count + 1


@program
def draw(w: World) -> int:
    """The next random number of the policy."""
    state = w.state[0]
    state.draw += 1
    drawn: int = w.draws[state.draw - 1]
    return drawn


@program
def global_longest(w: World) -> bool:
    """LQ: is the global queue longer than every local one?"""
    clusters = w.state[0].clusters
    length = w.queues[clusters].length
    if length == 0:
        return False
    for index in range(clusters):
        if w.queues[index].length >= length:
            return False
    return True


@program
def alternate(w: World, now: float) -> None:
    """LQ: visit in rounds the queues of the side whose turn it is."""
    state, enabled, disabled = w.state[0], w.lists[ENABLED], w.lists[DISABLED]
    for index in range(state.clusters + 1):
        disabled[index] = False
    turned = global_longest(w)
    while True:
        side = turned
        if side:
            enabled[0] = state.clusters
            count = 1
        else:
            count = waiting_locals(w, 0)
        visited = False
        for at in range(count):
            index = enabled[at]
            if disabled[index]:
                continue
            visited = True
            if not visit(w, index, now):
                disabled[index] = True
                continue
            turned = global_longest(w)
            if turned != side:
                break
        if not visited:
            return


_loop = loop_of(arrive, depart, decide, ever_fits)
_loop_of_pyss = loop_of_pyss(arrive, depart, decide, ever_fits)


@entry
def play(w: World) -> int:
    """Play one of these policies; see `events.loop_of`."""
    return _loop(w)


@entry
def play_pyss(w: World) -> int:
    """The same in the order of pyss."""
    return _loop_of_pyss(w)
