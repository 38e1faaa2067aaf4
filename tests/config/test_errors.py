"""What is wrong with a configuration is told with file, line, key and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from metabroker.config import ConfigError, ConfigErrors, load, parse
from metabroker.config.errors import ConfigRefusal
from metabroker.config.users import read as read_users
from metabroker.simulation.scenario import loader as scenario
from tests.config.explained import explained

LAB = "  lab: {system: simulated, processors: 32}\n"
CLUSTERS = f"clusters:\n{LAB}"


def errors(text: str | bytes) -> tuple[ConfigError, ...]:
    with pytest.raises(ConfigErrors) as caught:
        parse(text, file="mb.yaml")
    return caught.value.errors


# text; line, key, part of the message, part of the advice
CASES: list[tuple[str, int, str, str, str]] = [
    # YAML that is not YAML
    ("clusters:\n  a: {system: slurm\n", 3, "", "wrong YAML", "correct"),
    ("clusters:\n\ta: 1\n", 2, "", "wrong YAML", "spaces, not with tabs"),
    ("a: b: c\n", 1, "", "wrong YAML", "quotes"),
    ("store: 'x\n", 2, "", "wrong YAML", "correct"),
    ("a: 1\n---\nb: 2\n", 2, "", "wrong YAML", "correct"),
    ("a: *nowhere\n", 1, "", "undefined alias", "correct"),
    ("policy: !!python/object:os.system x\n", 1, "", "wrong YAML", "correct"),
    ("policy: GS\nseed: 2024-99-99\n", 2, "", "cannot be read", "correct"),
    ("- a\n- b\n", 1, "", "is not a mapping", "clusters"),
    ("just text", 1, "", "is not a mapping", "clusters"),
    # missing, unknown, twice
    ("", 1, "clusters", "is missing", "clusters"),
    ("policy: GS\n", 1, "clusters", "is missing", "clusters"),
    ("clusters: {}\n", 1, "clusters", "at least one", "add"),
    ("clusters:\n", 1, "clusters", "mapping", "key: value"),
    (f"polcy: GS\n{CLUSTERS}", 1, "polcy", "unknown key", "did you mean 'policy'?"),
    (f"xyzzy: 1\n{CLUSTERS}", 1, "xyzzy", "unknown key", "known here: store, socket"),
    (f"{CLUSTERS}timeouts: {{comand: 3s}}\n", 3, "timeouts.comand", "unknown key", "'command'"),
    (f"seed: 1\n{CLUSTERS}seed: 2\n", 4, "seed", "given twice, first in line 1", "remove"),
    (f"{CLUSTERS}{LAB}", 3, "clusters.lab", "given twice, first in line 2", "remove"),
    ("clusters:\n  d: {sytem: slurm}\n", 2, "clusters.d.system", "is missing", "system: slurm"),
    ("clusters:\n  d: {system: slurm, bim: x}\n", 2, "clusters.d.bim", "unknown key", "'bin'"),
    (
        "clusters:\n  d: {system: slurm, native: [--gres=gpu:1, --ntasks=4]}\n",
        2, "clusters.d.native", "'--ntasks=4' is set by metabroker itself", "one word",
    ),
    (
        "clusters:\n  d: {system: openpbs, native: [-lselect=2]}\n",
        2, "clusters.d.native", "select is set by metabroker itself", "one word",
    ),
    ("clusters:\n  d: {system: slurm, whole_nodes: 0}\n", 2, "clusters.d.whole_nodes", "", ""),
    (
        "clusters:\n  d:\n    system: slurm\n    names: {partition: [a]}\n",
        4, "clusters.d.names.partition", "a mapping or `same`, not a list", "{short: debug",
    ),
    (
        "clusters:\n  d:\n    system: slurm\n    names:\n      qos: {a: 'x y'}\n",
        5, "clusters.d.names.qos", "'x y' is not a name", "{short: debug",
    ),
    (
        "clusters:\n  d: {system: slurm, names: {queue: same}}\n",
        2, "clusters.d.names.queue", "a queue belongs to OpenPBS", "write `partition`",
    ),
    (
        "clusters:\n  d: {system: openpbs, names: {qos: {a: b}}}\n",
        2, "clusters.d.names.qos", "they can only be left out", "{'*': null}",
    ),
    (f"{CLUSTERS}drop_options: [--qos]\n", 3, "drop_options", "no option of sbatch", "dashes"),
    (f"{CLUSTERS}drop_options: [uid]\n", 3, "drop_options", "cannot be left out", "remove"),
    # values
    (f"policy: LP-GX\n{CLUSTERS}", 1, "policy", "must be GS, LS-OR", "'LP-GF'"),
    (f"policy: lp-gf\n{CLUSTERS}", 1, "policy", "must be GS", "'LP-GF'"),
    (f"policy: [GS]\n{CLUSTERS}", 1, "policy", "not a list", "for example"),
    (f"discipline: LIFO\n{CLUSTERS}", 1, "discipline", "must be FCFS or FPFS", ""),
    (f"policy: FCFS\ndiscipline: FPFS\n{CLUSTERS}", 2, "discipline", "is itself a", "leave"),
    (f"placement: best-fit\n{CLUSTERS}", 1, "placement", "worst-fit", "'worst-fit'"),
    (f"metrics: localhost\n{CLUSTERS}", 1, "metrics", "not an HTTP address", "HOST:PORT"),
    (f"metrics: 127.0.0.1:99999\n{CLUSTERS}", 1, "metrics", "not an HTTP address", "HOST:PORT"),
    (f"store: mysql://x/y\n{CLUSTERS}", 1, "store", "'mysql' is not supported", "sqlite:"),
    (f"store: 'sqlite://'\n{CLUSTERS}", 1, "store", "must be a file", "sqlite:"),
    (f"store: nonsense\n{CLUSTERS}", 1, "store", "not a database URL", "sqlite:"),
    (f"socket: /{'x' * 120}\n{CLUSTERS}", 1, "socket", "at most 107 bytes", "shorter"),
    (f"socket: 5\n{CLUSTERS}", 1, "socket", "must be a path", "path"),
    (f"poll_interval: 3 weeks\n{CLUSTERS}", 1, "poll_interval", "not a duration", "5s"),
    (f"poll_interval: 0\n{CLUSTERS}", 1, "poll_interval", "more than 0", "5s"),
    (f"poll_interval: -5s\n{CLUSTERS}", 1, "poll_interval", "not a duration", "5s"),
    (f"poll_interval: .inf\n{CLUSTERS}", 1, "poll_interval", "more than 0", "5s"),
    (f"poll_interval: true\n{CLUSTERS}", 1, "poll_interval", "not a duration", "5s"),
    (f"default_time: 1.5s\n{CLUSTERS}", 1, "default_time", "whole seconds", "30m"),
    (f"max_time: 4000d\n{CLUSTERS}", 1, "max_time", "10 years", "5s"),
    (f"limits:\n  component: 0\n{CLUSTERS}", 2, "limits.component", "at least 1", "correct"),
    (f"limits:\n  total: '64'\n{CLUSTERS}", 2, "limits.total", "whole number", "quotes"),
    (f"limits: 64\n{CLUSTERS}", 1, "limits", "mapping", "key: value"),
    (f"aging: 5\n{CLUSTERS}", 1, "aging", "mapping", "key: value"),
    (f"aging: {{wait: soon}}\n{CLUSTERS}", 1, "aging.wait", "not a duration", "24h"),
    (f"history: {{keep: 1h}}\n{CLUSTERS}", 1, "history.keep", "a day at least", "1d"),
    (f"retries: {{submission: -1}}\n{CLUSTERS}", 1, "retries.submission", "at least 0", "correct"),
    (f"retries: {{submission: yes}}\n{CLUSTERS}", 1, "retries.submission", "whole", "digits"),
    (f"admins: root\n{CLUSTERS}", 1, "admins", "must be a list", "[a, b]"),
    (f"admins: [root, 5]\n{CLUSTERS}", 1, "admins.1", "must be text", "quotes"),
    (f"admins:\n- root\n- 'a b'\n{CLUSTERS}", 3, "admins.1", "not a user name", "login"),
    (f"homes: {{alice: lba}}\n{CLUSTERS}", 1, "homes.alice", "no cluster 'lba'", "'lab'"),
    (
        f"transfer: {{staging: {{lba: 5}}}}\n{CLUSTERS}",
        1,
        "transfer.staging.lba",
        "no cluster 'lba'",
        "'lab'",
    ),
    (f"transfer: {{bandwidth: 0}}\n{CLUSTERS}", 1, "transfer.bandwidth", "0.001", ""),
    (f"seed: x\n{CLUSTERS}", 1, "seed", "whole number", "digits"),
]  # fmt: skip

# one cluster; key below `clusters`, part of the message, part of the advice
CLUSTER_CASES: list[tuple[str, str, str, str]] = [
    ("d:", "d", "mapping", "key: value"),
    ("d: {system: torque}", "d.system", "slurm, openpbs or", ""),
    ("d: {system: [slurm]}", "d.system", "slurm, openpbs or", ""),
    ("d: {system: openpbs, partition: batch}", "d.partition", "Slurm", "queue"),
    ("d: {system: openpbs, qos: high}", "d.qos", "only a slurm", "remove"),
    ("d: {system: openpbs, run: no}", "d.run", "only a simulated", "remove"),
    ("d: {system: openpbs, chunk: 'ncpus=2'}", "d.chunk", "'ncpus=2'", "mem=2gb"),
    ("d: {system: openpbs, chunk: 'mem=2gb+1'}", "d.chunk", "'mem=2gb+1'", "mem=2gb"),
    ("d: {system: slurm, project: p}", "d.project", "only an openpbs", "remove"),
    ("l: {system: simulated, processors: 4, queue: q}", "l.queue", "simulated", "remove"),
    ("d: {system: slurm, via: ssh}", "d.host", "is missing", "login host"),
    ("d: {system: openpbs, via: openssh}", "d.host", "is missing", "login host"),
    ("d: {system: slurm, via: telnet}", "d.via", "local, ssh or openssh", ""),
    ("d: {system: slurm, via: ssh, host: a b}", "d.host", "not a host name", "only"),
    ("d: {system: slurm, via: ssh, host: -oX}", "d.host", "not a host name", "only"),
    ("d: {system: slurm, via: ssh, host: h, user: '-x'}", "d.user", "not a user name", "login"),
    ("d: {system: slurm, via: ssh, host: h, port: 0}", "d.port", "at least 1", "correct"),
    ("d: {system: slurm, via: ssh, host: h, jump: g}", "d.jump", "must be a list", "[a, b]"),
    ("d: {system: slurm, via: ssh, host: h, jump: ['a:0']}", "d.jump.0", "to jump", "HOST"),
    ("d: {system: slurm, via: ssh, host: h, bin: b}", "d.bin", "absolute", "beginning with"),
    ("d: {system: slurm, via: ssh, host: h, shared_dir: ~/s}", "d.shared_dir", "absolute", "/"),
    ("d: {system: slurm, via: ssh, host: h, certificate: c}", "d.certificate", "a `key`", "`key`"),
    ("d: {system: slurm, via: ssh, host: h, agent: false}", "d.agent", "nothing is left", "`key`"),
    ("d: {system: slurm, via: ssh, host: h, ssh_config: c}", "d.ssh_config", "openssh", "remove"),
    ("d: {system: slurm, via: ssh, host: h, password: x}", "d.password", "be configured", "`key`"),
    ("d: {system: slurm, via: openssh, host: h, key: 'a\"b'}", "d.key", "cannot name", "rename"),
    ("d: {system: slurm, run_as: sudo}", "d.users", "is missing", "users_file"),
    ("d: {system: slurm, users: {a: b}}", "d.users", "run_as: self", "sudo"),
    ("d: {system: slurm, run_as: sudo, users: all}", "d.users", "`same`, not 'all'", "alice"),
    ("d: {system: slurm, run_as: sudo, users: {a: root}}", "d.users", "would be root", "ordinary"),
    ("d: {system: slurm, run_as: sudo, users: {root: a}}", "d.users", "never acts", "remove"),
    ("d: {system: slurm, run_as: sudo, users: {a: '0'}}", "d.users", "not a name", "login"),
    ("d: {system: slurm, run_as: sudo, users: {a: '-s'}}", "d.users", "'-s'", "login"),
    ("d: {system: slurm, run_as: sudo, users_file: /none}", "d.users_file", "No such", "can read"),
    ("d: {system: slurm, run_as: sudo, users_file: /, users: {}}", "d.users_file", "with", "one"),
    (
        "d: {system: slurm, run_as: root-uid, users: same, via: ssh, host: h}",
        "d.run_as", "this host only", "sudo",
    ),
    (
        "d: {system: slurm, run_as: sudo, users: same, access: pyslurm}",
        "d.access", "run_as: sudo", "commands",
    ),
    ("l: {system: simulated, processors: 4, run_as: sudo}", "l.run_as", "itself", "remove"),
    ("l: {system: simulated, processors: 4, users: same}", "l.users", "no such setting", "remove"),
    ("d: {system: slurm, host: h}", "d.host", "via: ssh", "remove"),
    ("d: {system: slurm, jump: [h]}", "d.jump", "via: local", "via: ssh"),
    ("d: {system: slurm, queue: q}", "d.queue", "OpenPBS", "partition"),
    ("d: {system: slurm, access: pyslrum}", "d.access", "commands, pyslurm or", "'pyslurm'"),
    ("d: {system: slurm, pyslurm_python: p}", "d.pyslurm_python", "access: pyslurm", "remove"),
    ("d: {system: openpbs, access: pyslurm}", "d.access", "only a slurm", "remove"),
    ("d: {system: slurm, via: ssh, host: h, access: pyslurm}", "d.access", "this host", "local"),
    ("d: {system: slurm, run: no}", "d.run", "only a simulated", "remove"),
    ("d: {system: slurm, env: {A B: x}}", "d.env", "'A B'", "letters"),
    ("d: {system: slurm, env: {A: yes}}", "d.env", "text", "quotes"),
    ("d: {system: slurm, partition: 'a b'}", "d.partition", "'a b'", "use"),
    ("d: {system: slurm, claim: hope}", "d.claim", "reservation", ""),
    ("l: {system: simulated}", "l.processors", "is missing", "how many"),
    ("l: {system: simulated, processors: 4, env: {}}", "l.env", "simulated", "remove"),
    ("l: {system: simulated, processors: 4, host: h}", "l.host", "ssh", "remove"),
    ("l: {system: simulated, processors: 1, nodes: 2}", "l.nodes", "share", "at least"),
    ("l: {system: simulated, processors: 9, whole_nodes: 4}", "l.whole_nodes", "whole", "12"),
    ("l: {system: simulated, processors: 8, nodes: 4, whole_nodes: 4}", "l.nodes", "4 nodes", "2"),
    ("l: {system: simulated, processors: 4, run: 1}", "l.run", "true or false", "true"),
    ("'a b': {system: slurm}", "a b", "cannot name a cluster", "letters"),
    ("-x: {system: slurm}", "-x", "cannot name a cluster", "letters"),
    (f"{'x' * 33}: {{system: slurm}}", f"{'x' * 33}", "cannot name", "32"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "message", "advice"), CASES)
def test_an_error_is_placed_and_explained(
    text: str, line: int, key: str, message: str, advice: str
) -> None:
    explained(errors(text), f"mb.yaml:{line}: ", key, message, advice)


@pytest.mark.parametrize(("cluster", "key", "message", "advice"), CLUSTER_CASES)
def test_an_error_of_a_cluster_is_placed_and_explained(
    cluster: str, key: str, message: str, advice: str
) -> None:
    text = f"clusters:\n  {cluster}\n"
    test_an_error_is_placed_and_explained(text, 2, f"clusters.{key}", message, advice)


def test_all_errors_are_told_at_once_in_the_order_of_lines() -> None:
    text = (
        "polcy: GS\n"
        "poll_interval: never\n"
        "seed: 1\n"
        "seed: 2\n"
        "clusters:\n"
        "  lab: {system: simulated, partition: x}\n"
        "  far: {system: slurm, via: openssh}\n"
        "homes: {bob: lob}\n"
    )
    found = [(error.line, error.key) for error in errors(text)]
    assert found == [
        (1, "polcy"),
        (2, "poll_interval"),
        (4, "seed"),
        (6, "clusters.lab.processors"),
        (6, "clusters.lab.partition"),
        (7, "clusters.far.host"),
        (8, "homes.bob"),
    ]


def test_text_that_is_not_utf8_has_its_line() -> None:
    (error,) = errors(b"policy: GS\nsocket: /caf\xe9\n")
    assert (error.line, error.message) == (2, "is not UTF-8 text")


def test_a_control_character_has_its_line() -> None:
    (error,) = errors("policy: GS\nsocket: a\x07b\n")
    assert error.line == 2
    assert "0x07" in error.message


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    (error,) = errors("a: " + "[" * 50_000)
    assert "nested" in error.message or "wrong YAML" in error.message


def test_a_configuration_has_a_largest_size() -> None:
    (error,) = errors("#" * 1_000_001)
    assert "larger" in error.message


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigErrors) as caught:
        load(tmp_path / name)
    assert "cannot be read" in str(caught.value)


def on_host(folder: Path, text: str) -> list[str]:
    """The errors of a file, with what it says of this host."""
    (folder / "mb.yaml").write_text(text)
    try:
        load(folder / "mb.yaml", files=True)
    except ConfigErrors as found:
        return [
            f"{error.line} {error.key}: {error.message}; {error.advice}" for error in found.errors
        ]
    return []


def test_files_and_folders_of_this_host_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sbatch").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "sbatch").chmod(0o755)
    found = on_host(
        tmp_path,
        "clusters:\n"
        "  a: {system: slurm, env: {SLURM_CONF: /nowhere/slurm.conf}}\n"
        "  b: {system: openpbs, bin: /nowhere/bin}\n"
        "  c: {system: slurm, partition: x, bin: bin}\n"
        "  d: {system: slurm, via: ssh, host: there, bin: /nowhere, env: {SLURM_CONF: /nowhere}}\n",
    )
    assert len(found) == 3, found
    assert found[0].startswith("2 clusters.a.env: SLURM_CONF names /nowhere/slurm.conf")
    assert found[0].endswith("write the path of this cluster's slurm.conf")
    assert found[1].startswith("3 clusters.b.bin: there is no folder /nowhere/bin")
    assert f"{tmp_path}/bin has no scancel, scontrol, sinfo, squeue;" in found[2]


@pytest.mark.parametrize(
    ("conf", "run_as", "wrong"),
    [
        ("PBS_SERVER=a\n", "root-uid", True),
        ("PBS_AUTH_METHOD=resvport\n", "root-uid", True),
        ("PBS_SERVER=a\nPBS_AUTH_METHOD=MUNGE\n", "root-uid", False),
        ("PBS_SERVER=a\n", "sudo", False),
    ],
)
def test_what_needs_a_setuid_program_does_not_go_with_root_uid(
    tmp_path: Path, conf: str, run_as: str, wrong: bool
) -> None:
    file = tmp_path / "pbs.conf"
    file.write_text(conf)
    keys = f"system: openpbs, run_as: {run_as}, users: same, env: {{PBS_CONF_FILE: {file}}}"
    found = on_host(tmp_path, f"clusters:\n  a: {{{keys}}}\n")
    assert [bool("clusters.a.run_as" in error and "munge" in error) for error in found] == (
        [True] if wrong else []
    )


@pytest.mark.parametrize(
    ("one", "other", "twice"),
    [
        ("system: slurm", "system: slurm", True),
        ("system: slurm, partition: a", "system: slurm", True),
        ("system: slurm, partition: a", "system: slurm, partition: a", True),
        ("system: slurm, partition: a", "system: slurm, partition: b", False),
        ("system: openpbs, queue: a", "system: openpbs, queue: b", False),
        ("system: openpbs", "system: slurm", False),
        ("system: openpbs", "system: openpbs, env: {PBS_SERVER: other}", False),
        ("system: slurm, via: ssh, host: x", "system: slurm, via: openssh, host: x", True),
        ("system: slurm, via: ssh, host: x", "system: slurm, via: ssh, host: y", False),
        ("system: slurm, via: ssh, host: x", "system: slurm", False),
    ],
)
def test_one_cluster_entered_twice(tmp_path: Path, one: str, other: str, twice: bool) -> None:
    found = on_host(tmp_path, f"clusters:\n  a: {{{one}}}\n  b: {{{other}}}\n")
    assert [error for error in found if "3 clusters.b: is the same cluster as a" in error] == found
    assert bool(found) == twice


def test_the_time_limit_of_a_job_that_names_none_is_one_that_is_taken() -> None:
    assert parse(f"max_time: 30m\n{CLUSTERS}").default_time == 1800
    assert parse(f"max_time: 2h\n{CLUSTERS}").default_time == 3600
    (error,) = errors(f"max_time: 30m\ndefault_time: 1h\n{CLUSTERS}")
    assert (error.line, error.key) == (2, "default_time")
    assert "1h is more than `max_time`, 30m" in error.message


def _bomb(kind: str) -> str:
    """Some hundred bytes that would be billions of values."""
    if kind == "deep":
        return f"clusters: {'[' * 200}{']' * 200}\n"
    if kind == "itself":
        return "clusters: &a [*a]\n"
    lines = ["a0: &a0 {k: v, w: x}"]
    for level in range(1, 12):
        before = ", ".join([f"*a{level - 1}"] * 9)
        made = f"[{before}]" if kind == "lists" else f"{{<<: [{before}]}}"
        lines.append(f"a{level}: &a{level} {made}")
    return "\n".join([*lines, "clusters: {}"])


@pytest.mark.parametrize("kind", ["deep", "itself", "lists", "merges"])
def test_a_file_that_grows_by_itself_is_refused_by_every_reader(kind: str, tmp_path: Path) -> None:
    text = _bomb(kind)
    for read in (parse, scenario.parse_text):
        with pytest.raises(ConfigErrors, match=r"nested too deeply|repeats itself too often"):
            read(text)
    users = tmp_path / "users.yaml"
    users.write_text(text)
    with pytest.raises(ConfigRefusal):
        read_users(users)


def test_defaults_may_be_merged_into_many_clusters() -> None:
    some = "\n".join(f"  c{n}: {{<<: *all, processors: {n + 1}}}" for n in range(300))
    text = f"clusters:\n  c: &all {{system: simulated, processors: 4, nodes: 1}}\n{some}\n"
    assert len(parse(text).clusters) == 301
