"""Values as Slurm's commands print them."""

from __future__ import annotations

SEPARATOR = "\x1f"


def word(value: str | None) -> str:
    """A text, or what stands where there is none."""
    return value if value else "(null)"


def moment(seconds: int | None) -> str:
    """A time in Unix seconds."""
    return str(seconds) if seconds else "N/A"


def text_of(error: Exception) -> str:
    """What an error says: pyslurm's older functions give a text and a number."""
    first = error.args[0] if error.args else ""
    return str(first) or type(error).__name__
