"""What becomes of a word in a shell: parameters, sums and the output of commands are put in, and
what is not quoted is split at blanks."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from .tree import Commands, Output, Parameter, Sum, Text, Word

_ARGUMENTS = (Text("", quoted=True), Parameter("@", quoted=True))  # "$@"


@dataclass(frozen=True, slots=True)
class Script:
    """The user's script begins, in a folder and with an environment."""

    folder: str
    environment: dict[str, str]


Running = Generator["float | Script", int, int]
"""See `shell`."""


@dataclass(slots=True)
class Streams:
    """Where the output of a command goes: a file, or a list of what was said."""

    said: list[str] | None = None
    path: str | None = None


class Expansion:
    """The part of a shell that reads words."""

    variables: dict[str, str]
    arguments: list[str]
    status: int
    number: int

    def _subshell(self, body: Commands, out: Streams) -> Running:
        raise NotImplementedError

    def _fields(self, words: Sequence[Word]) -> Generator[float | Script, int, list[str]]:
        """Words expanded; what is not quoted is split at blanks."""
        found: list[str] = []
        for word in words:
            values = []
            for part in word:
                text = self._plain(part)
                values.append((yield from self._value(part)) if text is None else text)
            self._split(word, values, found)
        return found

    def _plain_fields(self, words: Sequence[Word]) -> list[str]:
        """The same of words for which no command has to run."""
        found: list[str] = []
        for word in words:
            self._split(word, [self._plain(part) or "" for part in word], found)
        return found

    def _split(self, word: Word, values: Sequence[str], found: list[str]) -> None:
        """Add a word's fields to those that were found, by the values of its parts."""
        if len(word) == 1 and type(word[0]) is Text:
            found.append(values[0])
            return
        if len(word) == 2 and word == _ARGUMENTS:
            found += self.arguments
            return
        fields: list[str] = []
        joined = False  # what follows belongs to the last field
        for part, text in zip(word, values, strict=True):
            if not isinstance(part, Sum) and not part.quoted and not isinstance(part, Text):
                pieces = text.split()
                if joined and fields and pieces and not text[:1].isspace():
                    fields[-1] += pieces.pop(0)
                fields += pieces
                joined = bool(text) and not text[-1:].isspace()
            else:
                if joined and fields:
                    fields[-1] += text
                else:
                    fields.append(text)
                joined = True
        found += fields

    def _text(self, word: Word) -> Generator[float | Script, int, str]:
        """A word expanded, as one."""
        parts = []
        for part in word:
            text = self._plain(part)
            parts.append((yield from self._value(part)) if text is None else text)
        return "".join(parts)

    def _pattern(self, word: Word) -> Generator[float | Script, int, str]:
        """A word expanded, in which what was quoted stands for itself."""
        parts = []
        for part in word:
            text = yield from self._value(part)
            quoted = isinstance(part, Text) and part.quoted
            parts.append(re.sub(r"([*?[])", r"[\1]", text) if quoted else text)
        return "".join(parts)

    def _plain(self, part: Text | Parameter | Output | Sum) -> str | None:
        """A part's value; None: a command may have to run for it (see `is_plain`)."""
        if isinstance(part, Text):
            return part.text
        if isinstance(part, Parameter):
            return None if part.operator else self._parameter(part.name)
        return str(self._sum(part.expression)) if isinstance(part, Sum) else None

    def _value(self, part: Text | Parameter | Output | Sum) -> Generator[float | Script, int, str]:
        plain = self._plain(part)
        if plain is not None:
            return plain
        if isinstance(part, Output):
            said: list[str] = []
            self.status = yield from self._subshell(part.body, Streams(said))
            return "".join(said).rstrip("\n")
        assert isinstance(part, Parameter)
        value = self._parameter(part.name)
        if part.operator == ":-" and not value:
            return (yield from self._text(part.word))
        if part.operator == ":+":
            return (yield from self._text(part.word)) if value else ""
        return value

    def _parameter(self, name: str) -> str:
        if name == "?":
            return str(self.status)
        if name == "$":
            return str(self.number)
        if name.isdigit():
            place = int(name) - 1
            return self.arguments[place] if place < len(self.arguments) else ""
        return self.variables.get(name, "")

    def _sum(self, expression: str) -> int:
        words = re.findall(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[+*-]", expression)
        values = [
            self.variables.get(w) or "0" if w[0].isalpha() or w[0] == "_" else w for w in words
        ]
        total, operator = int(values[0]), ""
        for word in values[1:]:
            if word in "+-*":
                operator = word
            else:
                total = {"+": total + int(word), "-": total - int(word), "*": total * int(word)}[
                    operator
                ]
        return total
