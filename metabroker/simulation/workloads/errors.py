"""What is wrong with a file that a workload is made of."""

from __future__ import annotations


class WorkloadError(ValueError):
    """A table that cannot be used: its file, its line (from 1; 0 is the whole file), what to do."""

    def __init__(self, file: str, line: int, message: str, advice: str) -> None:
        where = f"{file}:{line}" if line else file
        super().__init__(f"{where}: {message}; {advice}")
        self.file = file
        self.line = line
        self.message = message
        self.advice = advice
