"""What is wrong with a scenario is told with file, line and key, and a way out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.config.explained import explained
from tests.simulation.scenario.making import FOUR, LEAST, SYNTHETIC, errors

ONE = "clusters: {c: 128}\n"
L = "clusters.a.local"


def shared(local: str, more: str = SYNTHETIC) -> str:
    """Two clusters, the first with local users."""
    return f"clusters:\n  a:\n    processors: 32\n    local: {local}\n  b: 32\n{more}"


USERS = "{workload: {synthetic: {utilization: 0.5}}}"
W = "workload.synthetic"

# text; line, key, part of the message, part of the advice
CASES: list[tuple[str, int, str, str, str]] = [
    ("clusters: {a: 1\n", 2, "", "wrong YAML", "correct"),
    ("- a\n", 1, "", "is not a mapping", "clusters"),
    ("", 1, "clusters", "is missing", "{c1: 32"),
    (FOUR, 1, "workload", "is missing", "synthetic"),
    (f"{FOUR}workload: {{}}\n", 2, "workload", "names no workload", "synthetic"),
    (f"{FOUR}workload:\n", 2, "workload", "mapping", "key: value"),
    (f"polcy: GS\n{LEAST}", 1, "polcy", "unknown key", "'policy'"),
    (f"{LEAST}    utilisation: 1\n", 5, f"{W}.utilisation", "unknown key", "'utilization'"),
    (f"{FOUR}workload: {{synthetik: {{}}}}\n", 2, "workload.synthetik", "unknown", "'synthetic'"),
    (f"policy: GS\npolicy: LQ\n{LEAST}", 2, "policy", "given twice", "remove"),
    # clusters
    (f"clusters: {{a: 32, b: 0}}\n{SYNTHETIC}", 1, "clusters.b", "at least 1, not 0", "correct"),
    (f"clusters:\n  a: 32\n  b: -4\n{SYNTHETIC}", 3, "clusters.b", "at least 1, not -4", ""),
    (f"clusters: {{a: many}}\n{SYNTHETIC}", 1, "clusters.a", "whole number", "digits"),
    (f"clusters: {{'a b': 3}}\n{SYNTHETIC}", 1, "clusters.a b", "cannot name", "letters"),
    (f"clusters: {{}}\n{SYNTHETIC}", 1, "clusters", "at least one", "add"),
    # local users
    ("clusters: {a: {}}\n" + SYNTHETIC, 1, "clusters.a.processors", "is missing", "128"),
    ("clusters: {a: {processors: 0}}\n" + SYNTHETIC, 1, "clusters.a.processors", "at least 1", ""),
    ("clusters: {a: {nodes: 4}}\n" + SYNTHETIC, 1, "clusters.a.nodes", "unknown key", "known here"),
    (shared("{}"), 4, f"{L}.workload", "is missing", "synthetic"),
    (shared("{workload: {}}"), 4, f"{L}.workload", "names no workload", "synthetic, swf"),
    (shared("{workload: {batch: {}}}"), 4, f"{L}.workload.batch", "unknown key", "synthetic"),
    (shared("{workload: {synthetic: }}"), 4, f"{L}.workload.synthetic", "neither utilization", ""),
    (shared("{workload: {swf: {}}}"), 4, f"{L}.workload.swf.file", "is missing", "swf"),
    (shared("{workload: {swf: {file: none.swf}}}"), 4, f"{L}.workload.swf.file", "cannot be", ""),
    (shared("{scheduler: SJF, " + USERS[1:]), 4, f"{L}.scheduler", "must be FCFS or EASY", ""),
    (shared("{workload: {synthetic: {utilization: 0.5, composition: [50, 50]}}}"), 4,
     f"{L}.workload.synthetic.composition", "2 components", "leave"),
    (shared("{workload: {synthetic: {utilization: 0.5, component_sizes: {max: 33}}}}"), 4,
     f"{L}.workload.synthetic.component_sizes.max", "too large", "smaller"),
    (shared("{workload: {synthetic: {arrival_rate: 1000000}}}"), 4,
     f"{L}.workload.synthetic", "for each of the broker's", "same unit"),
    (shared(USERS, SYNTHETIC + "policy: MULTI-SITE\n"), 9, "policy", "a has local users", "LP-GF"),
    (shared(USERS, SYNTHETIC + "event_order: pyss\n"), 9, "event_order", "local users", "batch"),
    (shared(USERS, "workload: {batch: {kinds: [{components: [2], time: 1}]}}\n"), 6,
     "workload.batch", "a has local users", "synthetic"),
    # policy and placement
    (f"policy: LS-DOO\n{LEAST}", 1, "policy", "must be GS", "'LS-DO'"),
    (f"policy: AFCFS\n{LEAST}", 1, "policy", "one cluster, not on 4", "one cluster"),
    (f"policy: MULTI-SITE\nplacement: worst-fit\n{LEAST}", 2, "placement", "cannot have", "leave"),
    (f"policy: EASY\ndiscipline: FPFS\n{LEAST}", 2, "discipline", "no queues", "leave"),
    (f"policy: FPFS\ndiscipline: FCFS\n{LEAST}", 2, "discipline", "itself a discipline", "leave"),
    (f"placement: first-fit\n{LEAST}", 1, "placement", "must be worst-fit", "fit"),
    (f"placement: best-fit\noptions: {{ties: random}}\n{LEAST}", 2, "options.ties", "random", ""),
    (f"policy: EASY\noptions: {{ties: random}}\n{LEAST}", 2, "options.ties", "random", "lowest"),
    (f"options: {{gp: never}}\n{LEAST}", 1, "options.gp", "same-pass", ""),
    (f"overhead: -0.1\n{LEAST}", 1, "overhead", "at least 0, not -0.1", "correct"),
    (f"event_order: fast\n{LEAST}", 1, "event_order", "batch or pyss", ""),
    # files
    (f"inputs: {{share: 2}}\n{LEAST}", 1, "inputs.share", "at most 1", ""),
    (f"inputs: {{size: {{mean: 0}}}}\n{LEAST}", 1, "inputs.size.mean", "above 0", ""),
    (f"inputs: {{size: {{cv: 2}}}}\n{LEAST}", 1, "inputs.size.cv", "no cv of its own", "remove"),
    (f"inputs: {{homes: [1, 1]}}\n{LEAST}", 1, "inputs.homes", "2 weights for 4", "one weight"),
    (f"inputs: {{homes: [0, 0, 0, 0]}}\n{LEAST}", 1, "inputs.homes", "no weight above 0", ""),
    (f"inputs: {{copies: 5}}\n{LEAST}", 1, "inputs.copies", "4 clusters for 5", "smaller"),
    (f"inputs: {{copies: 2, homes: [1, 0, 0, 0]}}\n{LEAST}", 1, "inputs.copies", "2 copies", ""),
    (f"inputs: {{links: {{c1: {{c9: 5}}}}}}\n{LEAST}", 1, "inputs.links.c1.c9", "no cluster", ""),
    (f"inputs: {{links: {{c1: {{c1: 5}}}}}}\n{LEAST}", 1, "inputs.links.c1.c1", "no link", "once"),
    (f"inputs: {{links: {{c1: {{c2: 5}}, c2: {{c1: 5}}}}}}\n{LEAST}", 1, "inputs.links.c2.c1",
     "given twice", "once"),
    (f"inputs: {{links: {{c1: {{c2: 0}}}}}}\n{LEAST}", 1, "inputs.links.c1.c2", "above 0", ""),
    (f"inputs: {{}}\nevent_order: pyss\n{LEAST}", 2, "event_order", "pyss", "batch"),
    (shared(USERS, SYNTHETIC + "inputs: {}\n"), 9, "inputs", "a has local users", "leave one"),
    # latency
    (f"latency: {{}}\n{LEAST}", 1, "latency.most", "is missing", ""),
    (f"latency: {{most: 0}}\n{LEAST}", 1, "latency.most", "above 0", ""),
    (f"latency: {{most: 5}}\n{LEAST}", 4, f"{W}.component_sizes.max", "near enough to each", ""),
    (f"latency: {{most: 5, links: {{c1: {{c2: -1}}}}}}\n{LEAST}", 1, "latency.links.c1.c2", "", ""),
    (f"latency: {{most: 5, links: {{c1: {{d2: 1}}}}}}\n{LEAST}", 1, "latency.links.c1.d2",
     "no cluster 'd2'", ""),
    (shared(USERS, SYNTHETIC + "latency: {most: 1}\n"), 9, "latency", "local users", "leave one"),
    (f"latency: {{most: 5}}\npolicy: MULTI-SITE\n{LEAST}", 1, "latency", "any clusters", ""),
    # numbers
    (f"jobs: 0\n{LEAST}", 1, "jobs", "at least 1", "correct"),
    (f"jobs: 1e5\n{LEAST}", 1, "jobs", "whole number", "digits"),
    (f"replications: -1\n{LEAST}", 1, "replications", "at least 1", ""),
    (f"warmup: 1.5\n{LEAST}", 1, "warmup", "auto, none", "0.1"),
    (f"warmup: some\n{LEAST}", 1, "warmup", "auto, none", "0.1"),
    (f"seed: -1\n{LEAST}", 1, "seed", "at least 0", ""),
    (f"precision: {{relative: 2}}\n{LEAST}", 1, "precision.relative", "below 1", ""),
    (f"precision: {{most: 9}}\n{LEAST}", 1, "precision.relative", "is missing", "0.01"),
    (f"precision: {{relative: 0.1, most: 5}}\nreplications: 9\n{LEAST}", 1, "precision.most",
     "at least `replications`", "correct"),
    (f"limits: {{component: 0}}\n{LEAST}", 1, "limits.component", "at least 1", ""),
    (f"limits: {{component: 4}}\n{LEAST}", 4, f"{W}.component_sizes.max", "the limits", "larger"),
    # synthetic
    (f"{FOUR}workload: {{synthetic: }}\n", 2, W, "neither utilization nor", "0.85"),
    (f"{LEAST}    arrival_rate: 3\n", 5, f"{W}.arrival_rate", "both", "leave one"),
    (f"{FOUR}workload: {{synthetic: {{arrival_rate: -3}}}}\n", 2, f"{W}.arrival_rate", "above", ""),
    (f"{FOUR}workload: {{synthetic: {{utilization: 0}}}}\n", 2, f"{W}.utilization", "above 0", ""),
    (f"{FOUR}workload: {{synthetic: {{utilization: .nan}}}}\n", 2, f"{W}.utilization", "numb", ""),
    (f"{LEAST}    composition: [50, 20, 20]\n", 5, f"{W}.composition", "add up to 90, not 100", ""),
    (f"{LEAST}    composition: [120, -20]\n", 5, f"{W}.composition.1", "at least 0", ""),
    (f"{LEAST}    composition: 100\n", 5, f"{W}.composition", "must be a list", "[a, b]"),
    (f"{ONE}{SYNTHETIC}    composition: [50, 50]\n", 5, f"{W}.composition", "1 clusters", "add"),
    (f"{LEAST}    component_sizes: {{max: 33}}\n", 5, f"{W}.component_sizes.max", "too large", ""),
    (f"clusters: {{a: 32, b: 4}}\npolicy: LS-DO\n{SYNTHETIC}    component_sizes: {{max: 8}}\n", 6,
     f"{W}.component_sizes.max", "local queue of b", "smaller"),
    (f"{LEAST}    component_sizes: {{min: 9}}\n", 5, f"{W}.component_sizes.min", "at most", ""),
    (f"{LEAST}    component_sizes: {{q: 0}}\n", 5, f"{W}.component_sizes.q", "above 0", ""),
    (f"{LEAST}    component_sizes: {{q: 900, max: 9000}}\n", 5, f"{W}.component_sizes",
     "too large or too small", "correct"),
    (f"{LEAST}    local_shares: [1, 1]\n", 5, f"{W}.local_shares", "2 weights for 4", "one"),
    (f"{LEAST}    local_shares: [0, 0, 0, 0]\n", 5, f"{W}.local_shares", "no weight above 0", ""),
    (f"{LEAST}    extension_factor: 0.5\n", 5, f"{W}.extension_factor", "at least 1", ""),
    (f"{LEAST}    service: {{distribution: normal}}\n", 5, f"{W}.service.distribution", "must", ""),
    (f"{LEAST}    service: {{mean: -1}}\n", 5, f"{W}.service.mean", "above 0, not -1", ""),
    (f"{LEAST}    service: {{cv: 2}}\n", 5, f"{W}.service.cv", "no cv", "remove"),
    (f"{LEAST}    service: {{distribution: lognormal}}\n", 5, f"{W}.service.cv", "is missing", ""),
    (f"{LEAST}    service: {{distribution: hyperexponential, cv: 0.5}}\n", 5, f"{W}.service.cv",
     "at least 1", ""),
    (f"{LEAST}    service: {{cut: 5}}\n", 5, f"{W}.service.cut", "not cut", "remove"),
    (f"{LEAST}    total_sizes: nowhere.csv\n", 5, f"{W}.total_sizes", "cannot be read", "readable"),
    # the others
    (f"{LEAST}  job_mix: {{}}\n", 5, "workload.job_mix", "several workloads", "leave one"),
    (f"{FOUR}workload: {{job_mix: }}\n", 1, "clusters", "one cluster, not on 4", "one cluster"),
    ("clusters: {c: 100}\npolicy: AFCFS\nworkload: {job_mix: }\n", 1, "clusters.c", "power of two",
     "128"),
    (f"{ONE}policy: LS-DO\nworkload: {{job_mix: }}\n", 2, "policy", "a job mix", "AFCFS"),
    (f"{ONE}workload: {{swf: {{}}}}\n", 2, "workload.swf.file", "is missing", "swf"),
    (f"{ONE}workload: {{swf: {{file: none.swf}}}}\n", 2, "workload.swf.file", "cannot be read", ""),
    (f"{ONE}workload: {{batch: {{kinds: []}}}}\n", 2, "workload.batch.kinds", "is empty", "kind"),
    (f"{ONE}workload: {{batch: {{kinds: [{{components: [200], time: 1}}]}}}}\n", 2,
     "workload.batch.kinds.0.components", "too large", "smaller"),
    (f"{ONE}workload: {{batch: {{kinds: [{{components: [2], on: [d], time: 1}}]}}}}\n", 2,
     "workload.batch.kinds.0.on.0", "no cluster 'd'", "clusters"),
    (f"{FOUR}workload: {{runtimes: {{}}}}\n", 2, "workload.runtimes.table", "is missing", "mix"),
    (f"{FOUR}workload: {{runtimes: {{table: mix, utilization: -1}}}}\n", 2,
     "workload.runtimes.utilization", "above 0", ""),
    (f"{FOUR}limits: {{total: 1}}\nworkload: {{runtimes: {{table: mix, utilization: 0.5}}}}\n", 3,
     "workload.runtimes.table", "no line of the table", "limits"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "message", "advice"), CASES)
def test_an_error_is_placed_and_explained(
    text: str, line: int, key: str, message: str, advice: str
) -> None:
    explained(errors(text), f"s.yaml:{line}: ", key, message, advice)


# --set; the start of what is said of it
SETS = [
    ("policy", "--set policy: is not KEY=VALUE; "),
    ("polcy=GS", "--set polcy: unknown key; did you mean 'policy'?"),
    ("workload.synthetic.utilisation=0.5", "--set workload.synthetic.utilisation: unknown key; "),
    ("policy.name=GS", "--set policy.name: unknown key; "),
    ("policy=[", "--set policy: wrong YAML"),
    ("policy=[]", "--set policy: an empty list leaves nothing to simulate"),
    ("clusters.c1=0", "--set clusters.c1: must be at least 1, not 0; "),
    ("workload.synthetic.utilization=-1", "--set workload.synthetic.utilization: must be above 0"),
    ("workload.synthetic.composition=[50,50,5]", "--set workload.synthetic.composition: the perc"),
    ("workload.synthetic.utilization=[0.5,-1]", "--set workload.synthetic.utilization: must be"),
    ("workload.synthetic={utilization: x}", "--set workload.synthetic.utilization: must be a num"),
    ("limits={total: 1}", "s.yaml:3: workload.synthetic.component_sizes.max: has jobs"),
    ("workload.synthetic.composition.9=4", "--set workload.synthetic.composition.9: "),
    ("seed=[" + "1," * 200 + "1]", ""),
]


@pytest.mark.parametrize(("option", "start"), SETS)
def test_an_error_of_an_option_names_the_option(option: str, start: str) -> None:
    if start:
        assert str(errors(LEAST, option)[0]).startswith(start)
    else:
        found = errors(LEAST, option, "jobs=[" + "2," * 200 + "1]")
        assert "40401 runs, and at most 10000 are allowed" in str(found[0])


def job(number: int, size: int, run: int = 5) -> str:
    return f"{number} {number} -1 {run} {size} -1 -1 {size} 60 -1 1 1 1 -1 1 1 -1 -1"


def swf(folder: Path, *lines: str, **keys: str) -> str:
    (folder / "log.swf").write_text("; Version: 2.2\n" + "\n".join(lines) + "\n")
    more = "".join(f", {name}: {value}" for name, value in keys.items())
    return f"clusters: {{a: 8, b: 4}}\npolicy: EASY\nworkload:\n  swf: {{file: log.swf{more}}}\n"


def test_a_job_of_a_log_that_is_too_large_has_its_line(tmp_path: Path) -> None:
    text = swf(tmp_path, job(1, 8), job(2, 9), job(3, 4))
    (error,) = errors(text, folder=tmp_path)
    assert (error.line, error.key) == (4, "workload.swf.file")
    assert error.message.startswith(f"{tmp_path}/log.swf:3: job 2: a job of 9 processors can never")
    assert "max_size" in error.advice


def test_a_broken_line_of_a_log_that_is_read_strictly(tmp_path: Path) -> None:
    text = swf(tmp_path, job(1, 8), "1 2 three", strict="true")
    (error,) = errors(text, folder=tmp_path)
    assert (error.line, error.key) == (4, "workload.swf.file")
    assert f"{tmp_path}/log.swf:3: it does not have the 18 fields of a job" in str(error)


def test_a_gzip_that_is_cut_off(tmp_path: Path) -> None:
    text = swf(tmp_path, job(1, 1))
    data = gzip.compress("\n".join(job(n, 1) for n in range(1, 3000)).encode())
    (tmp_path / "log.swf").write_bytes(data[:-40])
    (error,) = errors(text, folder=tmp_path)
    assert error.line == 4
    assert "log.swf:" in error.message and "damaged or cut off" in error.message


def test_an_empty_extract_of_a_log(tmp_path: Path) -> None:
    (error,) = errors(swf(tmp_path, job(1, 8), first="5"), folder=tmp_path)
    assert (error.line, error.key) == (4, "workload.swf.first")
    (error,) = errors(swf(tmp_path, job(1, 8), first="2", last="1"), folder=tmp_path)
    assert error.key == "workload.swf.first"


TABLES = [
    ("size,prob\n1,0.5\n2,x\n", "t.csv:3: prob: must be a number that is not negative, not 'x'"),
    ("size,prob\n1,0.5\n2,0.4\n", "t.csv: prob: the probabilities add up to 0.9, not 1"),
    ("size,prob\n1,0.5\n-2,0.5\n", "t.csv:3: size: must be a whole number"),
    ("size,weight\n1,1\n", "t.csv:1: has no column 'prob'"),
    ("size,prob\n4,0.5\n999,0.5\n", "a job of 999 processors cannot run"),
]


@pytest.mark.parametrize(("table", "message"), TABLES)
def test_a_table_of_sizes_that_is_wrong(tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "t.csv").write_text(table)
    (error,) = errors(f"{LEAST}    total_sizes: t.csv\n", folder=tmp_path)
    assert (error.line, error.key) == (5, "workload.synthetic.total_sizes")
    assert message in error.message


def test_a_table_of_run_times_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("application,total,components,run_time\nfft,2,4,10\n")
    text = f"{FOUR}workload: {{runtimes: {{table: t.csv, utilization: 0.5}}}}\n"
    (error,) = errors(text, folder=tmp_path)
    assert (error.line, error.key) == (2, "workload.runtimes.table")
    assert "t.csv:2: components: 2 processors cannot form 4 components" in error.message


def test_all_errors_are_told_at_once() -> None:
    text = f"polcy: GS\nseed: x\n{LEAST}    compsition: []\njobs: 0\n"
    assert [error.line for error in errors(text)] == [1, 2, 7, 8]
