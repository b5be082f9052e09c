#!/bin/sh
# Makes the virtual environment $1. The system's Python comes first, because petsc4py is installed for that one.
set -eu
venv=$1
for python in /usr/bin/python3 python3; do
  if "$python" -c 'import ensurepip, venv' 2> /dev/null; then
    "$python" -m venv --system-site-packages "$venv"
    "$venv/bin/python" -c 'import numpy; print("numpy==" + numpy.__version__)' > "$venv/constraints.txt" 2> /dev/null || :
    exit 0
  fi
done
echo "No Python 3 with venv found. On Debian or Ubuntu: apt-get install python3-venv" >&2
exit 1
