"""What an experiment has found as CSV, and as text for people."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from .experiment import Result, Value

COLUMNS = ("panel", "series", "kind", "x", "mean", "ci95", "replications", "saturated")


def rows(result: Result) -> list[dict[str, object]]:
    """One row for each value: `ci95` is the half-width, None where there is no interval."""
    return [dict(zip(COLUMNS, _row(value), strict=True)) for value in result.values]


def _row(value: Value) -> tuple[object, ...]:
    interval = value.interval
    mean = None if interval is None else interval.mean
    half = None if interval is None or interval.half != interval.half else interval.half
    count = 0 if interval is None else interval.values
    return (value.panel, value.series, value.kind, value.x, mean, half, count, value.saturated)


def write(result: Result, path: Path) -> None:
    """Write the CSV; its first lines, which begin with #, say what it is. Raises OSError."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        for note in (f"{result.name}: {result.title}", result.source, *result.notes):
            file.write(f"# {note}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for value in result.values:
            row = _row(value)
            writer.writerow("" if cell is None else _cell(cell) for cell in row)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return f"{value:.6g}" if isinstance(value, float) else value


def text(result: Result) -> Iterator[str]:
    """Lines for people: one small table for each panel."""
    yield f"{result.name}: {result.title}"
    yield f"{result.source}; {result.y_label}"
    for panel, values in result.panels.items():
        yield ""
        yield panel
        yield from _aligned(_bars(values) if result.form == "bars" else _curves(values))
    yield ""
    for note in result.notes:
        yield f"- {note}"


def _bars(values: Sequence[Value]) -> list[list[str]]:
    kinds = list(dict.fromkeys(value.kind for value in values))
    found = {(value.series, value.kind): value for value in values}
    series = dict.fromkeys(value.series for value in values)
    return [["", *kinds]] + [
        [name, *(_shown(found.get((name, kind))) for kind in kinds)] for name in series
    ]


def _curves(values: Sequence[Value]) -> list[list[str]]:
    places = sorted({value.x for value in values}, key=lambda x: (isinstance(x, str), x))
    found = {(value.series, value.kind, value.x): value for value in values}
    series = dict.fromkeys((value.series, value.kind) for value in values)
    several = len({kind for _, kind in series}) > 1
    head = ["", *(f"{x:.3g}" if isinstance(x, float) else str(x) for x in places)]
    return [head] + [
        [
            f"{name} {kind}" if several else name,
            *(_shown(found.get((name, kind, x)), False) for x in places),
        ]
        for name, kind in series
    ]


def _shown(value: Value | None, interval: bool = True) -> str:
    if value is None or value.interval is None:
        return "-"
    if value.saturated:
        return "SAT"
    mean, half = value.interval.mean, value.interval.half
    return f"{mean:.4g} ±{half:.2g}" if interval and half == half else f"{mean:.4g}"


def _aligned(table: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *others in table:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join(["", first.ljust(widths[0]), *cells]).rstrip()
