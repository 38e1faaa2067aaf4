"""From a scenario file, and the values of `--set`, to runs: or to everything that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from metabroker.config.errors import ConfigError, ConfigErrors
from metabroker.config.problems import Problem
from metabroker.config.yaml_nodes import Document, mapping, read_bytes
from metabroker.simulation.system import Run

from .build import build, complete
from .errors import Wrong, blamed
from .explain import problem
from .files import ScenarioFiles
from .model import Scenario
from .overrides import Override, applied, combinations, parse


@dataclass(frozen=True)
class Plan:
    """A scenario with all its defaults, and its run. `swept`: the values that a sweep gave it."""

    scenario: Scenario
    run: Run
    swept: dict[str, Any]


def load(path: str | Path, sets: Sequence[str] = ()) -> list[Plan]:
    """The plans of the scenario in file `path` with `--set` options, several for a sweep.

    Relative paths in the file start at its own folder. Raises `ConfigErrors` with all errors.
    """
    text = read_bytes(path, "name a readable scenario file")
    return parse_text(text, sets, file=str(path), folder=Path(path).absolute().parent)


def parse_text(
    text: bytes | str,
    sets: Sequence[str] = (),
    *,
    file: str = "<text>",
    folder: Path | None = None,
) -> list[Plan]:
    """The plans of the scenario in `text`; `file` names it in errors.

    Raises `ConfigErrors` with all errors, in the order of lines.
    """
    overrides = [parse(option) for option in sets]
    document = mapping(text, file, "write `clusters:`, `policy:`, `workload:`")
    reader = _Reader(document, overrides, folder or Path.cwd())
    plans = [reader.plan(values) for values in combinations(overrides)]
    errors = document.duplicates + reader.errors
    if errors:
        raise ConfigErrors(errors)
    return [plan for plan in plans if plan is not None]


class _Reader:
    """Makes the plans of one file, and collects what is wrong with them."""

    def __init__(self, document: Document, overrides: list[Override], folder: Path) -> None:
        self.errors: list[ConfigError] = []
        self._document = document
        self._overrides = overrides
        self._folder = folder
        self._files = ScenarioFiles()

    def plan(self, values: dict[str, Any]) -> Plan | None:
        """The plan with these swept values; None, and errors, where it is wrong."""
        data = applied(self._document.data, self._overrides, values)
        try:
            if data.get("clusters") is None:
                data = self._with_clusters(data)
            scenario = Scenario.model_validate(data, context={"folder": self._folder})
            run = build(scenario, self._files)
        except ValidationError as error:
            self._complain([problem(item) for item in error.errors()])
            return None
        except Wrong as error:
            self._complain(error.problems)
            return None
        return Plan(complete(scenario, run), run, values)

    def _with_clusters(self, data: dict[str, Any]) -> dict[str, Any]:
        """With the clusters that its log tells, if it replays one. Raises Wrong."""
        workload = data.get("workload")
        log = workload.get("swf") if isinstance(workload, dict) else None
        file = log.get("file") if isinstance(log, dict) else None
        if not isinstance(log, dict) or not isinstance(file, str):
            return data
        with blamed(("workload", "swf", "file")):
            strict = log.get("strict") is True
            found = self._files.trace(self._folder / file, strict=strict).clusters()
        if not found:
            message = "is missing, and the log does not tell how many processors there were"
            raise Wrong([Problem(("clusters",), message, "write `clusters: {NAME: PROCESSORS}`")])
        return data | {"clusters": found}

    def _complain(self, problems: Sequence[Problem]) -> None:
        self.errors += [self._placed(problem) for problem in problems]

    def _placed(self, found: Problem) -> ConfigError:
        """The problem with its line, or with the option that gave the value."""
        key = ".".join(map(str, found.key))
        for override in reversed(self._overrides):
            given = tuple(map(str, override.key))
            if tuple(map(str, found.key))[: len(given)] == given:
                return ConfigError(f"--set {key}", 0, key, found.message, found.advice)
        return self._document.placed(found)
