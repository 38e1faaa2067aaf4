"""The component's side of the gate: the wrapper, run by real shells."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.clusters.gate.running import Wrappers, with_tool
from tests.daemon.harness import eventually

from .making import gates, order, positions

# --- any script -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (b"#!/bin/sh\necho sh $1\n", b"sh one\n"),
        (b"#! /bin/bash -e\nwords=(bash $1); echo ${words[@]}; false\necho no\n", b"bash one\n"),
        (b"#!/usr/bin/env python3\nimport sys\nprint('py', sys.argv[1])\n", b"py one\n"),
        (b"#!/bin/cat\nnot a program\n", b"#!/bin/cat\nnot a program\n"),
        (b'#!/usr/bin/awk -f\nBEGIN { print "awk" }\n', b"awk\n"),
        (b"#!/bin/sh\nprintf '\\377\\000'\n", b"\xff\x00"),
    ],
)
def test_any_interpreter_line(
    tmp_path: Path, wrappers: Wrappers, script: bytes, said: bytes
) -> None:
    args = () if b"/bin/cat" in script else ("one",)
    code, out, err = wrappers.single(order(tmp_path, script=script, args=args))
    assert (code, err) == (1 if b"false" in script else 0, b"")
    assert out == said


SHOW = b"#!/bin/sh\nfor word do printf '<%s>' \"$word\"; done\n"
HOSTILE = (
    "", " ", "a b", "'", '"', "'\"'\"'", "$HOME", "$(touch ran)", "`touch ran`", "; touch ran;",
    "a\nb", "\n", "\\", "\\n", "-n", "--", "*", "~", "${gate}", "# SETTINGS", "é\u2028", "a\tb",
    "%s",
)  # fmt: skip


def test_arguments_are_passed_as_they_are(tmp_path: Path, wrappers: Wrappers) -> None:
    code, out, _err = wrappers.single(order(tmp_path, script=SHOW, args=HOSTILE))
    assert code == 0
    assert out.decode() == "".join(f"<{word}>" for word in HOSTILE)
    assert not (tmp_path / "ran").exists()


def test_the_script_is_told_where_the_files_lie_that_it_reads(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    files = ("/data/it's x", "delft:/data/$(touch ran)")
    script = b"#!/bin/sh\nprintf '%s\\n' \"$METABROKER_INPUTS\"\n"
    told = wrappers.single(replace(order(tmp_path, script=script), inputs=files))
    assert told == (0, "".join(f"{file}\n" for file in files).encode(), b"")
    without = b"#!/bin/sh\necho ${METABROKER_INPUTS-unset}\n"
    (tmp_path / "other").mkdir()
    assert wrappers.single(order(tmp_path / "other", script=without)) == (0, b"unset\n", b"")


def test_who_joins_another_job_is_told_which_and_has_the_commands(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    script = b"""#!/bin/sh
cd "${METABROKER_PEERS_FILE%/*}"
echo "${METABROKER_JOINED_JOB-none}"
ls -d bin
"""
    told = wrappers.single(replace(order(tmp_path, script=script), joins=12))
    assert told == (0, b"12\nbin\n", b"")
    (tmp_path / "other").mkdir()
    _code, out, _err = wrappers.single(order(tmp_path / "other", script=script))
    assert out == b"none\n"


def test_no_arguments(tmp_path: Path, wrappers: Wrappers) -> None:
    assert wrappers.single(order(tmp_path, script=SHOW)) == (0, b"", b"")


ENV = b"#!/usr/bin/env python3\nimport json, os\nprint(json.dumps(dict(os.environ)))\n"


def test_names_and_environment_are_data(tmp_path: Path, wrappers: Wrappers) -> None:
    values = {f"V{n}": word for n, word in enumerate(HOSTILE)}
    it = order(tmp_path, script=ENV, environment=values, name="$(touch ran)\n'\"; exit 9")
    code, out, _err = wrappers.single(it)
    assert code == 0
    seen = json.loads(out)
    assert {name: seen[name] for name in values} == values
    assert seen["METABROKER_JOB_NAME"] == it.name
    assert not (tmp_path / "ran").exists()


def test_what_a_component_sees(tmp_path: Path, wrappers: Wrappers) -> None:
    it = order(tmp_path, script=ENV, environment={"METABROKER_JOB_ID": "forged", "A": "1"})
    code, out, _err = wrappers.single(it, NATIVE="kept", SLURM_JOB_NODELIST="n7")
    seen = json.loads(out)
    peers = it.gate + "/peers.json"
    assert {k: v for k, v in seen.items() if k.startswith("METABROKER")} == {
        "METABROKER_JOB_ID": "17",
        "METABROKER_JOB_NAME": "job",
        "METABROKER_COMPONENT": "0",
        "METABROKER_COMPONENTS": "1",
        "METABROKER_CLUSTER": "delft",
        "METABROKER_CLUSTERS": "delft",
        "METABROKER_PROCESSORS": "16",
        "METABROKER_TASKS": "16",
        "METABROKER_CPUS_PER_TASK": "1",
        "METABROKER_PEERS_FILE": peers,
    }
    assert (seen["A"], seen["NATIVE"], code) == ("1", "kept", 0)
    assert json.loads(Path(peers).read_text()) == {
        "components": [{"component": 0, "cluster": "delft", "processors": 16, "hosts": ["n7"]}]
    }


def test_the_gates_path_may_hold_anything(tmp_path: Path, wrappers: Wrappers) -> None:
    folder = tmp_path / "a 'quoted' $(touch ran) \"folder\""
    folder.mkdir()
    assert wrappers.single(order(folder, script=b"#!/bin/sh\nexit 3\n"))[0] == 3
    assert not (tmp_path / "ran").exists() and not (folder / "ran").exists()


def test_on_a_full_disk_it_runs_and_its_start_has_a_time(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\necho up\n", patience=None)
    gates().prepare(it)
    Path(it.gate, "started").symlink_to("/dev/full")
    code, out, _err = wrappers.start(it).end()
    assert (code, out) == (0, b"up\n")
    found = gates().look([it.gate])[it.gate]
    assert found.begun
    assert found.started == os.stat(Path(it.gate, "begun")).st_mtime
    assert (found.hosts, found.exit_code) == ((), 0)


def test_where_nothing_can_be_written_down_it_runs_all_the_same(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\necho up\n", patience=None)
    gates().prepare(it)
    Path(it.gate, "started").symlink_to("/dev/full")
    Path(it.gate, "begun").mkdir()
    code, out, _err = wrappers.start(it).end()
    assert (code, out) == (0, b"up\n")
    assert gates().look([it.gate])[it.gate].exit_code == 0


# --- how it ends ------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 75, 76, 126, 127, 128, 137, 143, 255])
def test_exit_codes(tmp_path: Path, wrappers: Wrappers, code: int) -> None:
    it = order(tmp_path, script=f"#!/bin/sh\nexit {code}\n".encode())
    assert wrappers.single(it)[0] == code
    remains = gates().remains(it.gate, None)
    assert (remains.started, remains.exit_code) == (True, code)
    assert gates().look([it.gate])[it.gate].signalled is False


def test_all_exit_codes(tmp_path: Path) -> None:
    it = order(tmp_path, script=b'#!/bin/sh\nexit "$1"\n', patience=None)
    for code in range(256):
        it = replace(it, gate=f"{tmp_path}/.metabroker/{code}", args=(str(code),))
        assert Wrappers(["/bin/sh"]).single(it)[0] == code
        assert gates().remains(it.gate, None).exit_code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_script_that_dies_of_a_signal(tmp_path: Path, wrappers: Wrappers, number: int) -> None:
    it = order(tmp_path, script=f"#!/bin/sh\nkill -{int(number)} $$\n".encode())
    assert wrappers.single(it)[0] == 128 + number
    assert gates().remains(it.gate, None).exit_code == 128 + number


def test_a_script_without_its_interpreter(tmp_path: Path, wrappers: Wrappers) -> None:
    it = order(tmp_path, script=b"#!/no/such/interpreter\n")
    code, _out, err = wrappers.single(it)
    assert code in (126, 127) and err
    assert gates().remains(it.gate, None).exit_code == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_for_all_while_it_runs_is_written_down(
    tmp_path: Path, wrappers: Wrappers, number: signal.Signals
) -> None:
    it, running = wrappers.up(tmp_path, b": > up; sleep 60\n")
    time.sleep(0.05)
    os.killpg(running.process.pid, number)
    code = running.end()[0]
    found = gates().look([it.gate])[it.gate]
    assert (code, found.exit_code, found.signalled) == (128 + number, 128 + number, True)


def test_a_signal_that_reaches_the_script_first_is_written_down(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    """PBS signals a job's processes one after the other."""
    it, running = wrappers.up(tmp_path, b"echo $$ > new; mv new up; exec sleep 60\n")
    os.kill(int((tmp_path / "up").read_text()), signal.SIGTERM)
    time.sleep(0.05)
    os.kill(running.process.pid, signal.SIGTERM)
    assert running.end()[0] == 143
    found = gates().look([it.gate])[it.gate]
    assert (found.exit_code, found.signalled) == (143, True)


def test_a_script_that_bears_with_the_signal_ends_as_it_likes(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    script = b"trap 'exit 7' TERM\n: > up\nwhile :; do sleep 0.02; done\n"
    it, running = wrappers.up(tmp_path, script)
    os.killpg(running.process.pid, signal.SIGTERM)
    assert running.end()[0] == 7
    found = gates().look([it.gate])[it.gate]
    assert (found.exit_code, found.signalled) == (7, True)


# --- hosts ------------------------------------------------------------------------------------


def test_hosts_come_from_the_native_system(tmp_path: Path, wrappers: Wrappers) -> None:
    nodefile = tmp_path / "nodes"
    nodefile.write_text("n2\nn1\nn2\n")
    path = with_tool(tmp_path, "scontrol", '[ "$3" = "n[1-2]" ] && printf "n1\\nn2\\n"\n')
    for number, (env, hosts) in enumerate(
        [
            ({"SLURM_JOB_NODELIST": "n7"}, ("n7",)),
            ({"SLURM_JOB_NODELIST": "n[1-2]", "PATH": path}, ("n1", "n2")),
            ({"PBS_NODEFILE": str(nodefile)}, ("n2", "n1")),
            ({}, (os.uname().nodename,)),
        ]
    ):
        it = order(tmp_path, script=b"#!/bin/sh\n")
        it = replace(it, gate=f"{it.gate}{number}")
        assert wrappers.single(it, **env)[0] == 0
        assert gates().look([it.gate])[it.gate].hosts == hosts


def test_a_host_list_that_cannot_be_expanded_stays_as_it_is(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\n")
    path = str(tmp_path / "tools")
    os.mkdir(path)
    for tool in ("mv", "sleep", "uname"):
        os.symlink(shutil.which(tool) or "", f"{path}/{tool}")
    wrappers.shell = [shutil.which(wrappers.shell[0]) or "", *wrappers.shell[1:]]
    assert wrappers.single(it, SLURM_JOB_NODELIST="n[1-2]", PATH=path)[0] == 0
    assert gates().look([it.gate])[it.gate].hosts == ("n[1-2]",)


# --- what users export, and what others put in its way ----------------------------------------


def test_what_a_user_exports_is_the_scripts_alone(tmp_path: Path, wrappers: Wrappers) -> None:
    """Variables with names that a shell, or a wrapper of before, uses for itself."""
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "go").write_text("")
    for tool in ("mv", "sleep", "uname", "sort", "scontrol"):
        (trap / tool).write_text(f"#!/bin/sh\ntouch '{trap}/ran'\n")
        (trap / tool).chmod(0o755)
    values = {
        **{name: str(trap) for name in ("gate", "work", "mb__gate", "CDPATH", "HOME")},
        **dict.fromkeys(("patience", "nap", "list", "hosts", "host", "status", "IFS"), "x"),
        **dict.fromkeys(("signalled", "naps", "limit", "UID", "PPID", "EUID", "OPTIND"), "x"),
        "PATH": str(trap),
        "ENV": f"{trap}/uname",
        "BASH_ENV": f"{trap}/uname",
        "SLURM_JOB_NODELIST": "forged",
        "PS4": "$(touch ran)",
    }
    script = f"#!{sys.executable}\n".encode() + ENV.split(b"\n", 1)[1]
    it = order(tmp_path, script=script, environment=values)
    code, out, err = wrappers.single(it)
    assert (code, err) == (0, b"")
    seen = json.loads(out)
    given = values.keys() - {"mb__gate", "UID", "PPID", "EUID", "OPTIND"}
    assert {name: seen.get(name) for name in given} == {name: values[name] for name in given}
    assert seen.get("mb__gate") is None
    assert positions(it.gate) == {"run"} and not (trap / "ran").exists()
    marks = gates().look([it.gate])[it.gate]
    assert marks.exit_code == 0 and marks.hosts == (os.uname().nodename,)


def test_marks_of_its_template_in_what_users_give_are_data(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    words = ("# EXPORTS\n", "'\n# EXPORTS\nexit 9\n", "# SETTINGS\n")
    it = order(tmp_path, script=SHOW, args=words, environment={"A": words[1], "B": words[0]})
    code, out, _err = wrappers.single(it)
    assert (code, out.decode()) == (0, "".join(f"<{word}>" for word in words))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as somebody else")
@pytest.mark.parametrize("how", ["gate", "link", "script"])
def test_nothing_is_run_from_a_gate_that_is_not_its_own(
    tmp_path: Path, wrappers: Wrappers, how: str
) -> None:
    """Somebody else has put another one in its place while it waited."""
    it = order(tmp_path, script=b"#!/bin/sh\n")
    running = wrappers.waiting(it)
    gate, other = Path(it.gate), tmp_path / "other"
    other.mkdir()
    (other / "script").write_text(f"#!/bin/sh\ntouch {tmp_path}/owned\n")
    (other / "script").chmod(0o755)
    for path in (other, other / "script"):
        os.chown(path, 65533, 65533)
    if how == "script":
        (other / "script").rename(gate / "script")
        (gate / "wait").rename(gate / "go")
    else:
        (other / "go").write_text("")
        gate.rename(tmp_path / "away")
        if how == "gate":
            other.rename(gate)
        else:
            gate.symlink_to(other)
    assert running.end()[0] == 75
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("lost", ["*/go", "*/run.*", "*"])
def test_a_rename_whose_answer_is_lost_counts_and_a_twin_starts_nothing(
    tmp_path: Path, wrappers: Wrappers, lost: str
) -> None:
    """NFS asks again then, and is told that there is nothing to rename."""
    fails = f'/bin/mv "$@" || exit; case $1 in {lost}) exit 1 ;; esac\n'
    path = with_tool(tmp_path, "mv", fails)
    script = b"#!/bin/sh\necho up >> up\n"
    it = replace(order(tmp_path, script=script, patience=None), chdir=str(tmp_path))
    gates().prepare(it)
    codes = [wrappers.start(it, PATH=path).end()[0] for _ in range(3)]
    assert codes == [0, 75, 75]
    assert len(list(tmp_path.rglob("up"))) == 1
    assert next(tmp_path.rglob("up")).read_text() == "up\n"
    assert positions(it.gate) == {"run"}


def test_a_twin_does_not_take_the_name_on_the_way_to_run_for_its_own(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    """It has the same id: a controller that lost its state has begun the job once more."""
    wait = f"until [ -e {tmp_path}/on ]; do sleep 0.02; done"
    path = with_tool(tmp_path, "mv", f'case $1 in */run.*) {wait} ;; esac; exec /bin/mv "$@"\n')
    nodes = str(tmp_path / "nodes")
    Path(nodes).write_text("n1\nn1\nn2\n")
    it = order(tmp_path, script=b"#!/bin/sh\necho up >> up\n", patience=None)
    it = replace(it, chdir=str(tmp_path))
    gates().prepare(it)
    first = wrappers.start(it, PATH=path, SLURM_JOB_ID="7", PBS_NODEFILE=nodes)
    name = f"run.7-0-n1-{first.process.pid}"
    eventually(lambda: (Path(it.gate) / name).exists(), "it is on its way")
    twin = wrappers.start(it, PATH=path, SLURM_JOB_ID="7", PBS_NODEFILE=nodes)
    assert twin.end()[0] == 75
    (tmp_path / "on").touch()
    assert first.end()[0] == 0
    assert next(tmp_path.rglob("up")).read_text() == "up\n"


def test_a_gate_that_was_shut_stays_shut_though_another_token_is_there(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=SHOW, patience=None)
    gates().prepare(it)
    (Path(it.gate) / "abort").touch()
    assert wrappers.single(it)[:2] == (75, b"")
    assert positions(it.gate) == {"go", "abort"}


def test_a_signal_for_the_jobs_first_shell_reaches_the_script(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    script = b"#!/bin/sh\ntrap 'echo caught; kill $!' USR2\nsleep 60 &\ntouch up\nwait $!\nexit 7\n"
    made = order(tmp_path, script=script, patience=None)
    request = replace(made, native=("--signal=B:USR2@30",))
    gates().prepare(request)
    running = wrappers.start(request)
    running.gate = tmp_path
    running.until("up")
    os.kill(running.process.pid, signal.SIGUSR2)  # no other process has it
    code, out, err = running.end()
    assert (code, out) == (7, b"caught\n"), err
    assert (Path(request.gate) / "ended").read_text() == "7 signalled\n"
