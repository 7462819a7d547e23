# A table in Markdown of what bench_stat.awk gives: medians, behind them least and greatest where
# they differ.
#
#   -v table=NAME        of this table;  -v rows=REGEX  of these rows only
#   -v first=TITLE       title of the column with the rows' names
#   -v columns='COLUMN;TITLE;FORMAT|...'
#   -v pivot=1           rows are named COLUMN-OF-THE-RESULT/ROW; one column of the samples is shown
#
# FORMAT: n a number, x a ratio, i one over it, % a share.
BEGIN {
  FS = "\t"
  shown = split(columns, list, "|")
  for (i = 1; i <= shown; i++) {
    split(list[i], part, ";")
    name[i] = part[1]
    title[i] = part[2]
    format[i] = part[3]
  }
}

$1 == table && (rows == "" || $2 ~ rows) {
  if (pivot) {
    if ($3 != name[1])
      next
    split($2, part, "/")
    across = part[1]
    down = part[2]
  } else {
    across = $3
    down = $2
  }
  if (!(("r", down) in seen))
    row[++row_count] = down
  if (!(("c", across) in seen))
    column[++column_count] = across
  seen["r", down] = seen["c", across] = 1
  middle[down, across] = $5
  least[down, across] = $6
  most[down, across] = $7
}

function with_commas(v, text, at)
{
  text = sprintf("%.0f", v)
  for (at = length(text) - 3; at > 0 && substr(text, at, 1) != "-"; at -= 3)
    text = substr(text, 1, at) "," substr(text, at + 1)
  return text
}

function number(v, f)
{
  if (f == "%")
    return sprintf((v < 0.0995 ? "%.2g %%" : "%.3g %%"), 100 * v)
  if (f == "i")
    v = 1 / v
  if (v >= 99.5)
    return with_commas(v)
  return sprintf((f == "n" ? "%.3g" : "%.2g"), v)
}

function cell(down, across, f, a, b, c)
{
  if (!((down, across) in middle) || (f == "i" && middle[down, across] == 0))
    return "-"
  a = number(middle[down, across], f)
  b = number(f == "i" ? most[down, across] : least[down, across], f)
  c = number(f == "i" ? least[down, across] : most[down, across], f)
  return b == c ? a : a " (" b "-" c ")"
}

function line(texts, count, i, text)
{
  text = "|"
  for (i = 1; i <= count; i++)
    text = text " " texts[i] " |"
  print text
}

END {
  if (!row_count) {
    print "Not measured."
    exit
  }
  texts[1] = first
  rule = "|---|"
  count = pivot ? column_count : shown
  for (i = 1; i <= count; i++) {
    texts[i + 1] = pivot ? column[i] : title[i]
    rule = rule "---:|"
  }
  line(texts, count + 1)
  print rule
  for (r = 1; r <= row_count; r++) {
    texts[1] = row[r]
    for (i = 1; i <= count; i++)
      texts[i + 1] = pivot ? cell(row[r], column[i], format[1]) : cell(row[r], name[i], format[i])
    line(texts, count + 1)
  }
}
