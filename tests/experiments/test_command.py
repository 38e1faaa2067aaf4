"""`metabroker experiment`: what it prints and writes, and how it ends (contracts C1 and C5)."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from metabroker.cli import main
from metabroker.experiments import ctc, scale


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Runs `metabroker experiment ARGS` in an empty folder with tiny runs; returns its exit code
    and what it wrote."""
    monkeypatch.setattr(scale, "QUICK", scale.TINY)
    monkeypatch.setattr(scale, "FULL", scale.TINY)
    monkeypatch.chdir(tmp_path)

    def called(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["metabroker", "experiment", *args])
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return called


def test_an_experiment_for_people(call: Any, tmp_path: Path) -> None:
    code, out, err = call("be03-fig15", "--quick", "--processes", "1")
    assert code == 0 and not err
    assert "be03-fig15: Response times" in out and "(100, 0, 0, 0), utilization 0.865" in out
    folder = tmp_path / "metabroker-experiments" / "be03-fig15"
    assert {path.suffix for path in folder.iterdir()} == {".csv", ".png", ".svg", ".pdf"}


def test_an_experiment_for_programs(call: Any, tmp_path: Path) -> None:
    args = ("--quick", "--json", "--processes", "1", "--seed", "3")
    code, out, _ = call("be03-fig15", "--out", "here", *args)
    document = json.loads(out)
    (found,) = document["experiments"]
    assert code == 0 and document["seed"] == 3 and found["name"] == "be03-fig15"
    assert all(Path(name).is_file() for name in found["files"])
    assert Path(found["files"][0]) == Path("here/be03-fig15.csv")
    assert {value["series"] for value in found["values"]} == {"GS", "LS-DO"}


def test_several_at_once(call: Any, tmp_path: Path) -> None:
    code, out, _ = call("be03-fig15", "be07-fig7", "be03-fig15", "--out", "x", "--processes", "1")
    assert code == 0 and out.count("written: ") == 2
    assert (tmp_path / "x" / "be07-fig7" / "be07-fig7.svg").is_file()


def test_claims(call: Any, tmp_path: Path) -> None:
    code, out, _ = call("claims", "--only", "be-50,BE-51", "--json", "--processes", "2")
    found = json.loads(out)["claims"]
    assert code == 0 and [claim["id"] for claim in found] == ["BE-50", "BE-51"]
    assert all({"id", "claim", "result", "evidence"} <= set(claim) for claim in found)
    assert all(isinstance(line, str) for claim in found for line in claim["evidence"])
    assert (tmp_path / "metabroker-experiments" / "claims" / "claims.csv").is_file()
    code, out, _ = call("beyond", "--only", "bl-01", "--json", "--processes", "1")
    assert code == 0 and [claim["id"] for claim in json.loads(out)["beyond"]] == ["BL-01"]
    assert (tmp_path / "metabroker-experiments" / "beyond" / "claims.md").is_file()
    code, out, _ = call("claims", "--only", "BE-50", "--processes", "1")
    assert code == 0 and "BE-50" in out and "1 claims: " in out


def test_a_log_that_is_named_is_replayed(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METABROKER_SHARED", str(tmp_path))  # where none is
    firsts = zip(list(ctc.EXTRACTS), (1, 50, 100), strict=True)
    for name, first in firsts:
        monkeypatch.setitem(ctc.EXTRACTS, name, first)
    lines = [" ".join(map(str, job)) + "\n" for job in ctc.stand_in(400, 7).jobs]
    (tmp_path / "ours.swf").write_text("".join(lines))
    asked = ("claims", "--only", "ER-01", "--processes", "1", "--json")
    code, out, _ = call(*asked, "--trace", "ours.swf")
    (found,) = json.loads(out)["claims"]
    assert code == 0 and found["evidence"][0].startswith(("yes: ", "no: "))
    code, out, _ = call(*asked)
    (found,) = json.loads(out)["claims"]
    assert found["result"] == "undecided" and "--trace names one" in found["evidence"][-1]
    (tmp_path / "short.swf").write_text(lines[0])
    code, _, err = call(*asked, "--trace", "short.swf")
    assert code == 2 and "short.swf: it has 1 jobs, and the last extract begins at job 100" in err


def test_the_list(call: Any) -> None:
    code, out, _ = call("--list")
    assert code == 0 and "be07-fig11" in out and "claims" in out and "beyond-line " in out
    code, out, _ = call("--list", "--json")
    assert "be03-fig3" in [found["name"] for found in json.loads(out)["experiments"]]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("be03-fig99",), 2, "no experiment 'be03-fig99'; did you mean be03-fig9?"),
        (("xyz",), 2, "no experiment 'xyz'; list them with: metabroker experiment --list"),
        ((), 2, "no experiment is named"),
        (("be03-fig15", "--only", "BE"), 2, "--only selects claims"),
        (("claims", "--only", "ZZ"), 2, "no claim has an id that begins with 'ZZ'"),
        (("be03-fig15", "--dask", "x", "--processes", "1"), 2, "cannot go together"),
        (("be03-fig15", "--dask", "tcp://127.0.0.1:9:9"), 1, "no Dask scheduler answers"),
        (("be03-fig15", "--seed", "-1"), 2, "--seed"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    call: Any, args: tuple[str, ...], code: int, said: str
) -> None:
    found, out, err = call(*args)
    assert (found, out) == (code, "") and err.count("\n") == 1
    assert err.startswith("metabroker: ") and said in err


def test_a_folder_that_cannot_be_written(call: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = call("be03-fig15", "--out", "file/x", "--processes", "1")
    assert code == 1 and "file/x cannot be written: Not a directory" in err


def test_missing_extras(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError("no", name="matplotlib")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    code, _, err = call("be03-fig15")
    assert code == 1 and "matplotlib is not installed" in err
    assert "pip install 'metabroker[simulation]'" in err
