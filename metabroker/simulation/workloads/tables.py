"""CSV tables with a header line, read with errors that name file, line and column."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .distributions import Discrete
from .errors import WorkloadError


class Row(NamedTuple):
    """One line of a table: its number in the file, and its values by column."""

    file: str
    line: int
    values: dict[str, str]

    def whole(self, column: str, least: int = 1) -> int:
        """A whole number of at least `least`."""
        text = self.values[column]
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise self.wrong(column, f"must be a whole number of at least {least}, not {text!r}")
        return int(text)

    def number(self, column: str) -> float:
        """A number that is not negative."""
        text = self.values[column]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise self.wrong(column, f"must be a number that is not negative, not {text!r}")
        return value

    def wrong(self, column: str, message: str) -> WorkloadError:
        """What is wrong with a value."""
        return WorkloadError(self.file, self.line, f"{column}: {message}", "correct the line")


def rows(path: str | Path, columns: Sequence[str]) -> Iterator[Row]:
    """The lines of a table that has at least these columns. Raises WorkloadError."""
    name = str(path)
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                message = f"has no column {missing[0]!r}"
                raise WorkloadError(name, 1, message, f"its first line is {','.join(columns)}")
            for record in reader:
                if any(record.get(column) is None for column in columns):
                    advice = f"write {len(columns)} values separated by commas"
                    raise WorkloadError(name, reader.line_num, "a value is missing", advice)
                yield Row(name, reader.line_num, {c: record[c].strip() for c in columns})
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise WorkloadError(name, 0, message, "name a readable file") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise WorkloadError(
            name, 0, f"is not a CSV table ({error})", "see docs/simulate.md"
        ) from error


def sizes(path: str | Path) -> Discrete:
    """A distribution of total sizes: columns `size` and `prob`, which add up to 1 within 0.001.

    Raises WorkloadError.
    """
    found: dict[int, float] = {}
    for row in rows(path, ("size", "prob")):
        size = row.whole("size")
        if size in found:
            raise row.wrong("size", f"{size} is given twice")
        found[size] = row.number("prob")
    total = sum(found.values())
    if not math.isclose(total, 1.0, abs_tol=0.001):
        message = f"prob: the probabilities add up to {total:g}, not 1"
        raise WorkloadError(str(path), 0, message, "correct them")
    kept = {size: prob / total for size, prob in sorted(found.items()) if prob}
    return Discrete(tuple(kept), tuple(kept.values()))
