"""Users' own options for sbatch: nothing that could replace the script or break the token."""

from __future__ import annotations

import getopt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.native.sbatch import FORBIDDEN, GIVES_MORE, check_native

# How sbatch 22.05 reads its options: those that have a value, and those that have none.
_LONG = (
    "account= acctg-freq= array= batch= bb= bbf= begin= chdir= clusters= cluster-constraint= "
    "comment= constraint= container= contiguous core-spec= cores-per-socket= cpu-freq= "
    "cpus-per-gpu= cpus-per-task= deadline= delay-boot= dependency= distribution= error= exclude= "
    "exclusive export= export-file= get-user-env gid= gpu-bind= gpu-freq= gpus= gpus-per-node= "
    "gpus-per-socket= gpus-per-task= gres= gres-flags= help hint= hold ignore-pbs input= job-name= "
    "kill-on-invalid-dep= licenses= mail-type= mail-user= mcs-label= mem= mem-bind= mem-per-cpu= "
    "mem-per-gpu= mincpus= network= nice no-kill no-requeue nodefile= nodelist= nodes= ntasks= "
    "ntasks-per-core= ntasks-per-gpu= ntasks-per-node= ntasks-per-socket= open-mode= output= "
    "overcommit oversubscribe parsable partition= power= prefer= priority= profile= propagate qos= "
    "quiet reboot requeue reservation= signal= sockets-per-node= spread-job switches= test-only "
    "thread-spec= threads-per-core= time= time-min= tmp= uid= usage use-min-nodes verbose version "
    "wait wait-all-nodes= wckey= wrap="
)
LONG = _LONG.split()
SHORT = "A:a:B:b:C:c:D:d:e:F:G:Hhi:J:kL:M:m:N:n:Oo:p:Qq:S:st:VvWw:x:"
SHORT_OF_FORBIDDEN = set("abDdeHhiJMnoQtVWc")


def read(words: list[str]) -> tuple[set[str], list[str]]:
    """The options as sbatch reads them, by their full names, and what is left."""
    optional = ("--nice=", "--exclusive=", "--propagate=", "--no-kill=")
    plain = [word.split("=")[0] if word.startswith(optional) else word for word in words]
    found, rest = getopt.getopt(plain, SHORT, LONG)
    return {name for name, _value in found}, rest


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--mem=4G", "--constraint=gpu&fast"],
        ["--partition=long"],
        ["-plong", "-Cgpu", "-v", "-wnode7"],
        ["--nodelist=node-7.example"],
        ["--gres=gpu:2", "--comment=$(reboot); `x` 'quotes' \"too\""],
        ["--time-min=5", "--wait-all-nodes=1"],
        ["--no-kill", "--nice"],
        ["--extra=a", '--extra={"power": 3}'],
    ],
)
def test_what_may_be_given(words: list[str]) -> None:
    assert check_native(words) is None


@pytest.mark.parametrize(
    "word",
    [
        *(f"{word}=2" if word.startswith("--") else f"{word}2" for word in sorted(GIVES_MORE)),
        *(
            "--exclusive",
            "--exclusive=user",
            "--excl=user",
            "--node=2",
            "--nod=2",
            "--ntasks-per-n=4",
            "--extra=2",
            "--extra=1-2:*:1k",
            "--extra-n=a",
        ),
        *("-wa,b", "-wnode[1-4]", "--nodelist=a,b", "--nodelis=a,b", "--nodelist=/etc/hosts"),
        *("-Cgpu*4", "--constraint=gpu*4&ib", "--prefer=a*2"),
    ],
)
def test_users_are_given_no_more_than_they_ask_for(word: str) -> None:
    assert check_native([word]) is not None
    assert check_native(["--exclusive", "--nodes=2"], administrator=True) is None


@pytest.mark.parametrize("word", sorted(FORBIDDEN))
def test_the_brokers_own_options(word: str) -> None:
    for given_ in (word, f"{word}=x"):
        wrong = check_native(["--mem=1", given_])
        assert wrong is not None and "set by metabroker itself" in wrong


@pytest.mark.parametrize(
    "word",
    ["--wr=true", "--wra=true", "--ar=1-9", "--arr=1-3", "--ui=0", "--gi=0", "--res=x", "--jo=x",
     "--o=x", "--outp=x", "--test", "--ho", "--begi=now", "--dep=1", "--ch=/", "--clust=x"],
)  # fmt: skip
def test_shortened_forms_of_them(word: str) -> None:
    wrong = check_native([word])
    assert wrong is not None and "set by metabroker itself" in wrong


@pytest.mark.parametrize(
    "word",
    ["evil.sh", "", "-", "--", ":", "-Jname", "-J", "-H", "-W", "-a1-3", "-n4", "-t5", "-kJname",
     "-va1-3", "-vW", "-p", "-C", "--mem", "--comment", "--partition", "-c4", "-D/", "-b+1", "-Q",
     "-h", "-V", "-e/x", "-i/x", "-o/x", "-d1", "-Mother"],
)  # fmt: skip
def test_words_that_could_be_read_in_another_way(word: str) -> None:
    assert check_native([word]) is not None


OPTION = st.one_of(
    st.sampled_from([f"--{name}" for name in LONG]).map(lambda o: o.removesuffix("=")),
    st.sampled_from([f"--{name}" for name in LONG]).map(lambda o: o.rstrip("=") + "=1"),
    st.tuples(st.sampled_from(LONG), st.integers(1, 6)).map(lambda o: f"--{o[0][: o[1]]}=x"),
    st.text("ABCabcHJWvkOsnpt-=1", min_size=1, max_size=5).map(lambda o: f"-{o}"),
    st.text(max_size=4),
)


@given(st.lists(OPTION, max_size=4))
def test_what_gets_through_leaves_the_script_and_the_brokers_options_alone(
    words: list[str],
) -> None:
    if check_native(words) is not None:
        return
    try:
        found, rest = read([*words, "--parsable", "--job-name=token"])
    except getopt.GetoptError:
        return  # sbatch refuses it itself
    assert rest == [], "that would be the script"
    ours = {"--parsable", "--job-name"}
    assert ours <= found, "an option has taken one of ours for its value"
    assert found - ours <= {f"--{o.rstrip('=')}" for o in LONG} | {f"-{s}" for s in SHORT}
    assert not (found - ours) & FORBIDDEN
    assert not {name[1] for name in found if len(name) == 2} & SHORT_OF_FORBIDDEN
