# Which includes and calls break the order of the house; prints one line for each.  Run by
# test_layers.sh with all sources of src, oracle and fuzz as its files.
#
# A header includes only headers before it in layers.txt (-v order=FILE); a source file also its own.
# A source file without a header of its own ranks as the longest name there that its name begins
# with.  That name with a "_" begins the headers that it and its like share, which they may include,
# too.
BEGIN {
  while ((getline name < order) > 0)
    rank[name] = ++n
  for (n = split("status format truth dtype", seen); n; n--)
    oracle_sees[seen[n]] = 1
  # a library that ends, prints or asks cannot be part of somebody's process
  calls = "abort|exit|_Exit|_exit|quick_exit|assert|getenv|secure_getenv|printf|puts|putchar|perror"
  names = "stderr|stdout|environ"
  barred = "(^|[^A-Za-z0-9_])((" calls ")[ \t]*\\(|(" names ")([^A-Za-z0-9_]|$))"
  for (i = 1; i < ARGC; i++)
    if (ARGV[i] ~ /\.h$/)
      home[stem(ARGV[i])] = part_of(ARGV[i])
}

function stem(path)
{
  sub(/.*\//, "", path)
  sub(/\.[ch]$/, "", path)
  return path
}

function part_of(path)
{
  if (path ~ /^src\/cli\//)
    return "cli"
  sub(/\/.*/, "", path)
  return path
}

function tell(what)
{
  print FILENAME ":" FNR ": " what
}

function own_name(file, name)
{
  name = stem(file)
  if (file == "src/engine.c" || file ~ /\/faults\/.*\.c$/)  # the list of engines names them all
    return "faults"
  if (file ~ /^src\/engines\//)  # adapters see what any engine sees, and the loader of libraries
    return "engines"
  while (!(name in rank) && sub(/_[^_]*$/, "", name))
    ;
  return name
}

function check_include(text, header, mine)
{
  if (text ~ /<(mpfr|gmp)\.h>/ && part != "oracle")
    tell("MPFR outside the oracle")
  if (!match(text, /"[^"]*"/))
    return
  header = stem(substr(text, RSTART + 1, RLENGTH - 2))
  if (part == "src") {
    mine = rank[own_name(FILENAME)]
    if (home[header] != "src" || !rank[header])
      tell(header ".h has no place in the library's order")
    else if (!mine)
      tell("this file has no place in the library's order")
    else if (FILENAME ~ /\.c$/ && index(header, own_name(FILENAME) "_") == 1)
      return
    else if (rank[header] > mine || (rank[header] == mine && FILENAME ~ /\.h$/))
      tell(header ".h comes later")
  } else if (part == "oracle" && home[header] != "oracle" && !(header in oracle_sees))
    tell("the oracle must not see " header ".h")
  else if (part == "fuzz" && home[header] !~ /^(src|oracle|fuzz)$/)
    tell("fuzz/ must not see " header ".h")
}

FNR == 1 {
  part = part_of(FILENAME)
  in_comment = 0
}

{
  rest = $0
  code = ""
  while (rest != "") {
    if (in_comment && !(at = index(rest, "*/")))
      break
    if (in_comment) {
      rest = substr(rest, at + 2)
      in_comment = 0
    } else {
      at = index(rest, "/*")
      code = code (at ? substr(rest, 1, at - 1) : rest)
      rest = at ? substr(rest, at + 2) : ""
      in_comment = at > 0
    }
  }
  if (code ~ /^[ \t]*#[ \t]*include/)
    check_include(code)
  else if (part == "src" || part == "oracle") {
    gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
    if (FILENAME == "src/remote_child.c")  # a forked child is a process of its own, and must end
      gsub(/_exit/, "", code)
    if (match(code, barred))
      tell("not for a library:" substr(code, RSTART, RLENGTH))
  }
}
