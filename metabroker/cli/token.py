"""`metabroker token create`, `list` and `revoke`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from metabroker.cli import common
from metabroker.cli.errors import tell

_DAYS = 30


class Days(click.ParamType[int]):
    """A time such as 30d or 12h, in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from metabroker.config.errors import ConfigRefusal
        from metabroker.config.values import whole_seconds

        try:
            return whole_seconds(int(value) if str(value).isdecimal() else value)
        except ConfigRefusal as refusal:
            self.fail(f"{refusal.message}: {refusal.advice}", param, ctx)


@click.group(no_args_is_help=True)
def token() -> None:
    """Access tokens: credentials by which `metabroker` on other hosts uses this host's daemon.

    Make them on the daemon's host, for yourself. Administrators may make them for others.
    """


@token.command()
@click.option(
    "--scope",
    type=click.Choice(["read", "submit"]),
    default="read",
    show_default=True,
    help="what the token allows; submit: all that its user may do with jobs",
)
@click.option(
    "--expires",
    type=Days(),
    default=f"{_DAYS}d",
    show_default=True,
    help="how long the token is valid, such as 12h or 90d; 366d at most",
)
@click.option("--name", default="", metavar="TEXT", help="a description of the token")
@click.option("--user", metavar="NAME", help="the user of the token; administrators only")
@common.socket_option
@common.json_option
def create(
    scope: str, expires: int, name: str, user: str | None, socket_path: str | None, as_json: bool
) -> None:
    """Make a token and print it. It is printed only once: the daemon keeps its digest alone."""
    wish = {"scope": scope, "seconds": expires, "name": name, "user": user}
    made = common.connect(socket_path).create_token(wish)
    if as_json:
        common.print_json(made)
        return
    print(made["token"], flush=True)
    from metabroker.cli.table import clock

    tell(
        f"token {made['id']} of {made['user']}, which allows {made['scope']} until "
        f"{clock(made['expires'])}, is shown only now; keep it in a file that "
        "nobody else may read: install -D -m 600 /dev/stdin ~/.config/metabroker/token"
    )


@token.command("list")
@click.option("--user", metavar="NAME", help="tokens of this user; administrators only")
@click.option("--all", "all_users", is_flag=True, help="tokens of all users; administrators only")
@common.socket_option
@common.json_option
def list_tokens(user: str | None, all_users: bool, socket_path: str | None, as_json: bool) -> None:
    """List your tokens, without their secrets. Ended ones are listed for 90 days."""
    every = 1 if all_users else None
    answer = common.connect(socket_path).get("tokens", user=user, all=every)
    if as_json:
        common.print_json(answer)
        return
    _print(answer["tokens"])


@token.command()
@click.argument("tokens", nargs=-1, required=True, metavar="ID...")
@common.socket_option
@common.json_option
def revoke(tokens: tuple[str, ...], socket_path: str | None, as_json: bool) -> int:
    """Revoke tokens at once, by the ids that `metabroker token list` shows."""
    from metabroker.api.client import ClientError, Unreachable
    from metabroker.cli.errors import FAILED, complain

    client = common.connect(socket_path)
    done: list[Any] = []
    errors: list[dict[str, Any]] = []
    for given in tokens:
        # Whoever has the whole token at hand may give that: its id is a part of it.
        id = given.split("_")[1] if given.startswith("mbt_") else given
        try:
            done.append(client.revoke_token(id))
        except Unreachable:
            raise
        except ClientError as error:
            complain(error.message, error.advice)
            errors.append({"id": id, "error": error.message, "advice": error.advice})
        else:
            if not as_json:
                print(f"{id} revoked")
    if as_json:
        common.print_json({"tokens": done, "errors": errors})
    return FAILED if errors else 0


def _print(tokens: Sequence[dict[str, Any]]) -> None:
    import time

    from metabroker.cli.table import age, clock, print_table

    now = time.time()
    heads = ("ID", "USER", "SCOPE", "STATE", "EXPIRES", "USED", "NAME")
    rows = []
    for each in tokens:
        state = "good" if now < each["expires"] else "expired"
        if each["revoked"] is not None:
            state = "revoked"
        used = "never" if each["last_used"] is None else f"{age(each['last_used'])} ago"
        end = clock(each["expires"])
        rows.append((each["id"], each["user"], each["scope"], state, end, used, each["name"]))
    print_table(heads, rows)
