"""Options as getopt_long(3) reads them, which is what sbatch, squeue, qsub and the others use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

from .words import Word


class Takes(Enum):
    """Whether an option has a value."""

    NOTHING = "nothing"
    VALUE = "value"  # in the same word, or the next word
    MAYBE = "maybe"  # in the same word alone


class Option(Protocol):
    """What an option is called: its long names (the first is what it is called here), and its
    letter."""

    @property
    def names(self) -> tuple[str, ...]:
        """Long names; may be empty."""

    @property
    def short(self) -> str:
        """One letter, or none."""

    @property
    def takes(self) -> Takes:
        """Whether it has a value."""


@dataclass(frozen=True)
class Given:
    """An option that was given, by its first name (or its letter), and where."""

    name: str
    value: str | None
    where: str = ""

    @property
    def shown(self) -> str:
        """As a message shows it: `job.sh:3: --qos=high`."""
        place = f"{self.where}: " if self.where else ""
        dashes = "--" if len(self.name) > 1 else "-"
        value = "" if self.value is None else f"{'=' if len(self.name) > 1 else ' '}{self.value}"
        text = f"{dashes}{self.name}{value}"
        plain = text.isascii() and text.isprintable() and len(text) <= 80
        return f"{place}{text if plain else shown(text)}"


def scan(
    words: Sequence[Word], options: Iterable[Option], command: str, *, permute: bool = False
) -> tuple[list[Given], list[Word]]:
    """The options, and the words that are none. Without `permute` the first of those, or `--`, ends
    the options; with it they may stand between them. `command` is named in errors.

    Raises:
        SubmissionError: an option that the command does not have, or a value too few or too many.
    """
    return _Scan(words, options, command, permute).run()


class _Scan:
    def __init__(
        self, words: Sequence[Word], options: Iterable[Option], command: str, permute: bool
    ) -> None:
        self._words = words
        self._command = command
        self._permute = permute
        every = list(options)
        self._long = {name: option for option in every for name in option.names}
        self._short = {option.short: option for option in every if option.short}
        self._given: list[Given] = []
        self._rest: list[Word] = []
        self._at = 0

    def run(self) -> tuple[list[Given], list[Word]]:
        while self._at < len(self._words):
            word = self._words[self._at]
            if word.text == "--":
                self._at += 1
                break
            if word.text.startswith("--"):
                self._at += 1
                self._long_option(word)
            elif word.text.startswith("-") and word.text != "-":
                self._at += 1
                self._letters(word)
            elif self._permute:
                self._at += 1
                self._rest.append(word)
            else:
                break
        return self._given, [*self._rest, *self._words[self._at :]]

    def _long_option(self, word: Word) -> None:
        name, equals, value = word.text[2:].partition("=")
        option = self._long.get(name) or self._shortened(name, word)
        if option.takes is Takes.NOTHING and equals:
            raise self._wrong(word, f"--{name} takes no value", "leave the value out")
        self._take(option, word, value if equals else None)

    def _shortened(self, name: str, word: Word) -> Option:
        """A long name may be cut, as long as it says which is meant."""
        meant = {
            option.names[0]: option
            for full, option in self._long.items()
            if name and full.startswith(name)
        }
        if len(meant) == 1:
            return next(iter(meant.values()))
        if meant:
            what = f"{shown('--' + name)} may be {' or '.join(f'--{n}' for n in sorted(meant))}"
            raise self._wrong(word, what, "write it in full")
        raise self._wrong(word, f"{shown('--' + name)} is no option of {self._command}", "")

    def _letters(self, word: Word) -> None:
        """`-Hn4`: letters without a value, and one with it."""
        letters = word.text[1:]
        while letters:
            option = self._short.get(letters[0])
            if option is None:
                what = f"{shown('-' + letters[0])} is no option of {self._command}"
                raise self._wrong(word, what, "")
            rest = letters[1:]
            if option.takes is Takes.NOTHING:
                self._take(option, word, None)
                letters = rest
            else:
                self._take(option, word, rest or None)
                return

    def _take(self, option: Option, word: Word, value: str | None) -> None:
        name = option.names[0] if option.names else option.short
        if value is None and option.takes is Takes.VALUE:
            if self._at == len(self._words):
                raise self._wrong(word, f"{shown(word.text)} needs a value", "write it behind it")
            value = self._words[self._at].text
            self._at += 1
        self._given.append(Given(name, value, word.where))

    def _wrong(self, word: Word, what: str, advice: str) -> SubmissionError:
        told = advice or f"correct it; `man {self._command}` lists the options"
        return SubmissionError(f"{word.place}{what}", told)
