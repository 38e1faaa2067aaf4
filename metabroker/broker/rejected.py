"""A user's request that cannot be carried out."""

from __future__ import annotations


class Rejected(Exception):
    """What is wrong, and what to do. `missing`: what was named is not there."""

    def __init__(self, message: str, advice: str = "", *, missing: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.missing = missing
