#!/bin/bash
# Prints the first Python that can import all of the modules; exit status 1 where none can.
#
#   python_with.sh MODULE...
#
# Looked at: BENCH_PYTHON, build/venv, python3, /usr/bin/python3.
cd "$(dirname "$0")/.." || exit 3

modules=$*
for python in ${BENCH_PYTHON:+"$BENCH_PYTHON"} build/venv/bin/python python3 /usr/bin/python3; do
  path=$(command -v "$python") || continue
  if "$path" -c "import ${modules// /, }" >/dev/null 2>&1; then
    echo "$path"
    exit 0
  fi
done
exit 1
