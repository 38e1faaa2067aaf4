"""Scenario files: what users do, what happens in the clusters, and what must come of it.

See `scenarios/README.md` for the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "scenarios"
STEPS = {"submit", "cancel", "hold", "release", "wait", "end", "runs", "paused", "go on"} | {
    "look",
    "looked",
}


@dataclass(frozen=True)
class Expected:
    """What must have become of one job. None: anything."""

    state: str
    exit_code: int | None = None
    attempts: int | None = None
    clusters: list[str] | None = None  # of the last attempt's components, in order
    runs: int | None = None  # starts of its script, in all attempts and components
    together: bool = False  # started in one attempt alone, and all components ran at one time
    # Its history, of the words that are named; or several, each with an order of its own.
    events: list[list[str]] = field(default_factory=list)
    reason: str | None = None  # words that its reason holds
    files: dict[str, str] = field(default_factory=dict)  # what its files hold at the end
    holding: dict[str, list[str]] = field(default_factory=dict)  # words that its files hold


@dataclass(frozen=True)
class Scenario:
    """One scenario."""

    name: str
    file: str
    steps: list[Any]
    expect: dict[str, Expected]
    order: list[str] = field(default_factory=list)  # jobs in the order in which they started
    only: str | None = None  # the kind of clusters it is for, and why
    why: str | None = None
    configuration: dict[str, Any] = field(default_factory=dict)
    before: list[dict[str, Any]] = field(default_factory=list)
    pause: str | None = None

    def __str__(self) -> str:
        return f"{self.file}-{self.name}".replace(" ", "-")


def scenarios() -> list[Scenario]:
    """All scenarios of all files."""
    return [found for path in sorted(FOLDER.glob("*.yaml")) for found in _read(path)]


def _read(path: Path) -> Iterator[Scenario]:
    for document in yaml.safe_load_all(path.read_text()):
        _check(document, Scenario, path)
        expect = document.pop("expect", {})
        order = expect.pop("order", [])
        for words in expect.values():
            _check(words, Expected, path)
            if "events" in words and isinstance(words["events"][0], str):
                words["events"] = [words["events"]]
        for step in document["steps"]:
            verb = step if isinstance(step, str) else next(iter(step))
            assert verb in STEPS, f"{path}: {verb!r} is no step"
        assert ("only" in document) == ("why" in document), f"{path}: `only` needs its `why`"
        yield Scenario(
            file=path.stem,
            expect={name: Expected(**words) for name, words in expect.items()},
            order=order,
            **document,
        )


def _check(found: Mapping[str, Any], form: type, path: Path) -> None:
    """A misspelled key must not make a test that checks nothing."""
    unknown = found.keys() - {f.name for f in fields(form)} - {"expect"}
    assert not unknown, f"{path}: unknown keys {sorted(unknown)}"
