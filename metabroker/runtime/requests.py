"""From an effect to all that a cluster needs to carry it out.

What only a job's start needs (script, arguments, environment) is read from the store here, in the
worker that needs it, and not kept in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.effects import Clean, Fetch, Open, Reserve, Stage, Submit
from metabroker.broker.settings import Settings
from metabroker.broker.states import Cause
from metabroker.broker.tokens import Ref
from metabroker.clusters.gate import APART, HOME, former_gate_path, gate_path
from metabroker.clusters.gate.peers import nodes_of
from metabroker.clusters.port import (
    ArrayTask,
    CleanRequest,
    ClusterRefusal,
    ComponentRequest,
    FetchRequest,
    Peer,
    ReserveRequest,
    StageRequest,
    UnknownOutcome,
)
from metabroker.clusters.submit_directory import LocalSubmitDirectory, SubmitDirectory
from metabroker.clusters.transports.fenced import Permit, fenced
from metabroker.store import Store, StoreUnavailable
from metabroker.store.job_queries import Target
from metabroker.submission.inputs import parse_input
from metabroker.submission.model import Submission
from metabroker.submission.patterns import expand
from metabroker.submission.tasks import parse_array
from metabroker.submission.wire import to_spec

from .cluster_accounts import Users

_MOST_PLACES = 1024  # jobs whose meeting place and owner are remembered


_LATER = (
    "it was configured after the job was submitted, which asks for more than processors and time: "
    "nobody knows how to ask for that here"
)


def spec_of(
    submission: Submission,
    accounts: Mapping[str, str] | None = None,
    owner: str | None = None,
    known: Sequence[str] = (),
) -> dict[str, Any]:
    """What of a submission only its start needs, as the store keeps it. `accounts`: under which it
    runs in each cluster that acts for users, now and for as long as it lives; `owner`: whose its
    files are, where they are not the daemon's own; `known`: the clusters that can be asked for what
    it asks for, as far as there are any now."""
    given: dict[str, Any] = {"accounts": dict(accounts)} if accounts else {}
    if submission.asked or submission.only_at_input:
        given["known"] = list(known)
    return {**given, **to_spec(submission), "owner": owner}


def _no_record(_ref: Ref) -> bytes:
    return b""


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """Makes orders for one cluster. `shared_dir`: where gates are made; None: the job's own
    folder, or the home of its account where the broker acts for users. `home`: the daemon's own
    files, `homes`: those of a user who submits; `permit`: asked before each step with either;
    `users`: who may begin something there now, where the broker acts for users; `arrivals`: what a
    component has written down of its arrival, as far as that is known now."""

    store: Store
    settings: Settings
    cluster: str
    shared_dir: str | None = None
    home: SubmitDirectory = field(default_factory=LocalSubmitDirectory)
    homes: Callable[[str], SubmitDirectory] | None = None
    users: Callable[[], Users] = dict
    permit: Permit | None = None
    arrivals: Callable[[Ref], bytes] = _no_record
    _places: dict[int, Target] = field(default_factory=dict, repr=False)

    def token(self, ref: Ref) -> str:
        """The name of a component in its cluster."""
        return tokens.make(self.settings.instance, ref)

    def gate(self, ref: Ref) -> str | None:
        """Where the component and the broker meet; None if the store does not know its job."""
        try:
            place = self._place(ref.job)
        except KeyError:
            return None
        return self._gate(ref, place)

    def account(self, ref: Ref) -> str | None:
        """The account that the component's job runs under; None: the broker's own there."""
        try:
            return self._place(ref.job).account
        except KeyError:
            return None

    def owner(self, ref: Ref | None) -> str:
        """The user whose turn it is with this component; nobody where that is not known now."""
        if ref is None:
            return ""
        try:
            return self._place(ref.job).owner
        except (KeyError, StoreUnavailable):
            return ""

    def still_allowed(self, ref: Ref) -> bool:
        """Whether its user would be given the same account today, for something new."""
        users = self.users().get(self.cluster)
        account = self.account(ref)
        if users is None or account is None:
            return users is None and account is None
        return users.account(self._place(ref.job).owner) == account

    def _place(self, job: int) -> Target:
        """Where the job meets the broker: it never changes, and gates are looked at often."""
        found = self._places.get(job)
        if found is None:
            found = self.store.jobs.target(job, self.cluster)
            if len(self._places) >= _MOST_PLACES:
                self._places.clear()
            self._places[job] = found
        return found

    def reserve(self, effect: Reserve) -> ReserveRequest:
        """The request for a reservation."""
        return ReserveRequest(
            self.token(effect.ref),
            effect.processors,
            effect.seconds,
            tasks=effect.tasks,
            shape=effect.shape,
            start=effect.start,
            move=effect.move,
        )

    def ending(self, effect: Open, until: float) -> ReserveRequest:
        """The request that its reservation ends then."""
        return ReserveRequest(self.token(effect.ref), 0, 0, move=True, end=until)

    def submit(self, effect: Submit) -> ComponentRequest:
        """The request for a component's job."""
        ref = effect.ref
        script, spec = self._script(ref)
        if not script:  # none is ever empty: its time was over
            raise UnknownOutcome("the store does not have its script any more")
        if self.cluster not in spec.get("known", (self.cluster,)):
            raise ClusterRefusal(Cause.INVALID, _LATER)
        peers = self.peers(ref)
        barrier = self.settings.barrier_patience if effect.barrier else None
        if effect.sibling:
            barrier = self.settings.line_patience
        named = ref._replace(component=0) if len(peers) == 1 else ref
        of = self.store.jobs.task(ref.job) if spec.get("array") else None
        own = "%j" if of is None else "%A_%a"
        default = f"metabroker-{own}.%c.out" if len(peers) > 1 else f"metabroker-{own}.out"
        return ComponentRequest(
            token=self.token(ref),
            gate=self._gate_of(ref),
            processors=effect.processors,
            seconds=effect.seconds,
            job=ref.job,
            name=spec["name"],
            component=named.component,
            peers=peers,
            joins=effect.joins,
            script=script,
            args=tuple(spec["args"]),
            environment=spec["environment"],
            chdir=spec["chdir"],
            output=self._path(spec, spec["output"] or default, named, of),
            error=None if spec["error"] is None else self._path(spec, spec["error"], named, of),
            native=tuple(spec["native"].get(self.cluster, ())),
            reservation=effect.reservation,
            barrier_seconds=barrier,
            again=effect.again,
            shape=effect.shape,
            works=bool(spec.get("stage_in") or spec.get("stage_out")),
            speaks=spec.get("speaks"),
            of=None if of is None else ArrayTask(*of, parse_array(spec["array"]).tasks),
            inputs=tuple(
                parse_input(each).seen_from(self.cluster) for each in spec.get("input_at", ())
            ),
        )

    def _path(
        self, spec: Mapping[str, Any], pattern: str, ref: Ref, of: tuple[int, int] | None
    ) -> str:
        path = expand(pattern, ref.job, ref.component, spec["name"], self.owner(ref), of)
        return path if path.startswith("/") else f"{spec['chdir']}/{path}"

    def _script(self, ref: Ref) -> tuple[bytes, Mapping[str, Any]]:
        """A former leader that goes on after a day may ask for one that has been removed."""
        try:
            return self.store.jobs.script(ref.job)
        except KeyError:
            raise UnknownOutcome("the store does not know its job any more") from None

    def home_of(self, ref: Ref) -> SubmitDirectory:
        """Where the job's files come from, and its results go to.

        Raises:
            ClusterRefusal: they are a user's for whom nobody may act here any more.
        """
        owner = self._script(ref)[1].get("owner")
        if owner is not None and self.homes is None:
            raise ClusterRefusal(Cause.INVALID, f"the daemon no longer acts for {owner}")
        home = self.home if owner is None or self.homes is None else self.homes(owner)
        return home if self.permit is None else fenced(home, self.permit)

    def stage(self, effect: Stage) -> StageRequest:
        """The request to send a component's files."""
        _, spec = self._script(effect.ref)
        gate = self._gate_of(effect.ref)
        return StageRequest(gate, spec["submit_dir"], tuple(spec["stage_in"]), effect.again)

    def fetch(self, effect: Fetch) -> FetchRequest:
        """The request to bring a component's results back."""
        ref = effect.ref
        _, spec = self._script(ref)
        return FetchRequest(
            self._gate_of(ref),
            spec["submit_dir"],
            f"metabroker-{ref.job}.{self._index(ref)}",
            tuple(spec["stage_out"]),
            effect.again,
        )

    def keep(self, ref: Ref) -> str:
        """Where results that cannot be brought back stay, in the component's cluster."""
        return f"{self._root(self._place(ref.job)).rstrip('/')}/{tokens.kept(ref)}"

    def clean(self, effect: Clean) -> CleanRequest:
        """The request to leave nothing of a component."""
        token, gate = self.token(effect.ref), self.gate(effect.ref)
        what = effect.reservation, effect.native, effect.unless_started
        return CleanRequest(token, gate, *what)

    def clean_token(self, token: str) -> CleanRequest:
        """The request to leave nothing of a token that nobody needs."""
        ref = tokens.parse(self.settings.instance, token)
        return CleanRequest(token, None if ref is None else self.gate(ref))

    def peers(self, ref: Ref) -> tuple[Peer, ...]:
        """All components of the attempt, in order; of siblings, which are one component, itself."""
        rows = self.store.jobs.attempt(ref.job, ref.attempt)
        return tuple(
            Peer(row["cluster"], row["asked"], tuple(row["hosts"].split()))
            for row in rows
            if not row["single"] or row["component"] == ref.component
        )

    def introduced(self, ref: Ref) -> tuple[Peer, ...]:
        """The same, with what they have told of their nodes."""
        told = (
            f"{self._place(ref.job).secret} {self.settings.instance} {ref.job} {ref.attempt} peers"
        )
        secret = hashlib.sha256(told.encode()).hexdigest()[:32]
        found = []
        for n, peer in enumerate(self.peers(ref)):
            nodes, port = nodes_of(self.arrivals(ref._replace(component=n)))
            found.append(replace(peer, nodes=nodes, port=port, secret=secret))
        return tuple(found)

    def _index(self, ref: Ref) -> int:
        """The component's number in its job: siblings are one component."""
        return 0 if len(self.peers(ref)) == 1 else ref.component

    def _gate_of(self, ref: Ref) -> str:
        try:
            return self._gate(ref, self._place(ref.job))
        except KeyError:  # it was removed since its script was read
            raise UnknownOutcome("the store does not know its job any more") from None

    def _gate(self, ref: Ref, place: Target) -> str:
        token = self.token(ref)
        own = hashlib.sha256(f"{place.secret} {token}".encode()).hexdigest()[:20]
        if place.secret.startswith(APART):
            return gate_path(self._root(place), token, own)
        return former_gate_path(self._root(place), token, own, place.account)

    def _root(self, place: Target) -> str:
        """The folder in which its gates are. A user's own are at home where there is none for all:
        others may write in a folder of theirs that many work in."""
        if self.shared_dir is not None:
            return self.shared_dir
        at_home = place.account is not None and place.secret.startswith(APART)
        return HOME if at_home else place.chdir
