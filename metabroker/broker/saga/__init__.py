"""The co-allocation saga: one attempt of one job, from placement until nothing of it is left.

No transaction spans several resource managers, and any of them may refuse, be silent, or die at
any moment. So an *attempt* (DCS 3.1, 3.5) is a saga: steps that can each be undone, up to one
point of no return, after which it can only be brought to its end.

What is asked, and what an answer leads to
==========================================

    step      in the cluster                  refused           no answer         undone by
    --------  ------------------------------  ----------------  ----------------  ---------------
    STAGE     files are sent                  roll back         again, until the  CLEAN, DISCARD
                                                                  deadline
    RESERVE   a reservation, read again       roll back         roll back         CLEAN
    SUBMIT    gate laid out, job submitted    roll back [1]     look, then again  CLEAN
    ARM       it gives up no more by itself   roll back         again             CLEAN
    OPEN      the script may start            it has failed     again             nothing: commit
    CLEAN     gate shut, job and reservation  again             again
                gone, and seen to be gone
    FETCH     results are brought back        again, then KEEP  again, then KEEP
    KEEP      results stay, gate removed      again             again
    DISCARD   gate removed                    again             again

[1] A job of one component has no commit: its script may start once SUBMIT was ever tried, and a
refusal of a later try says nothing of an earlier one. So from there on it is ended, not undone.

Reserving and submitting are the *vote*; the *commit* is the moment at which all components wait at
the barrier and are armed. Before it every failure rolls the attempt back, at once and whatever the
clusters answer (`rollback`). After it the scripts run, or will, so the attempt ends only when every
component is known to be over (`completion`).

The invariants
==============

I1. At most one step is pending for a component. It stands in the component's row *before* its
    effect leaves the core, in the same transaction, and leaves the row only with the answer.
I2. A component claims its processors in the ledger from placement until its cluster was seen clean
    (Phase.GONE), also when its job is long in another attempt, or over.
I3. Job, attempt, component and term name a component for ever (`tokens`): its reservation, its
    native job, its gate, and every reply. A reply counts only if its step is pending for exactly
    that component; what it tells of things in the cluster is kept all the same.
I4. RUNNING is written before the first gate of a co-allocated job is opened, and only if all of
    its components were armed.
I5. CLEAN is pending for a component, or it is gone, before its job is in another attempt. It shuts
    the gate first, and is answered only when the cluster shows neither job nor reservation.
I6. What a component's record and its cluster tell of its end is durable before DISCARD, which
    removes the record, leaves the core.

Why the promises follow (docs/contracts.md)
===========================================

Durable. All that the saga knows is in rows, or can be asked again. After a crash each pending step
is handed out again with `again`, so that the executor looks first (`pending.resume`); deadlines
are set again; watched components are watched again. RESERVE alone is rolled back: a delete that it
sent before may come late, and would hit what is made under the same name.

At most once. A step is idempotent by its token: a reservation or a job of that name that is there
already is the answer. Should a cluster run one component twice all the same (a submission without
an answer, a controller back from an old state), both come to one gate, and `go -> run` succeeds
once. A new attempt has new names, so nothing of the former can pass for it.

All or nothing. By I4 no gate of a co-allocated job is at `go` before all are armed; an armed
component neither leaves nor has it started; and whatever happens after that write, OPEN stays
pending for every component until it is answered. Before the write each gate is at `wait` or
`armed`, so shutting it certainly precedes the script. A crash between leaves one of the two.

Nothing left behind. By I1 and I5 cleanup is pending until the cluster was seen clean, for as long
as the cluster cannot be reached. What a late command makes after that carries a token that no live
component has: the next poll shows it, and it is removed (`reconciliation`, `CleanStray`).

Isolation. An attempt waits for a cluster no longer than the deadline of its step; one that may have
been opened in a time that the store has lost, as long as that cluster shows it as running and its
records cannot be read (`unread`). A cluster that does not answer has no idle processors (`ledger`),
so nothing else is sent there; other jobs and clusters never wait for its cleanup. What of one job
cannot be handled fails that job alone (`containment`).

Honest. Every transition writes a line of the job's history, and each reason names the component
and its cluster's own words. What nobody knows (`Job.uncertain`) is said, and never guessed.

The gate is the executors' part (`metabroker.clusters.gate`). It guarantees that of opening and
shutting exactly one wins, and that a script passes once. It does not guarantee that an opened
component starts: its node may die between its answer at the barrier and the opening. Such a
component has failed in a job that runs, as any job's node may fail, and ends the others.

The parts, and which way they call
==================================

Each part calls those below it, and none above; an import contract checks that. What a part below
finds out it tells in the components' rows, and whoever called it goes on from there.

    saga              puts the parts together
    what is told      replies   failures   deadlines   reconciliation
                      records   adoption   containment
    what is decided   attempts (forward)   plans (for later)
                      line (in clusters' own queues)   staging (files)
                      rollback (back)   completion (to the end)
                      barrier (arm, open)   outcome (what it makes of the job)
    what is held      claims (in clusters)   pending (steps to be carried out)
                      unread (may have run before a start)   at_gates (for how long)
    beneath           metabroker.broker.queues, .state
"""

from .plans import is_ahead, is_held
from .saga import Saga

__all__ = ["Saga", "is_ahead", "is_held"]
