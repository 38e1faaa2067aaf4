"""Values that YAML has no type for: durations, addresses, paths, store URLs."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabroker.config.errors import ConfigRefusal
from metabroker.submission.native import qsub, sbatch

LONGEST = 10 * 365 * 86400  # seconds; any longer is a slip of the pen
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(ms|s|m|h|d|)")
_SOCKET_LENGTH = 107  # bytes; the kernel's limit for a Unix socket's path
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESOURCE = re.compile(r"([A-Za-z][A-Za-z0-9_]*)=[A-Za-z0-9_.,/-]+")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,254}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,254}\$?")


def seconds(value: object) -> float:
    """A positive duration in seconds, from `5s`, `10m`, `24h`, `2d`, `500ms` or plain seconds."""
    amount = _amount(value)
    if not 0 < amount <= LONGEST:
        raise ConfigRefusal(
            f"a duration must be more than 0 and at most 10 years, not {shown(value)}",
            "write for example 5s, 10m, 24h or 2d",
        )
    return amount


def whole_seconds(value: object) -> int:
    """A positive duration in whole seconds, in the same forms."""
    amount = seconds(value)
    if amount != int(amount):
        raise ConfigRefusal(
            f"must be whole seconds, not {shown(value)}", "write for example 30m or 1h"
        )
    return int(amount)


def whole_seconds_or_0(value: object) -> int:
    """The same, or nothing at all."""
    return 0 if _amount(value) == 0 else whole_seconds(value)


def _amount(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else -1.0
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ConfigRefusal(
            f"{shown(value)} is not a duration",
            "write for example 5s, 10m, 24h, 2d, or plain seconds",
        )
    return float(match[1]) * _UNITS[match[2]]


def duration_text(amount: float) -> str:
    """The shortest form of a duration that `seconds` reads back as the same number."""
    for unit in ("d", "h", "m"):
        if amount and amount % _UNITS[unit] == 0:
            return f"{int(amount / _UNITS[unit])}{unit}"
    return f"{int(amount)}s" if amount == int(amount) else f"{amount:.6f}".rstrip("0") + "s"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a TCP port to listen on; port 0 takes any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def address(value: object) -> Address | None:
    """An `Address` from `HOST:PORT` or `[IPV6]:PORT`; None stays None."""
    if value is None or isinstance(value, Address):
        return value
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):([0-9]{1,5})", str(value))
    if not isinstance(value, str) or match is None or int(match[2]) > 65535:
        raise ConfigRefusal(
            f"{shown(value)} is not an HTTP address",
            "write HOST:PORT, for example 127.0.0.1:9798, or null for none",
        )
    return Address(match[1].strip("[]"), int(match[2]))


def some_address(value: object) -> Address:
    """An `Address` that must be there."""
    found = address(value)
    if found is None:
        raise ConfigRefusal("must be an address, not null", "write HOST:PORT")
    return found


def per_second(value: object) -> float | None:
    """How many there may be in a second, above 0; None stays None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.001 <= value <= 1e6:
        raise ConfigRefusal(
            f"must be a number from 0.001 to 1000000, or null, not {shown(value)}",
            "write the number per second",
        )
    return float(value)


def absolute_path(value: object, folder: Path) -> Path:
    """A path; `~` is the home folder, and a relative one starts at `folder`."""
    if isinstance(value, Path):
        return folder / value
    if not isinstance(value, str) or not value or "\0" in value:
        raise ConfigRefusal(f"must be a path, not {shown(value)}", "write a path")
    try:
        path = Path(value).expanduser()
    except RuntimeError as error:
        raise ConfigRefusal(
            f"{shown(value)} has no home folder", "write the path in full"
        ) from error
    return Path(os.path.normpath(folder / path))


def socket_path(value: object, folder: Path) -> Path:
    """A path that the kernel takes for a Unix socket."""
    path = absolute_path(value, folder)
    if len(os.fsencode(path)) > _SOCKET_LENGTH:
        raise ConfigRefusal(
            f"the path of a socket may have at most {_SOCKET_LENGTH} bytes",
            "choose a shorter path, for example under /run",
        )
    return path


def store_url(value: object, folder: Path) -> str:
    """An SQLAlchemy URL of a store that keeps what it is given; SQLite's path made absolute."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    advice = "write for example sqlite:////var/lib/metabroker/metabroker.db, or postgresql://..."
    if not isinstance(value, str):
        raise ConfigRefusal(f"must be a URL, not {shown(value)}", advice)
    try:
        url = make_url(value)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError) as error:
        raise ConfigRefusal("is not a database URL", advice) from error
    if backend == "postgresql":
        return value
    if backend != "sqlite":
        raise ConfigRefusal(f"a store of kind {backend!r} is not supported", advice)
    if url.database in (None, "", ":memory:") or str(url.database).startswith("file:"):
        raise ConfigRefusal("the store must be a file, so that jobs survive a restart", advice)
    return f"sqlite:///{absolute_path(str(url.database), folder)}"


def cluster_name(value: str) -> str:
    """A cluster's name: at most 32 letters, digits, `_` and `-`, not starting with a sign."""
    if _NAME.fullmatch(value) is None:
        raise ConfigRefusal(
            f"{shown(value)} cannot name a cluster",
            "use at most 32 letters, digits, _ and -, the first a letter or digit",
        )
    return value


def user_name(value: str) -> str:
    """A user's login name."""
    if _USER.fullmatch(value) is None:
        raise ConfigRefusal(f"{shown(value)} is not a user name", "write the login name of a user")
    return value


def chunk(value: str) -> str:
    """What a processor needs besides itself, as in PBS's `select`: mem=2gb:Qlist=fast."""
    parts = [_RESOURCE.fullmatch(part) for part in value.split(":")]
    if len(value) > 255 or any(part is None or part[1].lower() == "ncpus" for part in parts):
        raise ConfigRefusal(
            f"{shown(value)} does not list the resources that go with one processor",
            "write resources as in `select`, without ncpus, such as mem=2gb:Qlist=fast",
        )
    return value


def sbatch_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """Options of sbatch that every job is given: those that break nothing that the broker does."""
    return _options(words, sbatch.check_native(words, administrator=True))


def qsub_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """Options of qsub; those that users may give themselves."""
    return _options(words, qsub.check_native(words))


def _options(words: tuple[str, ...], wrong: str | None) -> tuple[str, ...]:
    if wrong is not None:
        raise ConfigRefusal(wrong, "give each option as one word, or leave it out")
    return words


def host_name(value: str) -> str:
    """A host's name or address, or an alias of an ssh_config."""
    if _HOST.fullmatch(value) is None:
        raise ConfigRefusal(
            f"{shown(value)} is not a host name",
            "write only the name or address of the host; user and port have their own keys",
        )
    return value


@dataclass(frozen=True, slots=True)
class JumpHost:
    """A host on the way to another."""

    host: str
    port: int | None = None
    user: str | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{self.user}@{host}{port}" if self.user else f"{host}{port}"


def jump_host(value: object) -> JumpHost:
    """A `JumpHost` from `[USER@]HOST[:PORT]`, or with `[IPV6]` for the host."""
    if isinstance(value, JumpHost):
        return value
    match = re.fullmatch(
        r"(?:([^@]+)@)?(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_][A-Za-z0-9_.-]{0,254}))(?::([0-9]{1,5}))?",
        value if isinstance(value, str) else "",
    )
    if match is None or not 0 < int(match[4] or 22) < 65536:
        raise ConfigRefusal(
            f"{shown(value)} is not a host to jump through", "write [USER@]HOST[:PORT]"
        )
    user = None if match[1] is None else user_name(match[1])
    return JumpHost(match[2] or match[3], int(match[4]) if match[4] else None, user)


def variables(value: object) -> object:
    """Names and values of environment variables; whole numbers are taken as text."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return value
    return {name: _variable(name, text) for name, text in value.items()}


def _variable(name: object, text: object) -> Any:
    if not isinstance(name, str) or _VARIABLE.fullmatch(name) is None:
        raise ConfigRefusal(
            f"{shown(name)} cannot name an environment variable",
            "use letters, digits and _, the first no digit",
        )
    if isinstance(text, int) and not isinstance(text, bool):
        return str(text)
    if not isinstance(text, str) or "\0" in text:
        raise ConfigRefusal(f"the value of {name} must be text", "put it in quotes")
    return text


def shown(value: object) -> str:
    """A value as an error message shows it: one line, never a long one."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**40:
        return "so large a number"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
