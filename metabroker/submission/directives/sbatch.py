"""sbatch's options, one row each (those of Slurm 22.05 to 26.05), and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from metabroker.submission.dependency import parse_dependency, parse_yes
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import AskedOption
from metabroker.submission.tasks import parse_array
from metabroker.submission.text import shown
from metabroker.submission.times import parse_time

from .counts import Counts, Options, ask, parsed
from .getopt import Given, scan
from .rows import Asked, Command, Counted, Kept, Own, Refused, Row, row
from .words import Word, sbatch_words

_LATER = "it is not supported yet"
_MORE = "it could give the job other processors than it asks metabroker for"
_LAYOUT = Refused(_MORE, "ask with --ntasks, --cpus-per-task and --nodes")

ROWS: tuple[Row, ...] = (
    row("account A =", Asked()),
    row("acctg-freq =", Asked()),
    row("array a =", Own("array", lambda text: str(parse_array(text)))),
    row("batch =", Refused("it chooses the node of the batch script")),
    row("bb =", Asked()),
    row("bbf =", Refused("the file is not sent to the cluster", "write it as --bb")),
    row("begin b =", Refused(_LATER, "submit it later, or with --hold")),
    row("chdir D =", Own("chdir")),
    row("cluster-constraint =", Refused("it is for federations of Slurm", "use --clusters")),
    row("clusters|cluster M =", Counted()),
    row("comment =", Asked()),
    row("constraint C =", Asked()),
    row("container =", Asked()),
    row("container-id =", Asked()),
    row("runtime =", Asked()),
    row("context =", Refused("it is a label of SELinux")),
    row("contiguous", Asked()),
    row("core-spec S =", _LAYOUT),
    row("cores-per-socket =", _LAYOUT),
    row("consolidate-segments", Asked()),
    row("cpu-freq =", Asked()),
    row("cpus-per-gpu =", Refused(_MORE, "ask with --cpus-per-task")),
    row("cpus-per-task c =", Counted()),
    row("deadline =", Refused("no deadline is kept", "ask for less with --time")),
    row("delay-boot =", Asked()),
    row("dependency d =", Own("dependency", lambda text: str(parse_dependency(text)))),
    row("distribution m =", Asked()),
    row("error e =", Own("error")),
    row("exclude x =", Asked()),
    row("exclusive [=]", Counted()),
    row("export =", Own("export")),
    row("export-file =", Refused("variables are not read from files", "use --export")),
    row("external", Refused("it makes a job without a script", never=True)),
    row("extra =", Asked()),
    row("extra-node-info B =", _LAYOUT),
    row("get-user-env [=]", Refused("no login environment is made", "use --export")),
    row("gid =", Refused("jobs are their submitters'", never=True)),
    row("gpu-bind =", Asked()),
    row("gpu-freq =", Asked()),
    row("gpus G =", Counted()),
    row("gpus-per-node =", Counted()),
    row("gpus-per-socket =", Refused(_MORE, "ask with --gpus or --gpus-per-task")),
    row("gpus-per-task =", Counted()),
    row("gres =", Counted()),
    row("gres-flags =", Asked()),
    row("help h", Command()),
    row("hint =", _LAYOUT),
    row("hold H", Own("hold", lambda _: True)),
    row("ignore-pbs", Command()),
    row("input i =", Kept(("/dev/null", "none"))),
    row("job-name J =", Own("name")),
    row("kill-on-invalid-dep =", Own("kill_on_invalid_dep", parse_yes)),
    row("licenses L =", Asked()),
    row("mail-type =", Asked()),
    row("mail-user =", Asked()),
    row("mcs-label =", Asked()),
    row("mem =", Counted()),
    row("mem-bind =", Asked()),
    row("mem-per-cpu =", Counted()),
    row("mem-per-gpu =", Refused("memory is counted by nodes and processors",
        "ask with --mem or --mem-per-cpu")),
    row("mem-update =", Asked()),
    row("mincpus =", _LAYOUT),
    row("network =", Asked()),
    row("nice [=]", Asked()),
    row("no-kill k [=]", Asked()),
    row("no-requeue", Kept()),
    row("nodefile F =", Refused("the file is not read", "use --nodelist")),
    row("nodelist w =", Asked()),
    row("nodes N =", Counted()),
    row("ntasks n =", Counted()),
    row("ntasks-per-core =", _LAYOUT),
    row("ntasks-per-gpu =", _LAYOUT),
    row("ntasks-per-node|tasks-per-node =", Counted()),
    row("ntasks-per-socket =", _LAYOUT),
    row("ntasks-per-tres =", _LAYOUT),
    row("oom-kill-step [=]", Asked()),
    # The output is appended to: a job that the cluster starts twice must not empty the file.
    row("open-mode =", Kept(("a", "append"))),
    row("output o =", Own("output")),
    row("overcommit O", Asked()),
    row("oversubscribe s", Asked()),
    row("parsable", Command()),
    row("partition p =", Asked()),
    row("power =", Refused("Slurm has it no more")),
    row("prefer =", Asked()),
    row("priority =", Asked()),
    row("profile =", Asked()),
    row("propagate [=]", Asked()),
    row("qos q =", Asked()),
    row("quiet Q", Command()),
    row("reboot", Asked()),
    row("requeue [=]", Refused("metabroker repeats jobs by its own rule (`retries`)")),
    row("reservation =", Refused("metabroker makes the reservations of its jobs itself")),
    row("resources =", Asked()),
    row("resv-ports [=]", Asked()),
    row("segment =", Asked()),
    row("signal =", Asked()),
    row("sockets-per-node =", _LAYOUT),
    row("spread-job", _LAYOUT),
    row("spread-segments", Asked()),
    row("stepmgr", Asked()),
    row("switches =", Asked()),
    row("test-only", Command()),
    row("thread-spec =", _LAYOUT),
    row("threads-per-core =", _LAYOUT),
    row("time t =", Own("time", parse_time)),
    row("time-min =", Refused("a time limit is not shortened")),
    row("tmp =", Asked()),
    row("tres-bind =", Asked()),
    row("tres-per-task =", _LAYOUT),
    row("uid =", Refused("jobs are their submitters'", never=True)),
    row("usage", Command()),
    row("use-min-nodes", Asked()),
    row("verbose v", Command()),
    row("version V", Command()),
    row("wait W", Own("wait", lambda _: True)),
    row("wait-all-nodes =", Asked()),
    row("wckey =", Asked()),
    row("wrap =", Command()),
    row("x11 [=]", Refused("batch jobs have no display")),
)  # fmt: skip
BY_NAME: Mapping[str, Row] = {name: each for each in ROWS for name in each.names}


def of_script(script: bytes, file: str) -> list[Given]:
    """What the `#SBATCH` lines of a script give, in their order.

    Raises:
        SubmissionError: sbatch could not read them, with file and line.
    """
    given, rest = scan(sbatch_words(script, file), ROWS, "sbatch")
    if rest:
        what = f"{rest[0].place}{shown(rest[0].text)} is not an option"
        raise SubmissionError(what, "write options as on the command line, each with its value")
    return given


def of_command_line(words: Iterable[str]) -> tuple[list[Given], list[str]]:
    """The options of a command line, and what follows them: the script and its arguments.

    Raises:
        SubmissionError: sbatch could not read it.
    """
    given, rest = scan([Word(word) for word in words], ROWS, "sbatch")
    return given, [word.text for word in rest]


def translate(given: Iterable[Given]) -> Options:
    """metabroker's own options for what was given to sbatch; of one that is given twice the last
    counts. `asked`: what goes to the job's cluster (`model.AskedOption`).

    Raises:
        SubmissionError: an option that nothing can become of, by its name and place.
    """
    last = {each.name: each for each in given}
    counts = Counts(last)
    counted = counts.options()
    options: Options = {}
    asked: list[AskedOption] = []
    for each in last.values():
        if each.name in counts.by_gpu:
            continue
        becomes = BY_NAME[each.name].becomes
        if isinstance(becomes, Own):
            options[becomes.key] = parsed(each, becomes)
        elif isinstance(becomes, Asked) or _refused(each):
            asked.append(ask(each))
    return {**options, **counted, "asked": (*asked, *counts.asked)}


def _refused(given: Given) -> bool:
    """Whether nothing becomes of it here. The daemon refuses it, unless its site drops it."""
    becomes = BY_NAME[given.name].becomes
    if isinstance(becomes, Kept):
        return bool(becomes.values) and given.value not in becomes.values
    if isinstance(becomes, Refused) and becomes.never:
        raise SubmissionError(f"{given.shown}: {becomes.why}", becomes.advice)
    return isinstance(becomes, Refused)


def layout(words: Mapping[str, str]) -> Options:
    """What `nodes`, `ntasks-per-node` and `ntasks` of a command line mean together.

    Raises:
        SubmissionError: they cannot be understood.
    """
    counts = Counts({name: Given(name, value) for name, value in words.items()})
    found = counts.options()
    return {**found, "asked": tuple(counts.asked)}
