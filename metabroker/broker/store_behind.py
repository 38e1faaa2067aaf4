"""A store that is behind its clusters: it went back by itself (a snapshot of its machine, a file
copied back, a replica that was behind), or it is the copy of one that another broker goes on with.

No effect leaves the broker before its transaction is durable. So a cluster that shows an attempt,
or a sibling in line, which the store has not begun yet is the proof: what the store says of its
jobs is not so any more, and each decision that goes by it may end a job that runs, or begin one
again. The core then decides nothing, until an administrator has said what the store is
(`metabroker restore --in-place`).

Where the broker acts for users each of them can give a job any name, so names prove nothing there:
what is ahead is named and left alone. So is a token without a proof (see `tokens`). What can be
repeated by whoever has seen it, a token of an attempt that the store knows, is a sign only in a
cluster's first listing after a start: nobody can have repeated it sooner than it was made.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import tokens
from .after_restore import History
from .job import Component
from .observation import Snapshot
from .state import BrokerState
from .states import Phase, Step
from .tokens import Ref

ADVICE = (
    "stop the daemon; then `metabroker restore --in-place` if the store came back from an older "
    "state, with --new-instance if another broker goes on with the jobs"
)
_BEFORE_SUBMISSION = frozenset({Step.NONE, Step.STAGE, Step.RESERVE})


class StoreBehind(Exception):
    """The core decides nothing any more: why, and what to do."""


def begun_elsewhere(
    state: BrokerState, history: History, ref: Ref, *, siblings: bool = False
) -> bool:
    """Whether nobody who goes by this store can have begun it, in a lost time neither. `siblings`:
    those of a job that stands in line may have been made by several leaders, one after another, and
    the store does not remember which it has withdrawn, but how many there were."""
    job = state.jobs.get(ref.job)
    ahead = ref.job >= state.next_job or tokens.term_of(ref.term) > state.settings.term
    if job is not None:
        # An attempt is begun once, in one term.
        other = ref.attempt == job.attempt and all(c.ref.term != ref.term for c in job.components)
        other = other and bool(job.components) and not (siblings and job.single)
        beyond = ref.attempt == job.attempt and 0 < job.siblings <= ref.component
        ahead = ahead or ref.attempt > job.attempt or other or beyond
    return ahead and not history.unknown(ref)


def trouble(
    state: BrokerState,
    history: History,
    known: Mapping[Ref, Component],
    cluster: int,
    seen: Snapshot,
) -> str:
    """Why the store must be behind, by a poll of the cluster; "": nothing says so."""
    settings = state.settings.clusters[cluster]
    if settings.acting:
        return ""
    for token in (*seen.jobs, *seen.reservations):
        ref = tokens.parse(state.settings.instance, token)
        if ref is None:
            continue
        component = known.get(ref)
        early = component is not None and _not_submitted(component) and token in seen.jobs
        early = early and (cluster in state.first_polls.unseen)
        ahead = begun_elsewhere(state, history, ref, siblings=True)
        ahead = ahead and tokens.proven(state.settings.key, ref)
        if early or ahead:
            return f"the store is older than the clusters: {settings.name} shows {token}"
    return ""


def _not_submitted(component: Component) -> bool:
    """Whether it has never been, as one that is planned for later."""
    return component.step in _BEFORE_SUBMISSION and not component.reached(Phase.SUBMITTED)
