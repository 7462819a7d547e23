# Samples (table, row, column, repetition, value) to one line for each table, row and column, in
# order of appearance: table, row, column, repetitions, median, least, greatest.
#
# Behind them ratios, taken within each repetition:
#   -v ratios='A/B ...'       column A by column B of the same row, as column A/B
#   -v against='COLUMN/ROW'   the column by the same column of another row, as column COLUMN/ROW
BEGIN { FS = OFS = "\t" }

function add(table, row, column, repetition, value, key)
{
  key = table FS row FS column
  if (!(key in count))
    order[++keys] = key
  count[key]++
  sample[key, count[key]] = value
  taken[key, count[key]] = repetition
  at[key, repetition] = value
}

{ add($1, $2, $3, $4, $5) }

function sort(list, n, i, j, v)
{
  for (i = 2; i <= n; i++) {
    v = list[i]
    for (j = i - 1; j > 0 && list[j] > v; j--)
      list[j + 1] = list[j]
    list[j + 1] = v
  }
}

# Of a list that is sorted.
function median(list, n)
{
  return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

function report(key, i, n, list)
{
  n = count[key]
  for (i = 1; i <= n; i++)
    list[i] = sample[key, i] + 0
  sort(list, n)
  print key, n, sprintf("%.9g", median(list, n)), list[1], list[n]
}

# Ratios of key by other, as column `column` of key's row.
function divide(key, other, table, row, column, i, r)
{
  for (i = 1; i <= count[key]; i++) {
    r = taken[key, i]
    if ((other, r) in at && at[other, r] + 0)
      add(table, row, column, r, at[key, r] / at[other, r])
  }
}

END {
  plain = keys
  wanted = split(ratios, ratio, " ")
  split(against, reference, "/")
  for (i = 1; i <= plain; i++) {
    split(order[i], name, FS)
    for (j = 1; j <= wanted; j++) {
      split(ratio[j], side, "/")
      if (name[3] == side[1])
        divide(order[i], name[1] FS name[2] FS side[2], name[1], name[2], ratio[j])
    }
    if (name[3] == reference[1])
      divide(order[i], name[1] FS reference[2] FS name[3], name[1], name[2], against)
  }
  for (i = 1; i <= keys; i++)
    report(order[i])
}
