#!/bin/bash
# A job of a continuous run, in a process of its own.
#
#   job.sh FOLDER triage|merge|report|shares
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
for part in folder units crashes corpus status; do
  # shellcheck disable=SC1090
  . "scripts/continuous/$part.sh"
done
set_folder "$1"
mapfile -t engines <"$run/engines"
"job_$2"
