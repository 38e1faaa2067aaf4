"""Tables as Slurm's commands of accounting print them: in columns, or in fields to be parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from metabroker.submission.directives.getopt import Given


@dataclass(frozen=True)
class Form:
    """How rows are written: in columns, or with `between` them; `after` ends a row."""

    columns: list[tuple[str, int]]
    between: str | None
    after: str

    def row(self, texts: list[str]) -> str:
        """One row."""
        if self.between is not None:
            return self.between.join(texts) + self.after
        cells = zip(texts, self.columns)
        return "".join(f"{_column(text, width)} " for text, (_, width) in cells)

    def head(self, names: list[str]) -> Iterator[str]:
        """The lines above all rows."""
        sizes = [abs(width) for _, width in self.columns]
        yield self.row(names if self.between is not None else [n[:s] for n, s in zip(names, sizes)])
        if self.between is None:
            yield self.row(["-" * size for size in sizes])


def form_of(
    text: str, meant: Callable[[str], tuple[str, int]], options: Mapping[str, Given]
) -> Form:
    """Of `--format` and the options beside it. `meant`: the field that a word names, and its usual
    width (negative: to the left)."""
    columns = []
    for word in filter(None, text.split(",")):
        called, percent, width = word.strip().partition("%")
        name, usual = meant(called)
        given = percent and re.fullmatch(r"-?[0-9]{1,4}", width)
        columns.append((name, int(width) if given else usual))
    between = options["delimiter"].value if "delimiter" in options else "|"
    if "parsable2" in options:
        return Form(columns, between, "")
    parsable = "parsable" in options
    return Form(columns, between, between or "") if parsable else Form(columns, None, "")


def _column(text: str, width: int) -> str:
    size = abs(width)
    if len(text) > size:
        text = f"{text[: size - 1]}+"
    return text.ljust(size) if width < 0 else text.rjust(size)
