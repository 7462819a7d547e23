# What tests of the commands share; sourced in the root of the tree, with `subject` the command that
# run runs, or empty.  Goes to an empty folder that is removed at the end.
# shellcheck shell=bash disable=SC2034  # what sources it uses them
root=$PWD
program=$(realpath "${PRECFUZZ:-build/precfuzz}")
unset PRECFUZZ "${!PRECFUZZ_@}"
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 3

failed=0
# for the commands that reports print
precfuzz() { "$program" "$@"; }

# The command's output in out, its messages in err, its exit status in status.
run()
{
  status=0
  precfuzz ${subject:+"$subject"} "$@" >out 2>err || status=$?
}

# NAME EXPECTED-STATUS CONDITION...: of the last run; conditions are shell commands that must hold
expect()
{
  local name=$1 wanted=$2 condition
  shift 2
  [ "$status" = "$wanted" ] || set -- "[ $status = $wanted ]"
  for condition; do
    eval "$condition" >/dev/null 2>&1 && continue
    not_ok "$name" "$condition"
    return
  done
  echo "ok $name"
}

not_ok() # name why
{
  failed=1
  printf 'not ok %s\n    %s\n' "$1" "$2"
  tail -n 20 out err | sed 's/^/    /'
}

says() { grep -qF -- "$1" err; }    # messages
prints() { grep -qE -- "$1" out; }  # results
