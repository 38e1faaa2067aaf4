"""The one error of this package."""

from __future__ import annotations


class SubmissionError(Exception):
    """A submission that cannot be taken: what is wrong, and what to do about it."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}; {advice}")
        self.what = what
        self.advice = advice
