"""The advice as a short report: Markdown, and HTML with the plots in it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from . import plots
from .advice import ALL, Advice, Chapter, Compared
from .effects import LEAST_JOBS, LEAST_WEEKS, LEVEL, Effect
from .settings import PART

CANNOT_TELL = (
    "Users adapt: where waits become shorter they submit other jobs, at other times. The replay "
    "gives them the same jobs at the same times.",
    "The cluster's own priorities (fair share, queues, reservations, maintenance, nodes that were "
    "down) are not in the log. A replay knows processors and time limits only.",
    "Jobs that were never submitted, or were cancelled before they started, are not there.",
    "Run times are those of the log wherever a job is placed.",
    "Resource limits of users and queues (`limits.per_user`, `limits.per_queue`) are not tried. "
    "`aging` is the daemon's own (20 jobs, 24 h), and not what a site may have set.",
)


class Heading(NamedTuple):
    """A heading of this level."""

    level: int
    text: str


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Items(NamedTuple):
    """A list."""

    items: Sequence[str]


class Table(NamedTuple):
    """A table."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


class Picture(NamedTuple):
    """A plot, a PNG file beside the report."""

    path: Path
    text: str


Block = Heading | Text | Items | Table | Picture


def write(advice: Advice, folder: Path) -> list[Path]:
    """Write advice.md, advice.html and the plots into `folder`, which is there. Raises OSError."""
    pictures = [
        plots.draw(chapter, folder / f"advice-{number}.png")
        for number, chapter in enumerate(advice.chapters, 1)
    ]
    blocks = list(report(advice, pictures))
    texts = {"advice.md": "\n".join(map(_markdown, blocks)), "advice.html": _page(blocks)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [*(folder / name for name in texts), *pictures]


def report(advice: Advice, pictures: Sequence[Path]) -> Iterator[Block]:
    """What it says."""
    site = advice.site
    yield Heading(1, f"What to set, by {site.title or site.file}")
    sizes = ", ".join(f"{n} ({p})" for n, p in zip(site.names, site.processors, strict=True))
    logged = "-" if advice.logged is None else span(advice.logged)
    yield Table(
        ("jobs", "weeks", "clusters (processors)", "load", "mean wait in the log"),
        [(str(advice.jobs), str(advice.weeks), sizes, f"{advice.load:.0%}", logged)],
    )
    if advice.left_out:
        yield Text(f"{advice.left_out} jobs are larger than the clusters, and were left out.")
    yield Items([_advised(chapter) for chapter in advice.chapters])
    for chapter, picture in zip(advice.chapters, pictures, strict=True):
        yield from _chapter(chapter, picture)
    yield Heading(2, "How sure this is")
    yield Text(
        f"Each setting is compared with the one in force on the same jobs. The interval of the "
        f"difference is of {LEVEL:.0%}, by drawing weeks (pairs of neighbours) with replacement. "
        f"An effect is certain where it does not contain zero, in a log of {LEAST_WEEKS} weeks at "
        f"least; of fewer than {LEAST_JOBS} jobs nothing is told."
    )
    yield Heading(2, "What the log cannot tell")
    yield Items([*_of_replay(advice), *CANNOT_TELL])


def span(seconds: float) -> str:
    """A mean wait, short."""
    size = abs(seconds)
    if size < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if size < 7200 else f"{seconds / 3600:.1f} h"


def _advised(chapter: Chapter) -> str:
    best, about = chapter.best, chapter.family.about
    if best is None:
        return (
            f"{about}: leave **{chapter.family.now.name}**. Nothing that was tried certainly makes "
            "the mean wait of all jobs shorter."
        )
    effect = best.of(ALL)
    assert effect is not None
    told = [f"{found.who} ({span(found.change)} more)" for found in best.worse]
    worse = ", ".join(told) or "nobody, as far as is certain"
    only = "" if best.setting.live else " (the daemon cannot do it: the simulator alone)"
    return (
        f"{about}: set {_keys(best)}{only}. All jobs wait {span(-effect.change)} less in the mean "
        f"({span(effect.before)} to {span(effect.after)}). It gets worse for: {worse}."
    )


def _keys(compared: Compared) -> str:
    def shown(value: object) -> str:
        if isinstance(value, dict):
            inner = ", ".join(f"{name}: {shown(each)}" for name, each in value.items())
            return f"{{{inner}}}"
        return str(value)

    keys = (f"{key}: {shown(value)}" for key, value in compared.setting.keys.items())
    return " and ".join(f"`{key}`" for key in keys)


def _chapter(chapter: Chapter, picture: Path) -> Iterator[Block]:
    about = chapter.family.about
    yield Heading(2, about[0].upper() + about[1:])
    yield Text(f"In force: {chapter.family.now.name}; mean wait {span(chapter.wait)}.")
    yield Picture(picture, f"Change of the mean wait against {chapter.family.now.name}")
    rows = [
        (each.setting.name, effect.who, str(effect.jobs), *_numbers(effect))
        for each in chapter.compared
        for effect in each.effects
    ]
    yield Table(("setting", "whose jobs", "jobs", "wait now", "then", "change", "certain"), rows)
    refused = [f"{e.setting.name}: not tried: {e.refused}" for e in chapter.compared if e.refused]
    if refused:
        yield Items(refused)


def _numbers(effect: Effect) -> tuple[str, str, str, str]:
    interval = span(effect.change)
    if effect.low is not None and effect.high is not None:
        interval += f" [{span(effect.low)}, {span(effect.high)}]"
    certain = ("less" if effect.sign < 0 else "more") if effect.certain else ""
    return span(effect.before), span(effect.after), interval, certain


def _of_replay(advice: Advice) -> list[str]:
    """How far the replay is from the log."""
    now = advice.chapters[0]
    found = []
    if advice.logged is not None:
        found.append(
            f"The replay of {now.family.now.name} has a mean wait of {span(now.wait)}, the log "
            f"{span(advice.logged)}. The further these are apart, the less the replay is the site."
        )
    found.append(
        f"Who would come through the broker is not known: where a part does, it is taken to be "
        f"every {PART}nd user."
    )
    return found


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}\n"
    if isinstance(block, Text):
        return f"{block.text}\n"
    if isinstance(block, Items):
        return "".join(f"- {item}\n" for item in block.items)
    if isinstance(block, Picture):
        return f"![{block.text}]({block.path.name})\n"
    lines = [block.heads, ["---"] * len(block.heads), *block.rows]
    return "".join(f"| {' | '.join(c.replace('|', '/') for c in line)} |\n" for line in lines)


_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;font-size:14px}td,th{border:1px solid #ccc;padding:2px 8px;"
    "text-align:left}img{max-width:100%}code{background:#eee}"
)


def _page(blocks: Sequence[Block]) -> str:
    body = "\n".join(map(_html, blocks))
    title = escape(next(block.text for block in blocks if isinstance(block, Heading)))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style>\n{body}\n</html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if isinstance(block, Text):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in block.items)}</ul>"
    if isinstance(block, Picture):
        data = base64.b64encode(block.path.read_bytes()).decode()
        return f'<p><img alt="{escape(block.text)}" src="data:image/png;base64,{data}"></p>'
    head = "".join(f"<th>{escape(cell)}</th>" for cell in block.heads)
    rows = (f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in block.rows)
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _inline(text: str) -> str:
    """With `code` and **strong** as Markdown has them."""
    shown = escape(text)
    for mark, tag in (("**", "strong"), ("`", "code")):
        parts = shown.split(mark)
        shown = "".join(
            part if place % 2 == 0 else f"<{tag}>{part}</{tag}>" for place, part in enumerate(parts)
        )
    return shown
