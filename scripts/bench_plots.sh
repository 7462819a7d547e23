#!/bin/bash
# The plots of make bench, by gnuplot, as SVG.
#
#   bench_plots.sh STATS FOLDER      STATS as bench_stat.awk writes them
#
# A plot whose numbers were not measured is not made.
set -euo pipefail
stats=$1 folder=$(cd "$2" && pwd) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$folder"/*.svg
command -v gnuplot >/dev/null || { echo 'bench: no plots: gnuplot is not installed' >&2; exit 0; }

# "number median least greatest" of a table's column, a block for each row named BLOCK/NUMBER.
blocks() # table column file [regex]
{
  awk -F '\t' -v t="$1" -v c="$2" -v want="${4:-.}" '
    $1 != t || $3 != c || $2 !~ want { next }
    { n = split($2, part, "/"); name = n > 1 ? part[1] : t }
    name != last { if (last != "") print "\n"; print "\"" name "\""; last = name }
    { print part[n], $5, $6, $7 }' "$stats" >"$work/$3"
}

# "name median" of each row.
bars() # table column file
{
  awk -F '\t' -v t="$1" -v c="$2" '
    $1 == t && $3 == c && $2 !~ /^(fuzz_empty|bare)$/ {
      print "\"" $2 "\"", $5
    }' "$stats" >"$work/$3"
}

draw() # name files... <commands: a plot where each file has something
{
  local file
  for file in "${@:2}"; do
    [ -s "$work/$file" ] || return 0
  done
  {
    echo "set terminal svg size 760,420 noenhanced font 'sans,12' background rgb 'white'"
    echo "set output '$folder/$1.svg'"
    echo 'set grid; set key outside right; set border 3; set xtics nomirror; set ytics nomirror'
    cat
  } | (cd "$work" && gnuplot)
}

# One line for each block of a file.
lines() { echo "plot for [i=0:*] '$1' index i using 1:2 with linespoints title columnheader(1)"; }

blocks oracle certified/dot oracle '^(f|bf)'
draw oracle oracle <<END
set logscale xy 2; set yrange [1:*]; set xlabel 'K'
set ylabel 'certified oracle by a dot in 16 accumulators'
$(lines oracle), 2 with lines dashtype 2 linecolor 'black' title 'goal'
END

blocks oracle judged/rows judgement
draw judgement judgement <<END
set logscale xy 2; set xlabel 'K'; set ylabel "judgement by the three rows' arithmetic"
$(lines judgement), 1.5 with lines dashtype 2 linecolor 'black' title 'goal'
END

for column in dot certified mpfr; do
  blocks oracle $column mpfr.$column '^(bf16|f64)/'
done
draw mpfr mpfr.dot mpfr.certified mpfr.mpfr <<'END'
set logscale x 2; set logscale y; set xlabel 'K'; set ylabel 'nanoseconds a product'
plot for [c in "dot certified mpfr"] for [i=0:1] 'mpfr.'.c index i using 1:2 with linespoints \
  title c.' '.columnheader(1)
END

for by in k outputs engines; do
  blocks growth_$by examined growth.$by
done
draw growth growth.k growth.outputs growth.engines <<'END'
set logscale x 2; set logscale y; set xlabel 'K, outputs or engines'
set ylabel 'microseconds a case'
plot for [by in "k outputs engines"] 'growth.'.by using 1:($2/1000) with linespoints \
  title (by eq 'k' ? 'K' : by)
END

blocks memory resident memory
draw memory memory <<'END'
set logscale x 10; set xrange [1:*] noextend; set yrange [0:*]; set key off
set xlabel 'executions'; set ylabel 'resident, MiB'
plot 'memory' using 1:($2/1024) with linespoints
END

modes=()
for mode in libfuzzer libfuzzer-fixed asan asan-fixed afl afl-asan; do
  bars $mode rate/fuzz_empty bars.$mode
  [ ! -s "$work/bars.$mode" ] || modes+=("$mode")
done
draw engines "bars.${modes[0]:-none}" <<END
set style data histograms; set style fill solid 0.8; set logscale y; set yrange [0.001:2]
set ylabel "rate by the empty target's"; set xtics rotate by -20
plot for [m in "${modes[*]:-}"] 'bars.'.m using 2:xtic(1) title m
END

for kind in varying one_shape; do
  bars $kind rate bars.$kind
done
draw baselines bars.varying bars.one_shape <<'END'
set style fill solid 0.8; set boxwidth 0.7; set logscale y; set yrange [0.01:*]
set ylabel 'cases a second'; set key off
set multiplot layout 1,2
set title 'shapes vary'
plot 'bars.varying' using 0:2:xtic(1) with boxes
set title 'one shape'
plot 'bars.one_shape' using 0:2:xtic(1) with boxes
END
