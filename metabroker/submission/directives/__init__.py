"""Options that stand in a script: `#METABROKER` lines (`own`), and those of sbatch and qsub.

Of an `#SBATCH` or `#PBS` line nothing is ever ignored. Each option has a row in the table of its
command (`sbatch`, `qsub`), which says what becomes of it: it is honoured as an option of
metabroker's own, it is put to the job's cluster in that cluster's words (`metabroker.submission.
native.asked`), or it is refused by its name, with the file and the line.
"""

from .own import Directive, directives

__all__ = ["Directive", "directives"]
