"""What a job asks of its cluster in the words of sbatch or qsub: told to each cluster in its own
words, and where that cannot be done the job goes to the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from metabroker.api.service import Failure, ServiceError
from metabroker.runtime.cluster_accounts import wanted
from metabroker.submission.model import AskedOption, Submission
from metabroker.submission.native.asked import (
    ClusterWords,
    Unsayable,
    named_nodes,
    refused,
    row_of,
    shown,
)

PARTITION = "metabroker"
"""What jobs that name no partition are said to be in, where clusters' own are not all the same."""
Check = Callable[[str, tuple[str, ...]], str | None]


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """What clusters are asked for, and how. `dropped`: options that the site leaves out."""

    clusters: Mapping[str, ClusterWords] = field(default_factory=dict)
    dropped: Collection[str] = ()

    @property
    def partition(self) -> str:
        """The partition of jobs that name none: what all clusters call theirs, or ours."""
        own = {words.own.get("partition") for words in self.clusters.values()}
        found = own.pop() if len(own) == 1 else None
        return found or PARTITION

    def partitions(self) -> dict[str, list[str]]:
        """The partitions that jobs may name, and the clusters that each may mean; first that of
        jobs that name none."""
        listed = [n for words in self.clusters.values() for n in words.names("partition") or ()]
        found = dict.fromkeys((self.partition, *listed))
        return {
            name: [cluster for cluster, words in self.clusters.items() if self._has(words, name)]
            for name in found
        }

    def accounts(self, clusters: Collection[str]) -> list[str] | None:
        """The accounts that jobs may name which go to these clusters; None: any."""
        if "account" in self.dropped:
            return None
        listed = [self.clusters[name].names("account") for name in clusters]
        if None in listed:
            return None
        return sorted({name for names in listed for name in names or ()})

    def _has(self, words: ClusterWords, partition: str) -> bool:
        return partition == self.partition == PARTITION or words.has("partition", partition)

    def said(self, submission: Submission, check: Check) -> tuple[Submission, tuple[str, ...]]:
        """The submission, with the words for each cluster that its job may go to, and the others.
        `check`: what is wrong with words for a cluster, or None.

        Raises:
            ServiceError: an option is refused, or no cluster is left, or not one that is named.
        """
        asked = tuple(each for each in submission.asked if not self._drops(each))
        if not asked:
            return replace(submission, asked=()), ()
        for each in asked:
            _may_be_asked(each)
        submission = replace(submission, asked=asked)
        candidates = wanted(submission, list(self.clusters))
        self._names_nodes_of_one(submission, candidates)
        native, why = dict(submission.native), {}
        among = self._among(submission)
        told = replace(submission, asked=tuple(e for e in asked if e.option != "clusters"))
        for name, words in self.clusters.items():
            try:
                if among is not None and name not in (among.value or "").split(","):
                    raise Unsayable(among, "is not one of them")
                own = words.words(told, lambda given, name=name: check(name, given))  # type: ignore[misc]
            except Unsayable as error:
                why[name] = error
            else:
                native[name] = (*native.get(name, ()), *own)
        closed = [name for name in candidates if name in why]
        ordered = submission.processors.on is not None or submission.processors.cluster is not None
        if closed and (ordered or len(closed) == len(candidates)):
            raise _nowhere({name: why[name] for name in closed})
        kept = {name: words for name, words in native.items() if words}
        return replace(submission, native=kept), tuple(why)

    def _drops(self, asked: AskedOption) -> bool:
        if asked.option == "partition" and asked.value == self.partition == PARTITION:
            return True
        return asked.option in self.dropped or asked.called.removeprefix("-") in self.dropped

    def _among(self, submission: Submission) -> AskedOption | None:
        """`--clusters a,b`: one of these."""
        found = next((each for each in submission.asked if each.option == "clusters"), None)
        if found is not None:
            unknown = [n for n in (found.value or "").split(",") if n not in self.clusters]
            if unknown:
                what = f"{shown(found)}: there is no cluster {unknown[0]!r:.64}"
                advice = f"choose some of: {', '.join(self.clusters)}"
                raise ServiceError(Failure.INVALID, what, advice)
        return found

    def _names_nodes_of_one(self, submission: Submission, candidates: list[str]) -> None:
        nodes = named_nodes(submission.asked)
        if nodes is not None and len(candidates) > 1:
            raise ServiceError(
                Failure.INVALID,
                f"{shown(nodes)}: names of nodes are those of one cluster",
                "say which with --clusters (of metabroker submit: --cluster)",
            )


def _may_be_asked(asked: AskedOption) -> None:
    """Raises `ServiceError`."""
    if row_of(asked.option) is None and asked.option not in _OF_PBS:
        raise ServiceError(Failure.INVALID, f"{shown(asked)!r:.80} is no option", "leave it out")
    never = refused(asked)
    if never is not None:
        advice = f"{never.advice}, or ask the administrator about `drop_options`"
        raise ServiceError(Failure.INVALID, f"{shown(asked)}: {never.why}", advice)


_OF_PBS = frozenset({"project", "place", "resource", "umask", "group_list"})
"""What PBS alone has, by its own names."""


def _nowhere(why: Mapping[str, Unsayable]) -> ServiceError:
    """No cluster has words for all of it."""
    first = next(iter(why.values())).asked
    told = "; ".join(f"{name} {error.why}" for name, error in why.items() if error.asked == first)
    others = {shown(error.asked) for error in why.values() if error.asked != first}
    besides = f" (and {', '.join(sorted(others))})" if others else ""
    return ServiceError(
        Failure.INVALID,
        f"{shown(first)}{besides}: the job can go to no cluster: {told}"[:1000],
        "ask for something else, or have the administrator name it in `names` of a cluster, or "
        "leave it out with `drop_options`",
    )
