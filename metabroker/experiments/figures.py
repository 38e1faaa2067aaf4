"""What an experiment has found as a plot in the paper's form, readable without colour.

The PDF is for a paper: as wide as one column or two, its fonts embedded, and without the title and
the notes, which belong into the caption.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from .experiment import Result, Value

_LINES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "v", "D", "x", "+", "*")
_HATCHES = ("", "///", "---", "xxx", "\\\\\\")
_GREYS = ("0.35", "0.95", "0.70", "0.85", "0.55")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9", "0.45")
"""Those of Okabe and Ito (2008), which can be told apart whatever colours one sees."""
_ONE_COLUMN, _TWO_COLUMNS = 3.5, 7.16
"""Widths in inches, as journals of the IEEE and the ACM print figures."""
_STEEP = 12.0
"""A curve is shown up to this many times the lowest mean of its panel: then it rises steeply."""
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "font.sans-serif": ["DejaVu Sans"],
    "hatch.linewidth": 0.5,
    "svg.fonttype": "none",  # text as text: a tenth of the size
    "svg.hashsalt": "metabroker",  # the same file every time
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
}


def draw(result: Result, folder: Path) -> list[Path]:
    """Write NAME.png, NAME.svg and NAME.pdf into `folder`, which is there; returns them. Raises
    OSError."""
    with mpl.rc_context(_STYLE):
        figure = _figure(result)
        files = [folder / f"{result.name}.{form}" for form in ("png", "svg", "pdf")]
        figure.savefig(files[0], dpi=130)
        figure.set_layout_engine("none")  # it stays as it is: to find it takes longer than to draw
        figure.savefig(files[1], metadata={"Date": None})
        _figure(result, paper=True).savefig(files[2], metadata={"CreationDate": None})
    return files


def _figure(result: Result, paper: bool = False) -> Figure:
    panels = result.panels
    columns = min(result.columns, len(panels))
    lines = -(-len(panels) // columns)
    size = (3.4 * columns + 0.6, 2.7 * lines + 0.9)
    if paper:
        size = (_ONE_COLUMN if columns == 1 else _TWO_COLUMNS, 2.2 * lines)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).flatten()
    for axis, (title, values) in zip(axes, panels.items(), strict=False):
        if result.form == "bars":
            _bars(axis, values)
        else:
            _curves(axis, values, _STEEP if result.steep else math.inf)
        axis.set_title(title)
        axis.set_xlabel(result.x_label if result.form != "bars" else "")
        axis.set_ylabel(textwrap.fill(result.y_label, 24))
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    if paper:
        return figure
    head = textwrap.fill(f"{result.title} ({result.source})", 32 * columns + 20)
    figure.suptitle(head, fontsize=9)
    notes = textwrap.fill(". ".join(result.notes), 40 * columns + 20, break_on_hyphens=False)
    figure.supxlabel(notes, fontsize=6, color="0.3")
    return figure


def _bars(axis: Any, values: Sequence[Value]) -> None:
    """Groups of bars; one of a saturated system is as high as the axis, and says SAT."""
    groups: dict[str, list[Value]] = {}
    for value in values:
        if value.interval is not None:
            groups.setdefault(value.series, []).append(value)
    kinds = list(dict.fromkeys(value.kind for value in values))
    width = 0.8 / len(kinds)
    places = {
        value: place + (index - (len(group) - 1) / 2) * width
        for place, group in enumerate(groups.values())
        for index, value in enumerate(group)
    }
    top = _top([value for value in places if not value.saturated])
    for index, kind in enumerate(kinds):
        found = [value for value in places if value.kind == kind]
        axis.bar(
            [places[value] for value in found],
            [top if value.saturated else _mean(value) for value in found],
            width,
            yerr=[0.0 if value.saturated else _half(value) for value in found],
            label=kind,
            color=_GREYS[index % len(_GREYS)],
            hatch=_HATCHES[index % len(_HATCHES)],
            edgecolor="black",
            linewidth=0.6,
            error_kw={"elinewidth": 0.8, "capsize": 1.5},
        )
    for value, place in places.items():
        if value.saturated:
            axis.text(place, top, "SAT", ha="center", va="bottom", fontsize=5, rotation=90)
    axis.set_xticks(range(len(groups)), list(groups))
    axis.set_ylim(0, 1.15 * top)
    if len(kinds) > 1:
        axis.legend(frameon=False, fontsize=6, ncols=len(kinds), loc="upper left")


def _top(values: Sequence[Value]) -> float:
    """A height that shows all means, and all intervals but very wide ones."""
    means = [_mean(value) for value in values]
    highs = [_mean(value) + _half(value) for value in values]
    return 1.1 * min(max(highs, default=1.0), 1.6 * max(means, default=1.0)) or 1.0


def _curves(axis: Any, values: Sequence[Value], steep: float) -> None:
    """Lines with intervals; the points of a saturated system are left out, and so is what is more
    than `steep` times the lowest mean."""
    series = dict.fromkeys((value.series, value.kind) for value in values)
    several = len({kind for _, kind in series}) > 1
    for index, (name, kind) in enumerate(series):
        found = [
            v
            for v in values
            if (v.series, v.kind) == (name, kind) and v.interval is not None and not v.saturated
        ]
        axis.errorbar(
            [v.x for v in found],
            [_mean(v) for v in found],
            yerr=[_half(v) for v in found],
            label=f"{name} {kind}" if several else name,
            color=_COLOURS[index % len(_COLOURS)],
            linestyle=_LINES[index % len(_LINES)],
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=3.5,
            linewidth=1.0,
            elinewidth=0.6,
            capsize=1.5,
        )
    shown = [_mean(value) for value in values if value.interval and not value.saturated]
    if shown:
        low = min(shown)
        axis.set_ylim(0, min(1.1 * max(shown), steep * low if low > 0 else math.inf) or 1.0)
    axis.legend(frameon=False, fontsize=6, loc="upper left")


def _mean(value: Value) -> float:
    return 0.0 if value.interval is None else value.interval.mean


def _half(value: Value) -> float:
    half = 0.0 if value.interval is None else value.interval.half
    return half if half == half else 0.0
