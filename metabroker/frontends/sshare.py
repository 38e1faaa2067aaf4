"""`sshare -U`: which accounts its user has. Shares themselves are a matter of one cluster: its own
sshare is asked for them, where there is one behind this one in PATH."""

from __future__ import annotations

from metabroker import __version__
from metabroker.frontends.accounts import accounts
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import CLUSTER, own_user
from metabroker.frontends.srun import become_native
from metabroker.frontends.tables import form_of
from metabroker.submission.directives.getopt import scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = tuple(
    row(called, Command())
    for called in (
        "accounts A =", "all a", "cluster|clusters M =", "format o =", "help", "helpformat e", "h",
        "long l", "noheader n", "parsable p", "parsable2 P", "partition m", "usage", "users u =",
        "Users U", "verbose v", "version V",
    )
)  # fmt: skip
_COLUMNS = {"account": ("Account", -20), "cluster": ("Cluster", 10), "user": ("User", 10)}
_ASKED = {"Users", "format", "noheader", "h", "parsable", "parsable2", "verbose"}


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "sshare", permute=True)
    options = {each.name: each for each in given}
    if "version" in options:
        print(f"slurm metabroker-{__version__}")
        return 0
    text = options["format"].value if "format" in options else None
    if "Users" not in options or not text or not _ASKED.issuperset(options) or rest:
        become_native("sshare", words)
        raise FrontEndError(
            "shares are not known here",
            "`sshare -U --format account` (user, cluster) is; all else is one cluster's",
        )
    table = form_of(text, _column, options)
    if not options.keys() & {"noheader", "h"}:
        print(*table.head([_COLUMNS[name][0] for name, _ in table.columns]), sep="\n")
    way = client()
    user = own_user(way)
    for account in accounts(way, user, "sshare"):
        values = {"account": account, "cluster": CLUSTER, "user": user}
        print(table.row([values[name] for name, _ in table.columns]))
    return 0


def _column(word: str) -> tuple[str, int]:
    name = word.lower()
    found = [each for each in _COLUMNS if name and each.startswith(name)]
    if not found:
        raise FrontEndError(f'Invalid field requested: "{ascii(word)[1:-1]:.40}"')
    return found[0], _COLUMNS[found[0]][1]
