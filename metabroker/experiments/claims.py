"""The papers' claims, one by one: what is claimed where, and whether it holds here."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from . import registry
from .evidence import FAILS, HOLDS, REASON, TESTED, UNDECIDED, Check, Compared, Decision
from .result_cache import ResultCache, Trial
from .scale import Scale


class Claim(NamedTuple):
    """A line of data/claims.csv, or of data/beyond.csv, where the claims are our own."""

    id: str
    where: str
    claim: str


class Decided(NamedTuple):
    """A claim with its decision."""

    claim: Claim
    decision: Decision

    def as_json(self) -> dict[str, object]:
        """As contract C5 has it, and where the paper says it."""
        claim, decision = self.claim, self.decision
        return {
            "id": claim.id,
            "claim": claim.claim,
            "result": decision.result,
            "evidence": list(decision.evidence),
            "where": claim.where,
        }


def claims(table: str = registry.CLAIMS) -> list[Claim]:
    """All claims of one of `registry.TABLES`, in the order of the file."""
    text = (files("metabroker.experiments") / "data" / f"{table}.csv").read_text(encoding="utf-8")
    return [
        Claim(line["id"], line["where"], line["claim"])
        for line in csv.DictReader(text.splitlines())
    ]


def decide(
    results: ResultCache,
    scale: Scale,
    only: Sequence[str] | None = None,
    table: str = registry.CLAIMS,
) -> list[Decided]:
    """Decide all claims of a table, or those whose ids begin with one of `only`.

    All trials are played first, at once, then for each further look those of what is open. A claim
    that no module decides is undecided.
    """
    wanted = [c for c in claims(table) if only is None or c.id.startswith(tuple(only))]
    known = registry.checks()
    checks = [known[c.id] for c in wanted if c.id in known]
    results.play(_trials(checks, scale))
    compared = [check for check in checks if isinstance(check, Compared)]
    for look in range(1, max(scale.looks, scale.search_looks)):
        results.play([t for check in compared for t in check.further(results, scale, look)])
    return [Decided(c, _decision(known.get(c.id), results, scale)) for c in wanted]


def _trials(checks: Iterable[Check], scale: Scale) -> list[Trial]:
    return [trial for check in checks for trial in check.trials(scale)]


def _decision(check: Check | None, results: ResultCache, scale: Scale) -> Decision:
    if check is None:
        return Decision(UNDECIDED, ["nothing in this version decides this claim yet"])
    return check.decide(results, scale)


def text(decided: Sequence[Decided]) -> Iterator[str]:
    """Lines for people: every claim with its result, and why if it does not hold."""
    for claim, decision in decided:
        yield f"{decision.result:9}  {claim.id:6}  {claim.claim} ({claim.where})"
        if decision.result != HOLDS:
            yield from (
                f"{'':19}{line}" for line in decision.evidence if line.startswith((REASON, TESTED))
            )
    yield counted(decided)


def counted(decided: Sequence[Decided]) -> str:
    """How many hold, fail and are undecided."""
    counts = [
        f"{sum(found.decision.result == result for found in decided)} {word}"
        for result, word in ((HOLDS, "hold"), (FAILS, "fail"), (UNDECIDED, "are undecided"))
    ]
    return f"{len(decided)} claims: {', '.join(counts)}"


def report(decided: Sequence[Decided]) -> Iterator[str]:
    """Lines of a Markdown table: each claim, its result, what speaks against it, and why."""
    yield f"{counted(decided)}."
    yield ""
    yield "| claim | | result | against it, and why |"
    yield "|---|---|---|---|"
    for claim, (result, evidence) in decided:
        against = [line.removeprefix("no: ") for line in evidence if line.startswith("no: ")]
        why = [line for line in evidence if line.startswith((REASON, TESTED))]
        more = [f"and {len(against) - 2} more"] if len(against) > 2 else []
        cells = (claim.id, claim.claim, result, "; ".join([*against[:2], *more, *why]))
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
