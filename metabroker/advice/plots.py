"""What each setting would have changed, as intervals beside zero."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from .advice import Chapter
from .effects import LEVEL

_COLOURS = {True: "#1b3a5c", False: "0.6"}


def draw(chapter: Chapter, path: Path) -> Path:
    """Write a PNG: one panel for each group of jobs, one interval for each setting; certain ones
    are dark. Raises OSError."""
    tried = [each for each in chapter.compared if each.effects]
    who = list(dict.fromkeys(effect.who for each in tried for effect in each.effects)) or [""]
    columns = min(3, len(who))
    lines = -(-len(who) // columns)
    height = 1.0 + lines * (0.7 + 0.22 * max(2, len(tried)))
    figure = Figure(figsize=(3.6 * columns + 1.2, height), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True).flatten()
    for axis, name in zip(axes, who, strict=False):
        for place, each in enumerate(tried):
            effect = each.of(name)
            if effect is not None:
                colour = _COLOURS[effect.certain]
                if effect.low is not None and effect.high is not None:
                    ends = [effect.low / 3600, effect.high / 3600]
                    axis.plot(ends, [place, place], color=colour, linewidth=2)
                axis.plot([effect.change / 3600], [place], "o", color=colour, markersize=4)
        axis.axvline(0, color="0.3", linewidth=0.8)
        axis.set_xscale("symlog", linthresh=0.1)
        axis.tick_params(labelsize=6)
        axis.set_title(name, fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(tried)), [each.setting.name for each in tried], fontsize=7)
    axes[0].invert_yaxis()
    for axis in axes[len(who) :]:
        axis.set_visible(False)
    figure.suptitle(
        f"Change of the mean wait in hours against {chapter.family.now.name}; {LEVEL:.0%}",
        fontsize=9,
    )
    figure.savefig(path, dpi=110)
    return path
