"""A scenario that cannot be played, and which of its keys is to blame."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from metabroker.config.keys import Key
from metabroker.config.problems import Problem
from metabroker.traces.errors import TraceError


class Wrong(Exception):
    """What is wrong with a scenario, key by key."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{'.'.join(map(str, p.key))}: {p.message}" for p in problems))
        self.problems = tuple(problems)


@contextlib.contextmanager
def blamed(key: Key, advice: str = "correct the value") -> Iterator[None]:
    """What goes wrong inside is told as wrong with `key`: files, and values that do not do.

    Raises Wrong.
    """
    try:
        yield
    except TraceError as error:
        raise Wrong([Problem(key, f"{error.where}: {error.message}", error.advice)]) from error
    except ArithmeticError as error:
        message = "holds numbers that are too large or too small to compute with"
        raise Wrong([Problem(key, message, advice)]) from error
    except ValueError as error:
        raise Wrong([Problem(key, str(error), advice)]) from error
