"""A script as a tree: what `syntax` reads and `shell` runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as they are."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`, or `${name:-word}` and `${name:+word}`."""

    name: str
    quoted: bool
    operator: str = ""
    word: Word = ()


@dataclass(frozen=True, slots=True)
class Output:
    """`$(commands)`."""

    body: Commands
    quoted: bool


@dataclass(frozen=True, slots=True)
class Sum:
    """`$((expression))`."""

    expression: str


Word = tuple["Text | Parameter | Output | Sum", ...]


def is_plain(word: Word) -> bool:
    """Whether no command has to run before it is known what a word is."""
    return all(
        not part.operator if isinstance(part, Parameter) else not isinstance(part, Output)
        for part in word
    )


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a file descriptor leads: to a file, or to what another one leads to."""

    descriptor: int
    operator: str
    word: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, and a command's words."""

    assigned: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]
    plain: bool  # words alone, and nothing has to run before it is known what they are


@dataclass(frozen=True, slots=True)
class Logic:
    """`left && right`, `left || right`."""

    left: Command
    operator: str
    right: Command


@dataclass(frozen=True, slots=True)
class Not:
    """`! command`."""

    command: Command


@dataclass(frozen=True, slots=True)
class If:
    """Conditions and what follows; `otherwise` may be empty."""

    branches: tuple[tuple[Commands, Commands], ...]
    otherwise: Commands


@dataclass(frozen=True, slots=True)
class Case:
    """Patterns and what follows."""

    word: Word
    branches: tuple[tuple[tuple[Word, ...], Commands], ...]


@dataclass(frozen=True, slots=True)
class For:
    """For each of the words."""

    name: str
    words: tuple[Word, ...]
    body: Commands


@dataclass(frozen=True, slots=True)
class Until:
    """Until the condition holds; `wanted` is False for `while`."""

    condition: Commands
    body: Commands
    wanted: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function is defined."""

    name: str
    body: Commands


@dataclass(frozen=True, slots=True)
class Subshell:
    """Commands in a shell of their own."""

    body: Commands


Command = Simple | Logic | Not | If | Case | For | Until | Function | Subshell
Commands = tuple["Command", ...]
