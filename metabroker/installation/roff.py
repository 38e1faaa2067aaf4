"""Manual pages as man(7) has them: escaped text, and the few macros that our pages need."""

from __future__ import annotations

import re
from collections.abc import Iterable


def escaped(text: str) -> str:
    """Text that roff prints as it is; what stands in `backticks` is bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    # A line that begins with one of these would be a macro's.
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def bold(text: str) -> str:
    """Bold, backticks or not."""
    return f"\\fB{escaped(text.replace('`', ''))}\\fR"


def italic(text: str) -> str:
    """What stands for something else: FILE."""
    return f"\\fI{escaped(text)}\\fR"


def head(name: str, section: int, version: str) -> str:
    """The first line of a page."""
    return f'.TH "{escaped(name.upper())}" "{section}" "" "metabroker {version}" "metabroker"\n'


def section(title: str, *parts: str) -> str:
    """A section, if there is anything in it."""
    text = "".join(parts)
    return f".SH {title}\n{text}" if text else ""


def subsection(title: str, *parts: str) -> str:
    """A part of a section."""
    return f".SS {escaped(title)}\n{''.join(parts)}"


def paragraphs(text: str, macro: str = "PP") -> str:
    """Paragraphs, set off by empty lines in the source."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", text.strip("\n"))]
    return f".{macro}\n".join(escaped(block) + "\n" for block in blocks if block)


def listed(items: Iterable[tuple[str, str]]) -> str:
    """A list of terms (roff already) and what is said of each (plain text)."""
    return "".join(f".TP\n{term}\n{paragraphs(text, 'IP')}" for term, text in items)


def example(*lines: str) -> str:
    """Lines as they are typed."""
    return ".PP\n.nf\n.RS\n" + "".join(escaped(line) + "\n" for line in lines) + ".RE\n.fi\n"
