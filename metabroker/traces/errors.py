"""What is wrong with a log: its file and line, and what to do."""

from __future__ import annotations


class TraceError(Exception):
    """A log, or a table, that cannot be read. `line` counts from 1; 0 is the file as a whole."""

    def __init__(self, file: str, line: int, message: str, advice: str) -> None:
        self.where = f"{file}:{line}" if line else file
        super().__init__(f"{self.where}: {message}; {advice}")
        self.file = file
        self.line = line
        self.message = message
        self.advice = advice
