"""Mistakes of clusters that act for users."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from metabroker.broker.events import Refused
from metabroker.broker.refusals import Refusals
from metabroker.broker.saga.failures import Failures
from metabroker.broker.states import Step
from metabroker.clusters import gated
from metabroker.clusters.gate.letters import Letters
from metabroker.clusters.slurm import commands, operations, parsing
from metabroker.clusters.transports.run_as import RunAsTransport
from metabroker.runtime import carrier
from metabroker.runtime.requests import RequestBuilder

from .planting import among, mutation, swap


@mutation
@among("accounts")
def refused_cleaning_is_its_end(stack: contextlib.ExitStack) -> None:
    """A component that nobody may clean up now has ended for that, however it has."""

    def refused(self: Any, event: Refused, now: float) -> None:
        component, _job = self._claims.find(event.ref)
        old(self, event, now)
        if component is not None and component.step is event.step is Step.CLEAN:
            component.cause = event.cause

    old = swap(stack, Failures, "refused", refused)


@mutation
@among("accounts")
def given_up_for_an_account(stack: contextlib.ExitStack) -> None:
    """A component at its gate is given up since its account is unknown just then."""

    def open_(self: Any, gate: str, peers: Any) -> None:
        self._gates.open(self.placed(gate), peers)

    swap(stack, gated.GatedCluster, "open", open_)


@mutation
@among("accounts")
def one_account_closes_a_cluster(stack: contextlib.ExitStack) -> None:
    """A cluster that denies one user denies all."""
    swap(stack, Refusals, "_alike", lambda self, scope: True)


@mutation
@among("accounts")
def users_are_not_looked_at_again(stack: contextlib.ExitStack) -> None:
    """Who had an account when the job was submitted has it for ever."""
    swap(stack, RequestBuilder, "still_allowed", lambda self, ref: True)


@mutation
@among("accounts")
def cancelled_as_the_broker(stack: contextlib.ExitStack) -> None:
    """Jobs of Slurm are cancelled as the account that commands run under."""

    def cancel(who: Any, token: str) -> Any:
        return replace(old(who, token), account=None)

    old = swap(stack, commands, "cancel", cancel)


@mutation
@among("accounts")
def one_home_for_all(stack: contextlib.ExitStack) -> None:
    """The home that was asked for first is everybody's."""

    def home_of(self: Any, account: str) -> str:
        if not self._homes:
            self._homes[""] = old(self, account)
        return str(self._homes[""])

    old = swap(stack, RunAsTransport, "home_of", home_of)


@mutation
@among("accounts")
def letters_as_the_broker(stack: contextlib.ExitStack) -> None:
    """What components tell each other is read as the account that commands run under."""

    def letters_of(cluster: Any) -> Letters:
        return Letters(cluster.transport.files, cluster.placed)

    swap(stack, carrier, "letters_of", letters_of)


@mutation
@among("accounts")
def one_unknown_name_hides_all(stack: contextlib.ExitStack) -> None:
    """A cluster that does not know one account tells of nobody's jobs."""

    def jobs_of_owners(prefix: str, verified: Any) -> Any:
        accounts, mark = verified.owners.accounts(), "mark"
        done = yield from operations.told(commands.list_jobs_of(accounts, mark))
        lines = parsing.marked_jobs(done.stdout, mark)
        ours = verified.seen([(j.name, j.user) for j in lines if j.name.startswith(prefix)])
        return [j for j in lines if (j.name, j.user) in ours or not j.name.startswith(prefix)]

    swap(stack, operations, "_jobs_of_owners", jobs_of_owners)
