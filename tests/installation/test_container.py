"""The container image's recipe fits the package that it installs."""

from __future__ import annotations

import json
import re

from tests.installation.building import ROOT, packaged

TEXT = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
LAST = TEXT.split("\nFROM ")[-1]


def words(instruction: str) -> list[str]:
    """The list of words that an instruction of the image itself has."""
    (found,) = re.findall(rf"^{instruction} (?:CMD )?(\[.*\])$", LAST, re.M)
    return [str(word) for word in json.loads(found)]


def test_it_serves_as_the_unit_does() -> None:
    unit = (ROOT / "systemd" / "metabroker.service").read_text()
    (command,) = re.findall(r"^ExecStart=/usr/bin/(.*)$", unit, re.M)
    assert words("ENTRYPOINT") + words("CMD") == command.split()
    (user,) = re.findall(r"^USER (.*)$", LAST, re.M)
    assert f"User={user}\n" in unit
    (folder,) = re.findall(r"^StateDirectory=(.*)$", unit, re.M)
    assert f"VOLUME /var/lib/{folder}\n" in LAST
    assert words("HEALTHCHECK") == ["metabroker", "clusters"]


def test_all_that_the_package_is_built_from_is_sent_to_the_build() -> None:
    first, *rest = (ROOT / ".containerignore").read_text().splitlines()
    assert first == "**", "and nothing else: no environment, no cache, no secrets"
    assert {line[1:] for line in rest if line.startswith("!")} == set(packaged())
    assert (ROOT / ".dockerignore").readlink().name == ".containerignore"
