"""Tokens: the names by which the broker finds its own things in a cluster again.

A token names one component of one attempt of one job of one broker instance:
`mb-3f9a2c-17-2-0` is component 0 of attempt 2 of job 17 of instance 3f9a2c. It is the name of the
component's reservation and of its native job. Only things whose token carries the broker's own
instance are ever cancelled or deleted.

Where several brokers share a store, or one was restored from a backup, a fencing number follows:
`mb-3f9a2c-17-2-0-5` was made of an attempt that was begun in term 5. A term is never given twice,
so whatever a former leader has left, or a time that no backup knows of, is never mistaken for ours.

Any script can give a job a name, and one that runs under the broker's own account cannot be told by
its owner. So the number carries a *proof*: it is made of the term and of what only the store's key
gives for the job and the attempt. Whoever has seen some tokens can repeat them, and guesses another
with one chance in ten million.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"mb-([0-9a-f]{6,16})-([1-9][0-9]{0,17})-([1-9][0-9]{0,8})-([0-9]{1,6})(?:-([1-9][0-9]{0,17}))?"
)


class Ref(NamedTuple):
    """One component of one attempt of one job. `term`: in which the attempt was begun, with its
    proof (see `number`); 0: there has been one leader only."""

    job: int
    attempt: int
    component: int
    term: int = 0

    def __str__(self) -> str:
        return f"{self.job}.{self.attempt}.{self.component}"


_PROOFS = 10**7
_WITH_PROOF = 10**10 * _PROOFS  # terms are below 10**10: at most Unix seconds


def number(key: str, job: int, attempt: int, term: int) -> int:
    """What stands for the term in the tokens of an attempt: with its proof, if there is a key."""
    if not key:
        return term
    text = f"{job} {attempt} {term}".encode()
    digest = hashlib.blake2b(text, key=key.encode(), digest_size=8).digest()
    return _WITH_PROOF + term * _PROOFS + int.from_bytes(digest, "big") % _PROOFS


def term_of(number: int) -> int:
    """The term that such a number stands for."""
    return number if number < _WITH_PROOF else (number - _WITH_PROOF) // _PROOFS


def proven(key: str, ref: Ref) -> bool:
    """Whether nobody but a broker with this key can have made it up."""
    return ref.term == number(key, ref.job, ref.attempt, term_of(ref.term)) or not key


class NativeId(NamedTuple):
    """A job's id in its cluster, and when it was submitted (Unix seconds): the id alone may be
    another's. None: it is, or may be for all that is known, so the id tells nothing. `listed`: its
    cluster has said so; else it may be by the broker's clock."""

    id: str
    submit_time: float | None
    listed: bool = False


def make(instance: str, ref: Ref) -> str:
    """The token of `ref` under broker instance `instance` (6 to 16 hexadecimal digits)."""
    term = f"-{ref.term}" if ref.term else ""
    return f"mb-{instance}-{ref.job}-{ref.attempt}-{ref.component}{term}"


@lru_cache(maxsize=1 << 16)  # polls show the same ones again and again
def parse(instance: str, text: str) -> Ref | None:
    """The component that `text` names, or None if it is not a token of this instance."""
    match = _TOKEN.fullmatch(text)
    if match is None or match[1] != instance:
        return None
    return Ref(int(match[2]), int(match[3]), int(match[4]), int(match[5] or 0))


def is_another(name: str, token: str) -> bool:
    """Whether `name` is a token of the same broker as this one, and not this one."""
    found, own = _TOKEN.fullmatch(name), _TOKEN.fullmatch(token)
    return found is not None and own is not None and name != token and found[1] == own[1]


def kept(ref: Ref) -> str:
    """The folder, in the job's own one in its cluster, of results that cannot be brought back. It
    is for people: its name has the term, if there was more than one, and no proof."""
    term = term_of(ref.term)
    return f"metabroker-{ref.job}.{ref.component}.kept-{ref.attempt}" + (f"-{term}" if term else "")
