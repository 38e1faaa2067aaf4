"""Response time against utilization, readable without colour."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from .sweeps import SweepLine

ENDINGS = (".png", ".svg", ".pdf")

_STYLES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "v", "D", "x", "+", "*", "<", ">", "p")


def draw(lines: Sequence[SweepLine], path: Path) -> None:
    """Draw the lines, each with a style and a marker of its own, and intervals as bars.

    Saturated runs have no mean: they are not drawn, and the legend says from where on. The format
    is that of the file's ending. Raises ImportError without matplotlib, OSError where the file
    cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for line, style, marker in zip(lines, cycle(_STYLES), cycle(_MARKERS), strict=False):
        label = line.label
        if line.saturated:
            label += f" (saturated at {min(line.saturated):.3g})"
        across, up, bars = ([point[i] for point in line.points] for i in range(3))
        axes.errorbar(
            across,
            up,
            yerr=bars if any(bars) else None,
            label=label,
            linestyle=style,
            marker=marker,
            markersize=5,
            linewidth=1.2,
            capsize=2,
            color="black",
            markerfacecolor="white",
        )
    axes.set_xlabel("gross utilization")
    axes.set_ylabel("mean response time")
    axes.set_ylim(bottom=0)
    axes.grid(linestyle=":", linewidth=0.5, color="0.7")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=150)
