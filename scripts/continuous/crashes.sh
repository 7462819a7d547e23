# shellcheck shell=bash disable=SC2154
# From a crash file to a bundle, and to an entry of the list of known findings.

# --- crash files ------------------------------------------------------------------------------------

# "SHA1 KIND FILE" of each, with tabs between, KIND as libFuzzer calls it.
list_crashes() # slice
{
  local sum file kind
  find "$1/crashes" "$1"/out/*/{crashes,hangs} -maxdepth 1 -type f ! -name README.txt \
    ! -name 'slow-*' -exec sha1sum {} + 2>/dev/null | sed 's/^\\//' | while read -r sum file; do
    case $file in
      */hangs/*) echo "$sum	timeout	$file" ;;
      */out/*) echo "$sum	crash	$file" ;;
      *)
        kind=${file##*/}
        echo "$sum	${kind%%-*}	$file"
        ;;
    esac
  done
}

# Into crashes/new, but for those that were there before.  0: there were some that are new.
take_crashes() # slice fuzzer target engine
{
  local sum kind file name folder found=1 engine
  engine=$(safe "$4")
  folder=$crashes/new/$3/$engine
  while IFS=$'\t' read -r sum kind file; do
    name=$kind-$sum
    [ "$2" != asan ] || name+=-asan
    mkdir -p "$folder" "$crashes/$3/$engine/other" || continue
    [ -e "$folder/.engine" ] || write_whole "$folder/.engine" <<<"$4" || continue
    found=0
    if [ -e "$crashes/$3/$engine/$name" ] || [ -e "$crashes/$3/$engine/other/$name" ]; then continue; fi
    mv "$file" "$folder/$name"
  done < <(list_crashes "$1")
  [ $found != 0 ] || sync -f "$crashes" 2>/dev/null
  return $found
}

new_crashes() { find "$crashes/new" -mindepth 3 -type f ! -name '.*' "$@" 2>/dev/null; }

triage_is_due() { [ -n "$(new_crashes -print -quit)" ]; }

# --- triage, in a job -------------------------------------------------------------------------------

leash() { setpriv --pdeathsig TERM "$@"; }

# One file after the other, so that what the first shows is known when the next is looked at.  What was
# not done after 5 tries, of which the end of a run may have cost some, is told as it is.
job_triage()
{
  local file folder target engine tried
  while IFS= read -r file; do
    folder=${file%/*} target=${file#"$crashes/new/"}
    target=${target%%/*} tried=$run/tries/${file##*/}
    IFS= read -r engine <"$folder/.engine" || engine=${folder##*/}
    echo $(($(read_number "$tried") + 1)) | write_whole "$tried"
    if [ "$(read_number "$tried")" -gt 5 ]; then
      make_bundle "$file" "$engine" 'cannot be triaged' "$(tail -n 60 "$run/tmp/triage")"
    elif judges "$target"; then
      triage_case "$file" "$engine"
    else
      triage_other "$file" "$engine"
    fi
  done < <(new_crashes)
}

# The file stays where it is unless it was looked at and has its bundle.
triage_case() # file engine
{
  local shows bundle index=$bundles/files.json
  rm -f "$index"
  leash build/precfuzz triage "$1" -o "$bundles" --engine "$2" --known "$(known_lists)" -j 1 \
    --time-limit 20 >"$run/tmp/triage" 2>&1
  shows=$(jq -r --arg f "$1" '.files[$f] | if . == null then "left"
    elif .shows != [] then .shows[].bundle
    elif .exit_status != 0 then "failed"
    else .known // "nothing" | if . == "nothing" then . else "known" end end' "$index" 2>/dev/null)
  rm -f "$index"
  remember
  case ${shows:-left} in
    known) put_away "$1" . ;;
    nothing) triage_other "$1" "$2" ;;
    failed) [ "$(read_number "$run/tries/${1##*/}")" -lt 3 ] || triage_other "$1" "$2" ;;
    left) ;;
    *)
      for bundle in $shows; do
        [ -e "$bundles/$bundle/finding.json" ] || return
      done
      put_away "$1" .
      ;;
  esac
}

# Behind the bundle that was made of it.
put_away() # file folder-below
{
  local to=${1#"$crashes/new/"}
  to=$crashes/${to%/*}/$2
  sync -f "$bundles" 2>/dev/null
  mkdir -p "$to" && mv "$1" "$to/"
  rm -f "$run/tries/${1##*/}"
}

# What precfuzz triage cannot say anything of: another target, a sanitizer's report, an oracle's.
# The program that ended says what it is.
triage_other() # file engine
{
  local target=${1#"$crashes/new/"} status=0 said=$run/tmp/said text program
  target=${target%%/*}
  program=build/replay/$target
  case $1 in *-asan) program=build/asan/$target ;; esac
  {
    PRECFUZZ_ENGINES=$(judges "$target" && [ "$2" != reference ] && echo "$2") \
      PRECFUZZ_ISOLATE=1 PRECFUZZ_KNOWN=$(known_lists) \
      leash timeout 60 "$program" "$1" </dev/null >"$said" 2>&1
  } 2>/dev/null || status=$?
  text=$(sed -n -E 's/^ASSERTION FAILED: (precfuzz: )?//p; s/^SUMMARY: ([A-Za-z]*Sanitizer: .*)/\1/p' \
    "$said" | head -n 1)
  case $status in
    0) put_away "$1" other ;;
    2 | 137 | 143) ;;  # wrong settings, or somebody ended it: another time
    124) make_bundle "$1" "$2" 'takes more than 60 s' "$(tail -n 60 "$said")" ;;
    *) make_bundle "$1" "$2" "${text:-ends with status $status}" "$(tail -n 60 "$said")" ;;
  esac
}

# As precfuzz triage makes them, without a case.
make_bundle() # file engine what text
{
  local target=${1#"$crashes/new/"} signature name folder
  target=${target%%/*}
  signature="$target $2: $3"
  name=$target-$(sha1sum <<<"$signature" | cut -c 1-8)
  folder=$bundles/.precfuzz-$name.tmp
  if [ ! -e "$bundles/$name/finding.json" ]; then
    rm -rf "$folder" "${bundles:?}/$name"
    mkdir "$folder" && cp "$1" "$folder/found.case" &&
      printf '# %s\n\nreproduce: build/replay/%s found.case\n\n' "$signature" "$target" \
        >"$folder/report.md" && printf '%s\n' "$4" | sed 's/^/    /' >>"$folder/report.md" &&
      jq -n --arg name "$name" --arg signature "$signature" --arg engine "$target" \
        --arg message "$signature" '{$name, $signature, at: "", verdict: "DIED", $engine, $message}' \
        >"$folder/finding.json" && mv "$folder" "$bundles/$name" || { rm -rf "$folder"; return; }
    mkdir -p "$run/tmp/none"  # JUnit and SARIF anew
    leash build/precfuzz triage "$run/tmp/none" -o "$bundles" >/dev/null 2>&1
    rm -f "$bundles/files.json"
  fi
  put_away "$1" other
}

# --- known findings ---------------------------------------------------------------------------------

known_lists() { echo "$(readlink -f "$home/known")${shipped:+:$shipped}"; }

# The list of the bundles' findings, of whatever strategy, as a row that makes the same call shows the
# same fault.  Where none is known yet jq has nothing to read.
print_known()
{
  find "$bundles" -mindepth 2 -maxdepth 2 -name finding.json ! -path '*/.*' -exec cat {} + |
    jq -r 'select(.case) | .signature |= (split(" ") | (length - 4) as $i |
        if .[$i] | contains("~") then . else .[:$i] + ["*"] + .[$i + 1:] end | join(" ")) |
      "[\(.name)]\nsignature = \(.signature)\nreason    = found by a continuous run: bundles/\(.name)\n"'
}

# A new list takes the old one's place whole: who reads has the one or the other.
remember()
{
  local next old name
  next=$(mktemp -d "$run/known-XXXXXX.new") && chmod 755 "$next" || return
  old=$(readlink -f "$home/known")
  [ ! -e "$old/known.txt" ] || cp -rT "$old" "$next"
  print_known >"$next/known.txt" &&
    sed -n 's/^\[\(.*\)\]$/\1/p' "$next/known.txt" | while IFS= read -r name; do
      [ -e "$next/$name.case" ] || cp "$bundles/$name/minimized.case" "$next/$name.case" || exit 1
    done && mv "$next" "${next%.new}" && ln -s ".run/$(basename "${next%.new}")" "$run/tmp/link" &&
    mv -T "$run/tmp/link" "$home/known" || { rm -rf "$next" "$run/tmp/link"; return 1; }
  # Who reads the last one may go on.
  for name in "$run"/known-??????; do
    [ "$name" = "${next%.new}" ] || [ "$name" = "$old" ] || rm -rf "$name"
  done
}

# From nothing: bundles may have been removed.
remember_all()
{
  rm -f "$home/known"
  remember || die 2 "$run: the list of known findings cannot be written"
}

count_findings()
{
  find "$bundles" -mindepth 2 -maxdepth 2 -name finding.json ! -path '*/.*' 2>/dev/null | wc -l
}
