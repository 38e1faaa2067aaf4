"""What one local user tries with another's jobs, on live OpenPBS, as on Slurm."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.acting_world import gates
from tests.daemon.harness import eventually
from tests.daemon.test_acting_openpbs import WAYS, Users, acting, started, world
from tests.security.test_other_users import (
    attack_a_folder_for_all,
    nothing_runs_where_others_may_write,
)

from .test_other_users import HOSTILE

__all__ = ["acting", "world"]
pytestmark = [pytest.mark.root, pytest.mark.xdist_group("openpbs")]


def configured(acting: Users, **more: Any) -> None:
    """Each cluster with these keys; None: without it."""
    with acting.site.changing() as text:
        for cluster in text["clusters"].values():
            for key, value in more.items():
                cluster.pop(key, None)
                if value is not None:
                    cluster[key] = value


@pytest.mark.parametrize("how", ["sudo", "self", "root-uid"])
def test_nobody_runs_code_or_moves_files_as_another_by_a_folder_for_all(
    acting: Users, how: str
) -> None:
    configured(acting, shared_dir=str(acting.world.people.shared), run_as=how)
    if how == "self":
        configured(acting, users=None)
    elif how == "root-uid":
        for server in acting.world.servers.values():
            if "PBS_AUTH_METHOD=munge" not in Path(server.env["PBS_CONF_FILE"]).read_text():
                pytest.skip("left out: under root-uid the live servers' clients must use munge")
        configured(acting, via=None, **dict.fromkeys(acting.world.sshd.settings()))
        acting.site.prefix = []
        os.chown(acting.site.folder, 0, -1)
    started(acting)
    attack_a_folder_for_all(acting, "svc" if how == "self" else "alice", list(WAYS))


def test_in_a_folder_that_others_may_write_to_nothing_runs(acting: Users) -> None:
    configured(acting, run_as="self", users=None)
    started(acting)
    nothing_runs_where_others_may_write(acting)


def test_what_a_job_writes_down_and_exports_harms_no_other(acting: Users) -> None:
    site = started(acting)
    for cluster in WAYS:
        where = ("-n", "1", "--cluster", cluster)
        before = time.time()
        names = "gate=/tmp,work=1,patience=1,token=x,hosts=x"
        exported = acting.submit("bob", *where, "--export", names, script="#!/bin/sh\nexit 3\n")
        hostile = acting.submit("alice", *where, script=HOSTILE + "mkfifo $gate/ended\n")
        many = acting.submit("alice", *where, script=HOSTILE)
        assert site.wait_end(exported, "FAILED", seconds=60)["exit_code"] == 3
        late = site.wait_end(many, "COMPLETED", seconds=60)
        assert before - 2 < late["start_time"] <= late["end_time"] <= time.time() + 2
        assert acting.ask("alice", "cancel", str(hostile)).returncode == 0
        site.wait_end(hostile, "CANCELLED", seconds=60)
    eventually(lambda: not gates(acting.world.people), "gates are gone")
