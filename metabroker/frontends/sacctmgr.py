"""`sacctmgr`: which accounts a user has. All else is kept by each cluster for itself: its own
sacctmgr is asked for it, where there is one behind this one in PATH."""

from __future__ import annotations

from metabroker import __version__
from metabroker.frontends.accounts import accounts
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import CLUSTER
from metabroker.frontends.srun import become_native
from metabroker.frontends.tables import Form, form_of
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = tuple(
    row(called, Command())
    for called in (
        "associations s", "immediate i", "noheader n", "oneliner o", "parsable p", "parsable2 P",
        "quiet Q", "readonly r", "verbose v", "version V",
    )
)  # fmt: skip
_FIELDS = {"account": "Account", "cluster": "Cluster", "user": "User"}
_WIDTH = 10
_KNOWN = "`sacctmgr -s list user NAME format=account` (user, cluster) is; all else is one cluster's"


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    if not _of_users(words):
        become_native("sacctmgr", words)
        told = ascii(" ".join(words[:3]))[1:-1]
        raise FrontEndError(f"{told:.60} is not known here", _KNOWN)
    given, rest = scan([Word(word) for word in words], _ROWS, "sacctmgr", permute=True)
    options = {each.name: each for each in given}
    if "version" in options:
        print(f"slurm metabroker-{__version__}")
        return 0
    users, table = _asked([word.text for word in rest[2:]], options)
    way = client()
    if "noheader" not in options:
        print(*table.head([_FIELDS[name] for name, _ in table.columns]), sep="\n")
    for user in users:
        for account in accounts(way, user, "sacctmgr"):
            values = {"account": account, "cluster": CLUSTER, "user": user}
            print(table.row([values[name] for name, _ in table.columns]))
    return 0


def _of_users(words: list[str]) -> bool:
    """Whether it is the one query that is known here, or nothing else can be meant."""
    plain = [word for word in words if not word.startswith("-")][:2]
    if not plain:
        return "-V" in words or "--version" in words
    return len(plain) == 2 and plain[0] in ("list", "show") and plain[1] in ("user", "users")


def _asked(words: list[str], options: dict[str, Given]) -> tuple[list[str], Form]:
    """Which users, and what of them."""
    users: list[str] = []
    text = ""
    associations = "associations" in options
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and word.lower() == "withassoc":
            associations = True
        elif not equals and word.lower() != "where":
            users += _unquoted(word)
        elif name.lower() == "format":
            text = value
        elif name.lower() in ("user", "users", "name", "names"):
            users += _unquoted(value)
        elif equals:
            raise FrontEndError(f"Unknown condition: {ascii(word)[1:-1]:.60}", _KNOWN)
    if not users or not text or not associations:
        missing = "a user" if not users else "format=" if not text else "--associations"
        raise FrontEndError(f"users are not listed here without {missing}", _KNOWN)
    return users, form_of(text, _column, options)


def _unquoted(text: str) -> list[str]:
    return [word for word in (part.strip("\"'") for part in text.split(",")) if word]


def _column(word: str) -> tuple[str, int]:
    found = [name for name in _FIELDS if len(word) > 1 and name.startswith(word.lower())]
    if not found:
        raise FrontEndError(f"Unknown field '{ascii(word)[1:-1]:.40}'", _KNOWN)
    return found[0], _WIDTH
