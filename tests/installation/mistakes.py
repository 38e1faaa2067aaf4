"""What people do wrong the first time: each error names the cause, and what to do."""

from __future__ import annotations

from typing import NamedTuple

from tests.testbed.clean import CleanRoot


class Mistake(NamedTuple):
    """A command, its exit code, and what its one line says: what is wrong, and the way out."""

    command: str
    code: int
    cause: str
    fix: str


FILES = """
printf 'polcy: GS\\nclusters: {a: {system: slurm}}\\n' > key.yaml
printf 'clusters:\\n\\tlab: {}\\n' > tab.yaml
printf 'clusters: {a: {system: slurm, env: {SLURM_CONF: /etc/nowhere.conf}}}\\n' > conf.yaml
printf 'echo hi\\n' > noline.sh; printf '#!/bin/sh\\r\\necho hi\\r\\n' > dos.sh
printf '#!/bin/sh\\n#SBATCH --array=9-0\\necho hi\\n' > slurm.sh
"""
MISTAKES = (
    Mistake("METABROKER_SOCKET=/nowhere metabroker queue", 1, "cannot reach the daemon", "serve"),
    Mistake("metabroker serve", 2, "missing option '--config'", "serve --help"),
    Mistake("metabroker check --config none.yaml", 2, "none.yaml:1: cannot be read", "readable"),
    Mistake("metabroker check --config key.yaml", 2, "key.yaml:1: polcy", "did you mean 'policy'"),
    Mistake("metabroker check --config tab.yaml", 2, "tab.yaml:2", "not with tabs"),
    Mistake("metabroker check --config conf.yaml", 2, "there is no such file", "slurm.conf"),
    Mistake("metabroker sbumit -n 1 job.sh", 2, "no command 'sbumit'", "`metabroker submit`"),
    Mistake("metabroker submit job.sh", 2, "how many processors", "-n, --components, --on"),
    Mistake("metabroker submit -n 1 none.sh", 2, "'none.sh' cannot be read", "readable file"),
    Mistake("metabroker submit -n 1 noline.sh", 2, "no interpreter line", "#!/bin/sh"),
    Mistake("metabroker submit -n 1 dos.sh", 2, "DOS line ends", "dos2unix"),
    Mistake("metabroker submit -n 1 -t soon job.sh", 2, "'soon' is not a time", "H:MM:SS"),
    Mistake("metabroker submit -n 9 job.sh", 1, "can never run", "largest that could run is 8"),
    Mistake("metabroker submit -n 1 --cluster delft job.sh", 1, "no cluster named", "trial"),
    Mistake("metabroker submit slurm.sh", 2, "slurm.sh:2: --array=9-0: ", "--array 0-99"),
    Mistake("metabroker wait 999", 1, "there is no job 999", "metabroker queue"),
)


def make(host: CleanRoot, user: str) -> None:
    """Make each of them, as an ordinary user."""
    home = "/tmp/mistakes"  # under `run_as: self` jobs write as the daemon's account
    assert host.sh(f"mkdir -m 1777 {home}").returncode == 0
    assert host.sh(f"cd {home} && cp /tmp/job.sh . && {FILES}", user).returncode == 0
    for mistake in MISTAKES:
        done = host.sh(f"cd {home} && {mistake.command}", user)
        told = f"{mistake.command}: {done.stdout}{done.stderr}"
        assert done.returncode == mistake.code, told
        (line,) = done.stderr.splitlines()
        assert line.startswith("metabroker: "), told
        assert mistake.cause in line and mistake.fix in line, told
