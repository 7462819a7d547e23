# Two documents of precfuzz judge --json, slurped: answers held against the rows that an index
# claims, and against all rows.  Gives groups of answers (graph, backend, dtype, shapes) with the rows that
# every answer of the group fits, and how many are explained by what.

def operand($name): capture(" " + $name + "=(?<dtype>[a-z0-9_]+)\\[(?<dims>[0-9,]*)\\]");

def shapes($sizes; $rank):
  (if $rank == 2 then "matrices" else "batches" end) + ", " +
  (if $sizes.m == 1 and $sizes.n == 1 then "M = N = 1"
   elif $sizes.m == 1 or $sizes.n == 1 then "M or N = 1"
   else "M, N > 1" end) +
  (if $sizes.products > 4096 then ", B\\*M\\*N\\*K > 4096" else "" end);

# inside: fits the row claimed.  A model is an explanation only where no row is one.
def outcome($fits):
  if .verdict == "OK" or .verdict == "ORDER" then "inside"
  elif .verdict == "VACUOUS" then "nothing to judge"
  elif .finding and .model != null and $fits == [] then "model " + .model.model
  else "unexplained" end;

def answers:
  [.[0].cases, .[1].cases] | transpose | .[] | . as [$claimed, $all] |
  ($claimed.case | operand("x")) as $x |
  [$claimed.results, $all.results] | transpose | .[] | . as [$one, $every] |
  ($one.tensor | split(".")) as [$graph, $backend] |
  {file: $claimed.file, tensor: $one.tensor, graph: $graph, backend: $backend, dtype: $x.dtype,
   shapes: shapes($claimed.sizes; $x.dims | split(",") | length), row: $one.result.strategy,
   outcome: ($every.fits as $fits | $one.result | outcome($fits)), fits: $every.fits};

# rows that fit all answers but those that a model explains, which say nothing of rows
def common: [.[] | select(.outcome == "inside") | .fits] |
  if length == 0 then [] else reduce .[] as $f (.[0]; . - (. - $f)) end;

[answers] |
{
  source: $source,
  title: (if $source then "PyTorch \($source.version), \($source.isa)"
          else "Recorded: corpus/\($name)" end),
  cases: ([.[].file] | unique | length),
  answers: length,
  missing: (([.[].file] | unique | length) as $files |
    group_by(.tensor) | map(select(length < $files) |
      {key: .[0].tensor, value: ($files - length)}) | from_entries),
  outcomes: (group_by(.outcome) | map({key: .[0].outcome, value: length}) | from_entries),
  unexplained: [.[] | select(.outcome == "unexplained") |
    "\(.file) \(.tensor): not \(.row), " +
    if .fits == [] then "and no other row" else "but \(.fits | join(", "))" end],
  groups: (group_by([.graph, .backend, .dtype, .shapes]) | map({
    graph: .[0].graph, backend: .[0].backend, dtype: .[0].dtype, shapes: .[0].shapes,
    answers: length, rows: common,
    claims: ([.[].row] | unique),
    explained: ([.[].outcome | select(. != "inside")] | group_by(.) | map("\(length) by \(.[0])"))
  }))
}
