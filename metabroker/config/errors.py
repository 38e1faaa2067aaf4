"""Errors of a configuration: each with its file, line and key, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metabroker.errors import AdvisedError


@dataclass(frozen=True, slots=True)
class ConfigError:
    """One thing that is wrong. `line` counts from 1; `key` is dotted, empty for the whole file.

    What was given by an option and stands in no file has the option for its `file`, and line 0.
    """

    file: str
    line: int
    key: str
    message: str
    advice: str

    def __str__(self) -> str:
        if not self.line:
            return f"{self.file}: {self.message}; {self.advice}"
        what = f"{self.key}: {self.message}" if self.key else self.message
        return f"{self.file}:{self.line}: {what}; {self.advice}"

    def as_json(self) -> dict[str, Any]:
        """The error as a JSON object with the same fields."""
        return asdict(self)


class ConfigErrors(Exception):
    """Everything that is wrong with one configuration: each once, in the order of its lines."""

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        self.errors = tuple(sorted(dict.fromkeys(errors), key=lambda error: error.line))
        super().__init__("\n".join(map(str, self.errors)))


class ConfigRefusal(AdvisedError, ValueError):
    """A value that a validator does not take."""
