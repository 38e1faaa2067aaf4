"""The manual pages of the commands, from what `--help` says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from metabroker import __version__

from . import roff

_ENVIRONMENT = (
    ("METABROKER_SOCKET", "the daemon's socket"),
    ("METABROKER_URL", "a daemon elsewhere, `https://HOST:PORT`, in the place of a socket"),
    ("METABROKER_TOKEN_FILE", "the token that it is asked with; else ~/.config/metabroker/token"),
    ("METABROKER_CA_FILE", "who must have signed its certificate; else this host's authorities"),
    ("METABROKER_DEBUG", "set to anything: unexpected errors with a traceback"),
)
_FILES = (
    ("/etc/metabroker/metabroker.yaml", "the configuration of the service"),
    ("/run/metabroker/metabroker.sock", "its socket"),
    ("/var/lib/metabroker/", "its state: the store and the audit log"),
    ("/usr/local/share/metabroker/", "examples; drop-ins for systemd"),
)
_EXITS = (
    ("0", "It was done."),
    ("1", "It could not be done; the reason is on stderr."),
    ("2", "Wrong usage, or a wrong configuration."),
)
_JOBS_EXIT = "`wait` and `submit --wait` end with the job's own exit code, 1 where it has none."


def pages(group: click.Group, summaries: dict[str, str]) -> dict[str, str]:
    """The pages by file name: that of `group`, metabroker.1, and one of each of its commands."""
    context = click.Context(group, info_name="metabroker", **group.context_settings)
    found = {"metabroker.1": _overview(context, summaries)}
    for name, summary in summaries.items():
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        found[f"metabroker-{name}.1"] = _page(inner, summary)
    return found


def _overview(context: click.Context, summaries: dict[str, str]) -> str:
    commands = [(f"\\fBmetabroker\\-{name}\\fR(1)", text) for name, text in summaries.items()]
    others = ", ".join(term for term, _ in commands)
    return "".join(
        (
            roff.head("metabroker", 1, __version__),
            roff.section("NAME", "metabroker \\- one front door to several batch clusters\n"),
            roff.section("SYNOPSIS", _synopsis(context)),
            roff.section("DESCRIPTION", roff.paragraphs(context.command.help or "")),
            roff.section("COMMANDS", roff.listed(commands)),
            roff.section("OPTIONS", _options(context)),
            roff.section("ENVIRONMENT", roff.listed(_bold(_ENVIRONMENT))),
            roff.section("FILES", roff.listed(_bold(_FILES))),
            roff.section(
                "EXIT STATUS", roff.listed(_bold(_EXITS)), ".PP\n", roff.paragraphs(_JOBS_EXIT)
            ),
            roff.section("SEE ALSO", f"{others}, \\fBmetabroker.yaml\\fR(5)\n"),
        )
    )


def _page(context: click.Context, summary: str) -> str:
    name = f"metabroker-{context.info_name}"
    command = context.command
    parts = [
        roff.head(name, 1, __version__),
        roff.section("NAME", f"{roff.escaped(name)} \\- {roff.escaped(summary)}\n"),
        roff.section("SYNOPSIS", _synopsis(context)),
        roff.section("DESCRIPTION", roff.paragraphs(command.help or "")),
        roff.section("OPTIONS", _options(context)),
    ]
    if isinstance(command, click.Group):
        parts.append(roff.section("COMMANDS", *_subcommands(command, context)))
    parts.append(roff.section("SEE ALSO", "\\fBmetabroker\\fR(1), \\fBmetabroker.yaml\\fR(5)\n"))
    return "".join(parts)


def _subcommands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        said = roff.paragraphs(command.help or "")
        yield roff.subsection(name, _synopsis(inner), ".PP\n", said, _options(inner))


def _synopsis(context: click.Context) -> str:
    words = " ".join(context.command.collect_usage_pieces(context))
    return f"{roff.bold(context.command_path)} {roff.italic(words)}\n"


def _options(context: click.Context) -> str:
    records = (param.get_help_record(context) for param in context.command.get_params(context))
    return roff.listed(_bold(record for record in records if record is not None))


def _bold(items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((roff.bold(term), text) for term, text in items)
