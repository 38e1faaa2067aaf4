"""What errors for users have in common."""

from __future__ import annotations


class AdvisedError(Exception):
    """What is wrong, and what to do about it."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(f"{message}; {advice}" if advice else message)
        self.message = message
        self.advice = advice
