# shellcheck shell=bash disable=SC2154
# The inputs of a target: seeds, which stay as they are, and what was found, which is merged.

merge_failed_at=-1000
shipped=${PRECFUZZ_KNOWN-corpus/regressions}
[ "$shipped" != none ] || shipped=''

# Those of precfuzz, and of the folder SEEDS, by their SHA-1; made anew, as they are others' files.
gather_seeds()
{
  local target
  [ -z "${SEEDS:-}" ] || [ -d "$SEEDS" ] || die 2 "SEEDS: $SEEDS is no folder"
  rm -rf "${run:?}/seeds"
  take_seeds all corpus/{seeds,recorded,models,regressions} ${SEEDS:+"$SEEDS"}
  for target in "${targets[@]}"; do
    mkdir -p "$corpus/$target"
    take_seeds "$target" "corpus/files/$target"
  done
}

take_seeds() # name folder...
{
  local to=$run/seeds/$1
  mkdir -p "$to" || die 2 "$run: is full"
  find "${@:2}" -type f ! -name '*.txt' -exec cp -t "$to" {} + 2>/dev/null
  (
    cd "$to" && find . -type f -exec sha1sum {} + | while read -r sum file; do
      [ "$file" = "./$sum" ] || mv "$file" "$sum"
    done
  ) {lock}>&-
}

# Those that libFuzzer could not write whole, as their names tell, are no loss; AFL++ has other names,
# and what it was given is among its files.
take_inputs() # slice target
{
  local sum file
  mkdir -p "$corpus/$2"
  (cd "$1/new" 2>/dev/null && find . -type f -exec sha1sum {} + | sed 's| \*\?\./| |' |
    while read -r sum file; do [ "$sum" = "$file" ] || rm -f "$file"; done &&
    find . -type f -exec mv -n -t "$corpus/$2" {} +)
  find "$1"/out/*/queue -maxdepth 1 -name 'id:*' ! -name '*,orig:*' -size -1024k \
    -exec sha1sum {} + 2>/dev/null | while read -r sum file; do
    [ -e "$corpus/$2/$sum" ] || mv "$file" "$corpus/$2/$sum"
  done
}

# --- merging, in a job ------------------------------------------------------------------------------

# Sets merging: a target whose corpus has doubled since it was merged last, or grown by a fifth where
# room is short.
merge_is_due()
{
  local now then
  [ -x build/libfuzzer/fuzz_matmul ] && [ $((SECONDS - merge_failed_at)) -gt 600 ] || return
  for merging in "${targets[@]}"; do
    now=$(count_files "$corpus/$merging") then=$(read_number "$run/merged/$merging")
    [ "$now" -gt $((crowded ? then + then / 5 + 50 : 2 * then + 1000)) ] || continue
    echo "$merging" | write_whole "$run/merging" && return
  done
  return 1
}

# What libFuzzer does not need to reach all that the corpus reaches goes; what came meanwhile stays.
# A merge that does not end changes nothing.
job_merge()
{
  local target work=$run/tmp/merge name
  read -r target <"$run/merging"
  rm -rf "$work"
  mkdir -p "$work"/{in,out} && cp -rlT "$corpus/$target" "$work/in" 2>/dev/null ||
    cp -rT "$corpus/$target" "$work/in" || return
  export PRECFUZZ_KNOWN
  PRECFUZZ_KNOWN=$(known_lists)
  leash timeout 500 build/libfuzzer/"$target" -merge=1 -artifact_prefix="$work/" "$work/out" \
    "$run/seeds/all" "$run/seeds/$target" "$work/in" </dev/null >"$run/tmp/merge.log" 2>&1 || return
  (cd "$work/in" && ls) | while IFS= read -r name; do
    [ -e "$work/out/$name" ] || printf '%s\0' "$corpus/$target/$name"
  done | xargs -0 rm -f
  count_files "$corpus/$target" | write_whole "$run/merged/$target"
  rm -rf "$work"
}
