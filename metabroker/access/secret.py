"""What a token looks like: `mbt_ID_SECRET`. The id may be told to anybody, the secret to nobody.

The secret is 256 bits of the system's randomness, so one round of SHA-256 is enough to keep it
unknown to who reads the store; what is slow against guessing would only be slow.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from enum import Enum

PREFIX = "mbt_"
_TOKEN = re.compile(r"mbt_([0-9a-f]{10})_([A-Za-z0-9_-]{43})")


class Scope(Enum):
    """What a token is good for; `submit` is all that its user may do with jobs."""

    READ = "read"
    SUBMIT = "submit"


@dataclass(frozen=True)
class Secret:
    """A token as its user has it."""

    id: str
    text: str = field(repr=False)

    @property
    def digest(self) -> str:
        """What is kept of it."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()

    def matches(self, digest: str) -> bool:
        """Whether that is its digest; takes as long whatever the answer."""
        return hmac.compare_digest(self.digest, digest)


def new() -> Secret:
    """A token that nobody else has."""
    id = secrets.token_hex(5)
    return Secret(id, f"{PREFIX}{id}_{secrets.token_urlsafe(32)}")


def parsed(text: str) -> Secret | None:
    """The token that `text` is; None where it has not the form of one."""
    match = _TOKEN.fullmatch(text)
    return None if match is None else Secret(match[1], text)
