"""What a command is over every transport: the same words, the same environment, the same end."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.clusters.transports import base
from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    CommandMissing,
    Completed,
    Transport,
)
from tests.daemon.harness import eventually
from tests.share import share

# Prints its words, or an environment variable, each byte as two digits.
WORDS = 'for word do printf %s "$word" | od -An -v -tx1 | tr -d " \\n"; echo; done'
VALUE = 'printf %s "$MB_VALUE" | od -An -v -tx1 | tr -d " \\n"'
# Any byte but NUL, as an argument or a path may have it: what is not UTF-8 comes as surrogates.
_BYTES = st.binary(max_size=60).map(lambda b: b.replace(b"\0", b"\n"))
ANY_WORD = st.one_of(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40),
    st.text("'\"\\$`!\n\t ;&|<>(){}[]*?~#=%^-", max_size=20),
    _BYTES.map(lambda b: b.decode("utf-8", "surrogateescape")),
)
HOSTILE = (
    *("$(exit 9)", "a b", "'", "''", "\n", "\n\n", "a\n", "", "*", "\\", "\\n", "!!", "-n", "--"),
    *("`id`", "${HOME}", '"', "'\\''", "\r", "\t", "é\u2028", "\udcff\udc81\udc88", "%s%n", "~"),
    *("x" * 5000, "$'\\x41'", "& sleep 9", "#", "mb_mark=x", "eval", "\x01\x7f", "a'\n'b"),
)


def run(transport: Transport, *argv: str, stdin: bytes = b"", **more: object) -> Completed:
    return transport.run(Command(argv, stdin=stdin, **more))  # type: ignore[arg-type]


def seen(transport: Transport, *words: str) -> list[bytes]:
    """The words as the other side has them."""
    done = run(transport, "sh", "-c", WORDS, "sh", *words)
    assert (done.exit_status, done.stderr) == (0, "")
    return [bytes.fromhex(line) for line in done.stdout.splitlines()]


def test_what_a_command_said(transport: Transport) -> None:
    done = run(transport, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert done == Completed(3, "out\n", "err\n")
    assert run(transport, "printf", r"a\377b").stdout == "a\ufffdb"
    assert run(transport, "printf", "no newline").stdout == "no newline"
    assert run(transport, "sh", "-c", "printf no >&2").stderr == "no"


@pytest.mark.parametrize("status", [0, 1, 2, 75, 124, 125, 126, 127, 128, 200, 210, 254, 255])
def test_its_exit_status_is_its_own(transport: Transport, status: int) -> None:
    assert run(transport, "sh", "-c", f"exit {status}") == Completed(status, "", "")


def test_hostile_words_are_words(transport: Transport) -> None:
    assert seen(transport, *HOSTILE) == [word.encode(errors="surrogateescape") for word in HOSTILE]


@settings(max_examples=share(25))
@given(words=st.lists(ANY_WORD, max_size=12))
def test_any_words_arrive_byte_for_byte(transport: Transport, words: list[str]) -> None:
    assert seen(transport, *words) == [word.encode(errors="surrogateescape") for word in words]


@settings(max_examples=share(15))
@given(value=ANY_WORD)
def test_any_value_of_a_variable_arrives_byte_for_byte(transport: Transport, value: str) -> None:
    done = run(transport, "sh", "-c", VALUE, env=(("MB_VALUE", value),))
    assert bytes.fromhex(done.stdout) == value.encode(errors="surrogateescape")


def test_any_folder(transport: Transport, place: Path) -> None:
    folder = place / "a 'b' $c\n-d"
    folder.mkdir()
    assert run(transport, "pwd", cwd=str(folder)).stdout == f"{folder}\n"
    assert run(transport, "pwd").stdout == "/\n"


def test_a_clean_environment(transport: Transport) -> None:
    done = run(transport, "env", env=(("SLURM_TIME_FORMAT", "%s"), ("IFS", "x"), ("PS4", "y")))
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {
        *("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LC_ALL"),
        *("SLURM_TIME_FORMAT", "IFS", "PS4"),
    }


@settings(max_examples=share(10))
@given(content=st.binary(max_size=5000))
def test_any_input_arrives(transport: Transport, content: bytes) -> None:
    done = run(transport, "od", "-An", "-v", "-tx1", stdin=content)
    assert bytes.fromhex(done.stdout) == content


def test_much_input_and_output(transport: Transport) -> None:
    much = b"0123456789abcde\n" * 300_000
    assert run(transport, "cat").stdout == ""
    assert run(transport, "cat", stdin=much).stdout == much.decode()
    assert run(transport, "true", stdin=much).exit_status == 0, "it does not read its input"
    done = run(transport, "sh", "-c", "cat >&2", stdin=much)
    assert len(done.stderr) == len(much)


def test_an_output_that_is_too_large_is_no_answer(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ssh", "children"):
        monkeypatch.setattr(f"metabroker.clusters.transports.{name}.MOST_OUTPUT", 1 << 20)
    assert base.MOST_OUTPUT > 1 << 20
    with pytest.raises(CommandLost, match="output is larger than 1 MB"):
        run(transport, "yes")
    with pytest.raises(CommandLost, match="output is larger than 1 MB"):
        run(transport, "sh", "-c", "yes >&2")
    assert run(transport, "echo", "next").stdout == "next\n"


@pytest.mark.parametrize("name", ["no-such-command", "/no/such/command", "/etc/passwd", "/etc"])
def test_a_command_that_cannot_be_run(transport: Transport, name: str) -> None:
    with pytest.raises(CommandMissing, match=name):
        run(transport, name)


def test_one_without_its_interpreter_or_its_folder(transport: Transport, place: Path) -> None:
    (place / "broken").write_text("#!/no/such/interpreter\n")
    (place / "broken").chmod(0o755)
    with pytest.raises(CommandMissing, match="No such file"):
        run(transport, str(place / "broken"))
    with pytest.raises(CommandMissing):
        run(transport, "true", cwd=str(place / "nowhere"))


def test_words_that_no_command_can_be_given(transport: Transport) -> None:
    with pytest.raises(CommandMissing, match="too long"):
        run(transport, "true", "x" * 300_000)
    with pytest.raises(CommandMissing, match="null"):
        run(transport, "true", "a\0b")
    with pytest.raises(CommandMissing, match="null"):
        run(transport, "true", env=(("A", "a\0b"),))


def test_one_that_was_killed_is_lost(transport: Transport) -> None:
    with pytest.raises(CommandLost, match="ended by signal 9"):
        run(transport, "sh", "-c", "kill -9 $$")


@pytest.mark.parametrize("status", [153, 170, 188, 191])
def test_the_error_numbers_of_pbs_are_no_signals(transport: Transport, status: int) -> None:
    """They are more than a byte holds: 15001 is 153."""
    done = run(transport, "sh", "-c", f"echo qstat: Unknown Job Id >&2; exit {status}")
    assert (done.exit_status, done.stderr) == (status, "qstat: Unknown Job Id\n")


def test_one_that_hangs_is_lost_in_time_and_ended(transport: Transport, place: Path) -> None:
    script = f"echo $$ > {place}/pid; trap '' TERM HUP; sleep 300 & wait; sleep 300"
    began = time.monotonic()
    with pytest.raises(CommandLost, match="no answer within 1 s"):
        run(transport, "sh", "-c", script, seconds=1)
    assert time.monotonic() - began < 10
    process = Path(f"/proc/{(place / 'pid').read_text().strip()}")
    eventually(lambda: not process.exists(), "it does not go on over there")


def test_many_at_once(transport: Transport) -> None:
    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(lambda n: run(transport, "echo", str(n)).stdout, range(40)))
    assert told == [f"{n}\n" for n in range(40)]


def test_its_words_are_json_too(transport: Transport) -> None:
    """What adapters parse is not touched on its way."""
    text = json.dumps({"a": ["\u001f", "é", "\\n"]})
    assert json.loads(run(transport, "printf", "%s", text).stdout) == json.loads(text)
