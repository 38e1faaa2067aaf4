"""All experiments and claims, by name, from one module per paper.

To add a paper: write a module in this folder with

    def experiments() -> list[Experiment]      # each with a name of contract C5
    def checks() -> Mapping[str, Check]        # by the id in data/claims.csv

(either may be empty), and name it in PAPERS. What goes beyond the papers is named in OURS, and its
claims are in data/beyond.csv. Claims that nobody decides are told as undecided.
"""

from __future__ import annotations

import difflib
from functools import cache

from . import (
    beyond_line,
    beyond_plan,
    beyond_predict,
    bucur_epema_2003,
    bucur_epema_2007,
    ernemann_2002,
    karatza_hilzer_2002,
    sinaga_2004,
)
from .evidence import Check
from .experiment import Experiment

PAPERS = (bucur_epema_2003, bucur_epema_2007, karatza_hilzer_2002, ernemann_2002, sinaga_2004)
OURS = (beyond_line, beyond_predict, beyond_plan)
CLAIMS = "claims"
"""The name under which all claims of the papers are decided; not an experiment."""
BEYOND = "beyond"
"""The same of our own claims."""
TABLES = (CLAIMS, BEYOND)
"""Each name is that of a table in data/ too."""


class UnknownExperiment(ValueError):
    """There is no experiment of that name; `nearest` is the known name that is most like it."""

    def __init__(self, name: str, nearest: str | None) -> None:
        super().__init__(f"there is no experiment {ascii(name)[:60]}")
        self.nearest = nearest


@cache
def experiments() -> dict[str, Experiment]:
    """All experiments, in the order of the papers."""
    return {found.name: found for paper in (*PAPERS, *OURS) for found in paper.experiments()}


@cache
def checks() -> dict[str, Check]:
    """How each claim is decided, by its id."""
    modules = (*PAPERS, *OURS)
    return {name: check for module in modules for name, check in module.checks().items()}


def find(name: str) -> Experiment:
    """The experiment of a name of contract C5. Raises UnknownExperiment."""
    known = experiments()
    if name not in known:
        near = difflib.get_close_matches(name.lower(), [*known, *TABLES], n=1, cutoff=0.5)
        raise UnknownExperiment(name, near[0] if near else None)
    return known[name]
