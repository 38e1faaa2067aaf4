"""`metabroker install-service`."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from metabroker.cli.errors import FAILED, CliError, tell

if TYPE_CHECKING:
    from metabroker.installation.place import Installed, Place
    from metabroker.installation.plan import Step


@click.command("install-service")
@click.option(
    "--root",
    default="/",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="put the files below DIR, as for a package; nothing is run then",
)
@click.option("--dry-run", is_flag=True, help="say what would be done, and do nothing")
@click.option(
    "--remove", is_flag=True, help="remove what was installed; configuration and state are kept"
)
def install_service(root: Path, dry_run: bool, remove: bool) -> int:
    """Make this metabroker a service of this host, or bring the service up to date.

    Puts the unit for systemd, manual pages, completion scripts, examples and, if there is none, a
    configuration to begin with in place, and makes the account `metabroker`. Each file is told.
    What others have changed is neither written over nor removed: then nothing is done, and the exit
    code is 1.

    Then: `systemctl enable --now metabroker`.
    """
    from metabroker.installation.place import Place, UnreadableList

    place, whole = Place(root), root.resolve() == Path("/")
    if whole and os.geteuid() != 0 and not dry_run:
        raise CliError("only root can install or remove a service", "use sudo, or --root DIR")
    try:
        known = place.installed()
    except UnreadableList as error:
        raise CliError(f"{error} is not the list of what was installed", "move it away") from error
    try:
        if remove:
            return _remove(place, known, whole, dry_run)
        return _install(place, known, whole, dry_run)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}"
        raise CliError(what, "what was done until then is noted; try again") from error


def _install(place: Place, known: Installed, whole: bool, dry_run: bool) -> int:
    from metabroker.cli.main import COMMANDS, group
    from metabroker.installation import files, host, plan

    program = _program(whole)
    summaries = {name: text for name, (_, text) in COMMANDS.items()}
    try:
        wanted = files.wanted(PurePosixPath(program), group, summaries)
    except files.UnusablePath as error:
        raise CliError(str(error), "install into a folder such as /opt/metabroker") from error
    steps = plan.installation(wanted, known.files, place.look)
    refused = [step for step in steps if step.do is plan.Do.REFUSE]
    for step in refused:
        tell(f"{place.path(step.path)} is not as it was installed; {_advice(step)}")
    if refused:
        return FAILED
    _tell(steps, place)
    begins = place.look(files.CONFIGURATION) is None
    print(f"{'writes' if begins else 'keeps'} {place.path(files.CONFIGURATION)}")
    if dry_run:
        return 0
    place.carry_out(steps, known)
    if begins:
        # Its folders are the administrator's from now on, as it is itself. It may hold a password:
        # systemd-tmpfiles gives it to the service's group.
        place.write(files.CONFIGURATION, files.configuration(), type(known)(), 0o640)
    if whole:
        _told_to_systemd(host.prepare)
        print("next: systemctl enable --now metabroker")
    return 0


def _remove(place: Place, known: Installed, whole: bool, dry_run: bool) -> int:
    from metabroker.installation import files, host, plan

    if whole and not dry_run and host.is_active():
        raise CliError("the service runs", "end it first: systemctl disable --now metabroker")
    if not known.files:
        raise CliError(
            f"{place.path(files.LIST)} is not there, so nothing was installed",
            "did you mean another --root?",
        )
    steps = plan.removal(known.files, place.look)
    _tell(steps, place)
    print(f"keeps {place.path(files.CONFIGURATION.parent)}/ and {place.path(_STATE)}/")
    if not dry_run:
        place.carry_out(steps, known)
        if whole:
            _told_to_systemd(host.reread)
    return 0


_STATE = PurePosixPath("/var/lib/metabroker")


def _tell(steps: Sequence[Step], place: Place) -> None:
    from metabroker.installation.plan import Do

    for step in steps:
        why = ": it was changed since" if step.do is Do.KEEP else ""
        print(f"{step.do.value} {place.path(step.path)}{why}")


def _advice(step: Step) -> str:
    from metabroker.installation.files import UNIT

    if step.path == UNIT:
        return "keep your changes with `systemctl edit metabroker`, move the file away, and repeat"
    return "move it away, and repeat"


def _program(whole: bool) -> Path:
    """The command of this metabroker, which a unit can name."""
    from metabroker.installation import host

    program = Path(sysconfig.get_path("scripts"), "metabroker")
    if not program.exists():
        raise CliError(f"{program} is not there", "install the package by pip, and use its command")
    closed = host.unreachable(program) or host.unreachable(Path(sys.executable))
    if whole and closed is not None:
        raise CliError(
            f"{closed} is closed to the account metabroker, which is to run {program}",
            "install into a folder such as /opt/metabroker, with a Python that all may run",
        )
    return program


def _told_to_systemd(what: Callable[[], list[str]]) -> None:
    from metabroker.installation.host import HostError

    try:
        for command in what():
            print(f"runs {command}")
    except HostError as error:
        raise CliError(str(error), "the files are in place; see docs/install.md") from error
