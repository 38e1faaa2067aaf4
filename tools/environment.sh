#!/bin/sh
# environment.sh FOLDER [PYTHON]: a virtual environment with pip in FOLDER, unless there is one.
#
# By PYTHON, else by the distribution's Python where that is 3.11 or later, else by the `python3` of
# PATH. The distribution's is built with optimisation, which one that was compiled by hand often is
# not: the tests need a sixth less time. Debian's has no pip without its package python3-venv; then
# the pip of PATH's python3 puts one there.
set -eu
folder=$1 python=${2:-}
if "$folder/bin/python" -m pip --version >/dev/null 2>&1; then exit; fi

if [ -z "$python" ]; then
  for python in /usr/bin/python3 python3; do
    ! "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || break
  done
fi
if "$python" -c 'import ensurepip' 2>/dev/null; then
  exec "$python" -m venv "$folder"
fi
"$python" -m venv --without-pip "$folder"
python3 -m pip --quiet --python "$folder/bin/python" install pip
