#!/bin/bash
# The pictures of docs/report.md: a page of planted faults, of seeds and of a made-up run of four hours, in
# headless Chromium.  pngquant, where it is there, makes them small.
#
#   report_doc.sh [FOLDER]      docs
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath "${1:-docs}") program=$(realpath build/precfuzz) scripts=$PWD/scripts seeds=$PWD/corpus/seeds
unset "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
engines=fault:M05,fault:M13,fault:M16,fault:M15

case_of() { "$program" encode --form archive "$2" -o "found/crash-$1"; }
mkdir found
case_of 1 'matmul_add x=bf16[6,33] y=bf16[33,8] bias=bf16[8] x.values=normal:3 y.values=normal:4 bias.values=normal:5'
case_of 2 'matmul x=f32[6,47] y=f32[47,20] x.values=normal:1 y.values=normal:2'
case_of 3 'matmul_out_f32_add x=f16[5,19] y=f16[19,21] bias=f16[21] x.values=normal:6 y.values=normal:7 bias.values=normal:8'
"$program" triage found -o findings --engine $engines --time-limit 10 >log 2>&1 || [ $? = 1 ]
cp -r "$seeds" findings/seeds

# What a run tells of itself each minute; its numbers are made up.
awk 'BEGIN {
  srand(3)
  split("onednn bf16 onednn f32 openblas f32 xnnpack f16", name, " ")
  for (i = 0; i < 240; i++) {
    executions += 60 * int(900 + 200 * sin(i / 20) + 100 * rand())
    printf "{\"time\": %d, \"executions\": %d, \"rate\": %d, \"coverage\": %d, \"corpus\": %d, \"findings\": %d, \"shares\": [",
      1790000000 + 60 * i, executions, 900 + 200 * sin(i / 20), 1200 + 300 * log(1 + i), 70 + i, i / 60
    for (j = 0; j < 4; j++) {
      if (rand() < 0.08) share[j] += (0.95 - 0.1 * j - share[j]) * rand() * 0.4
      printf "%s{\"engine\": \"%s\", \"dtype\": \"%s\", \"share\": %.4f}", j ? ", " : "", name[2 * j + 1], name[2 * j + 2], share[j]
    }
    print "]}"
  }
}' >findings/status.jsonl
"$program" report findings -o report.html --engine "reference:forward,reference:lanes8"

for shot in 1440:2900 390:3600; do
  MOST_HEIGHT=${shot#*:} "$scripts/page_shot.sh" report.html "${shot%:*}" light "report-${shot%:*}.png" >/dev/null
  ! command -v pngquant >/dev/null || pngquant --force --ext .png 128 "report-${shot%:*}.png"
  cp "report-${shot%:*}.png" "$folder"
done
ls -l "$folder"/report-*.png
