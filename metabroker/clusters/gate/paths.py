"""Where a component's gate is."""

from __future__ import annotations

from metabroker.clusters.transports.trust import FOLDER

APART = "2."
"""How the secret of a job begins whose gates have no folder above them: in that, which the first
one to come would make, another user could have been first."""
HOME = "~"
"""Instead of a folder: the home of the account whose gate it is."""


def gate_path(root: str, token: str, secret: str) -> str:
    """The folder of a component's gate: nobody who is not told can guess it, so nobody can have
    made it before."""
    return f"{root.rstrip('/')}/{FOLDER}-{token}-{secret}"


def former_gate_path(root: str, token: str, secret: str, account: str | None = None) -> str:
    """The same of a job that was submitted to a release of before, in a folder of gates. `account`:
    whose they are, where several accounts' may lie in one folder."""
    folder = FOLDER if account is None else f"{FOLDER}-{account}"
    return f"{root.rstrip('/')}/{folder}/{token}-{secret}"
