"""The part of the POSIX shell's grammar that jobs' scripts are written in, read into a tree.

What is not known here is an error, never skipped: a script that uses more than this needs more
here first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from .tree import (
    Case,
    Command,
    Commands,
    For,
    Function,
    If,
    Logic,
    Not,
    Output,
    Parameter,
    Redirection,
    Simple,
    Subshell,
    Sum,
    Text,
    Until,
    Word,
    is_plain,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_FUNCTION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\(\)\s*\{")
_REDIRECTED = re.compile(r"([0-9]?)(>>|>&|>|<)")
_ENDS = frozenset(" \t\n;&|()<>")
_SPACES = re.compile(r"(?:[ \t]|\\\n)*")
_BLANK = re.compile(r"(?:[ \t\n]|\\\n|#[^\n]*)*")
_PLAIN = re.compile(r"[^ \t\n;&|()<>'\"$\\]*")
_PLAIN_IN_QUOTES = re.compile(r'[^"$\\]*')
_PLAIN_IN_BRACES = re.compile(r"[^}$\\]*")


@functools.lru_cache(maxsize=512)
def parse(text: str) -> Commands:
    """A script's commands.

    Raises:
        SyntaxError: it is not in the part of the grammar that is known here.
    """
    found: list[Command] = []
    begun = ""
    for paragraph in text.split("\n\n"):  # most are the same in all scripts
        begun = f"{begun}\n\n{paragraph}" if begun else paragraph
        commands = _whole(begun)
        if commands is not None:
            found += commands
            begun = ""
    return (*found, *_read(begun))


@functools.lru_cache(maxsize=2048)
def _whole(text: str) -> Commands | None:
    """The commands, unless the last of them goes on after it."""
    try:
        return _read(text)
    except SyntaxError:
        return None


def _read(text: str) -> Commands:
    reader = _Reader(text)
    found = reader.commands(())
    reader.blank()
    if reader.at < len(text):
        raise reader.wrong("not understood")
    return found


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0

    def wrong(self, what: str) -> SyntaxError:
        return SyntaxError(f"{what}: {self.text[self.at : self.at + 60]!r}")

    # --- blanks ---------------------------------------------------------------------------------

    def spaces(self) -> None:
        self.passes(_SPACES)

    def blank(self) -> None:
        """Spaces, line ends and comments."""
        self.passes(_BLANK)

    def passes(self, what: re.Pattern[str]) -> str:
        """What comes next of that; it may be nothing."""
        found = what.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found[0]

    def takes(self, text: str) -> bool:
        """Whether that comes next; then it is passed."""
        self.spaces()
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def keyword(self) -> str:
        """The bare word that comes next; "" if there is none."""
        self.blank()
        found = _NAME.match(self.text, self.at)
        if found is None:
            return ""
        end = found.end()
        return found[0] if end == len(self.text) or self.text[end] in _ENDS else ""

    def expect(self, word: str) -> None:
        self.blank()
        if not self.takes(word):
            raise self.wrong(f"{word} expected")

    # --- commands -------------------------------------------------------------------------------

    def commands(self, ends: tuple[str, ...]) -> Commands:
        """Commands up to one of these words, or to what no command begins with."""
        found: list[Command] = []
        while True:
            self.blank()
            if self.at >= len(self.text) or self.text[self.at] in ");}":
                return tuple(found)
            if ends and self.keyword() in ends:
                return tuple(found)
            found.append(self.logic())
            self.spaces()
            if self.text.startswith(";", self.at) and not self.text.startswith(";;", self.at):
                self.at += 1

    def logic(self) -> Command:
        left = self.one()
        while self.takes("&&") or self.takes("||"):
            operator = self.text[self.at - 2 : self.at]
            self.blank()
            left = Logic(left, operator, self.one())
        return left

    def one(self) -> Command:
        self.blank()
        if self.text.startswith("! ", self.at):
            self.at += 1
            return Not(self.one())
        if self.takes("("):
            body = self.commands(())
            self.expect(")")
            return Subshell(body)
        function = _FUNCTION.match(self.text, self.at)
        if function is not None:
            self.at = function.end()
            body = self.commands(())
            self.expect("}")
            return Function(function[1], body)
        compound = _COMPOUND.get(self.keyword())
        return self.simple() if compound is None else compound(self)

    def if_(self) -> Command:
        branches: list[tuple[Commands, Commands]] = []
        otherwise: Commands = ()
        word = "if"
        while word in ("if", "elif"):
            self.expect(word)
            condition = self.commands(("then",))
            self.expect("then")
            branches.append((condition, self.commands(("elif", "else", "fi"))))
            word = self.keyword()
        if word == "else":
            self.expect("else")
            otherwise = self.commands(("fi",))
        self.expect("fi")
        return If(tuple(branches), otherwise)

    def until(self) -> Command:
        word = self.keyword()
        self.expect(word)
        condition = self.commands(("do",))
        self.expect("do")
        body = self.commands(("done",))
        self.expect("done")
        return Until(condition, body, word == "until")

    def for_(self) -> Command:
        self.expect("for")
        name = self.keyword()
        self.expect(name)
        self.expect("in")
        words = []
        self.spaces()
        while self.text[self.at] not in ";\n":
            words.append(self.word())
            self.spaces()
        self.at += 1
        self.expect("do")
        body = self.commands(("done",))
        self.expect("done")
        return For(name, tuple(words), body)

    def case(self) -> Command:
        self.expect("case")
        self.spaces()
        word = self.word()
        self.expect("in")
        branches = []
        while self.keyword() != "esac":
            patterns = [self.word()]
            while self.takes("|"):
                self.spaces()
                patterns.append(self.word())
            self.expect(")")
            branches.append((tuple(patterns), self.commands(("esac",))))
            self.blank()
            self.takes(";;")
        self.expect("esac")
        return Case(word, tuple(branches))

    def simple(self) -> Command:
        assigned: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            self.spaces()
            if self.at >= len(self.text) or self.text[self.at] in "\n;&|)#":
                break
            leads = _REDIRECTED.match(self.text, self.at)
            names = _ASSIGNED.match(self.text, self.at)
            if leads is not None:
                self.at = leads.end()
                self.spaces()
                descriptor = int(leads[1] or (0 if leads[2] == "<" else 1))
                redirections.append(Redirection(descriptor, leads[2], self.word()))
            elif names is not None and not words:
                self.at = names.end()
                assigned.append((names[1], self.word()))
            else:
                words.append(self.word())
        if not (assigned or words or redirections):
            raise self.wrong("a command expected")
        plain = bool(words) and not assigned and not redirections and all(map(is_plain, words))
        return Simple(tuple(assigned), tuple(words), tuple(redirections), plain)

    # --- words ----------------------------------------------------------------------------------

    def word(self) -> Word:
        """What comes up to the next blank or operator; () if there is nothing."""
        parts: list[Text | Parameter | Output | Sum] = []
        while self.at < len(self.text) and self.text[self.at] not in _ENDS:
            char = self.text[self.at]
            if char == "'":
                end = self.text.index("'", self.at + 1)
                parts.append(Text(self.text[self.at + 1 : end], quoted=True))
                self.at = end + 1
            elif char == '"':
                self.at += 1
                parts += self.until_quote()
            else:
                parts.append(self.part(False, _PLAIN))
        return tuple(parts)

    def until_quote(self) -> list[Text | Parameter | Output | Sum]:
        parts: list[Text | Parameter | Output | Sum] = [Text("", quoted=True)]
        while not self.text.startswith('"', self.at):
            parts.append(self.part(True, _PLAIN_IN_QUOTES))
        self.at += 1
        return parts

    def part(self, quoted: bool, plain: re.Pattern[str]) -> Text | Parameter | Output | Sum:
        char = self.text[self.at]
        if char == "\\":
            self.at += 2
            escaped = self.text[self.at - 1]
            kept = "\\" if quoted and escaped not in '$`"\\' else ""
            return Text(kept + escaped, quoted=True)
        if char == "$":
            return self.dollar(quoted)
        return Text(self.passes(plain), quoted)

    def dollar(self, quoted: bool) -> Text | Parameter | Output | Sum:
        self.at += 1
        if self.text.startswith("((", self.at):
            end = self.text.index("))", self.at)
            expression = self.text[self.at + 2 : end]
            self.at = end + 2
            return Sum(expression)
        if self.text.startswith("(", self.at):
            self.at += 1
            body = self.commands(())
            self.expect(")")
            return Output(body, quoted)
        if self.text.startswith("{", self.at):
            return self.braced(quoted)
        found = _NAME.match(self.text, self.at)
        name = found[0] if found else self.text[self.at]
        self.at += len(name)
        return Parameter(name, quoted)

    def braced(self, quoted: bool) -> Parameter:
        found = _NAME.match(self.text, self.at + 1)
        if found is None:
            raise self.wrong("a name expected")
        self.at = found.end()
        operator, parts = "", []
        if not self.text.startswith("}", self.at):
            operator = self.text[self.at : self.at + 2]
            if operator not in (":-", ":+"):
                raise self.wrong("not understood")
            self.at += 2
            while not self.text.startswith("}", self.at):
                parts.append(self.part(quoted, _PLAIN_IN_BRACES))
        self.at += 1
        return Parameter(found[0], quoted, operator, tuple(parts))


_COMPOUND: dict[str, Callable[[_Reader], Command]] = {
    "if": _Reader.if_, "case": _Reader.case, "for": _Reader.for_,
    "until": _Reader.until, "while": _Reader.until,
}  # fmt: skip
