# shellcheck shell=bash disable=SC2154
# Turns: each place (of --jobs) runs a fuzzer, or a job beside it, in a folder of its own, which is
# thrown away when what it holds was taken in.

declare -a pid=() slice_of=() kind_of=() begin_of=() until_of=() ending=()

is_running() # kind
{
  local place
  for place in "${!kind_of[@]}"; do
    [ "${kind_of[place]}" != "$1" ] || [ -z "${pid[place]:-}" ] || return 0
  done
  return 1
}

# In the environment of what is started: the lock is this script's alone.
launch() # place kind seconds command...
{
  local place=$1
  CONTINUOUS_SLICE=${slice_of[place]} "${@:4}" {lock}>&- &
  pid[place]=$! kind_of[place]=$2 ending[place]=''
  begin_of[place]=$SECONDS until_of[place]=$((SECONDS + $3))
}

# --- fuzzers ----------------------------------------------------------------------------------------

# What a slice begins with, as links: what becomes of the corpus meanwhile does not matter.  Without
# what ended this program before and cannot be passed over.
lay_inputs() # slice target engine
{
  local from file bad=()
  for from in "$run"/seeds/{all,"$2"} "$corpus/$2"; do
    cp -rlT "$from" "$1/in" 2>/dev/null || cp -rT "$from" "$1/in" || return
  done
  for file in "$crashes/$2/$(safe "$3")/other"/*-*; do
    file=${file##*/} file=${file#*-}
    bad+=("$1/in/${file%%-*}")
  done
  printf '%s\0' "${bad[@]}" | xargs -0 rm -f
  [ -n "$(ls -A "$1/in" | head -n 1)" ] || echo >"$1/in/newline"
}

prepare_slice() # slice fuzzer target engine
{
  mkdir "$1"/{in,new,crashes,tmp} && lay_inputs "$1" "${@:3}" &&
    cp -r "$(readlink -f "$home/known")" "$1/known" && printf '%s\n' "${@:2}" >"$1/unit"
}

run_fuzzer() # slice seconds
{
  local fuzzer target engine program
  { read -r fuzzer; read -r target; IFS= read -r engine; } <"$1/unit"
  program=$(build_of "$fuzzer")/$target
  export TMPDIR=$1/tmp PRECFUZZ_STATS=$1/stats PRECFUZZ_KNOWN=$1/known${shipped:+:$shipped}
  if judges "$target" && [ "$engine" != reference ]; then
    export PRECFUZZ_ENGINES=$engine PRECFUZZ_ISOLATE=${PRECFUZZ_ISOLATE-1}
  fi
  case $fuzzer in
    libfuzzer | asan) run_libfuzzer "$program" "$2" "$1/log" "$1/crashes" "$1/new" "$1/in" ;;
    afl) run_afl "$program" "$2" "$1/log" "$1/out" "$1/in" -M main ;;
    afl-explore) run_afl "$program" "$2" "$1/log" "$1/out" "$1/in" -S explore -p explore ;;
    afl-cmplog) run_afl "$program" "$2" "$1/log" "$1/out" "$1/in" -S cmplog -c 0 -l 2AT ;;
  esac
}

# The next unit, in a free place.
start_fuzzer() # place
{
  local unit seconds folder fuzzer left
  next_unit || return
  if [ -n "$total" ]; then
    left=$((total - (SECONDS - begin)))
    seconds=$((seconds < left ? seconds : left > 0 ? left : 1))
  fi
  folder=$(mktemp -d "$run/slices/XXXXXXXX") || return
  slice_of[$1]=$folder
  read -r fuzzer _ <<<"$unit"
  # shellcheck disable=SC2086  # words; an engine's name may hold blanks
  if ! prepare_slice "$folder" $fuzzer "$(cut -d ' ' -f 2 <<<"$unit")" "$(cut -d ' ' -f 3- <<<"$unit")"
  then
    rm -rf "$folder"
    return 1
  fi
  launch "$1" "$unit" "$seconds" run_fuzzer "$folder" "$seconds"
}

# --- jobs beside them -------------------------------------------------------------------------------

start_job() # place kind
{
  slice_of[$1]=''
  launch "$1" "$2" 600 exec_job "$2"
}

exec_job() { exec setpriv --pdeathsig TERM setsid -w scripts/continuous/job.sh "$home" "$1"; }

# In this process's time, at the end.
finish_job() # kind
{
  local status=0
  while [ -z "$stopped" ] && "${1}_is_due"; do
    start_job 0 "$1"
    while [ -z "$stopped" ] && kill -0 "${pid[0]}" 2>/dev/null; do sleep 0.1; done
    tend_place 0
    [ -z "${pid[0]:-}" ] || { stop_all; status=1; }
    [ "$1" = triage ] || break
  done
  return $status
}

# --- ends -------------------------------------------------------------------------------------------

alive() { [ -n "${pid[$1]:-}" ] && kill -0 "${pid[$1]}" 2>/dev/null; }

# Has AFL++, which goes on behind crashes, one that can be triaged?
has_crash() # place
{
  local found
  [[ ${kind_of[$1]} = afl*' fuzz_matmul '* ]] || return
  found=$(compgen -G "${slice_of[$1]}/out/*/crashes/id:*" | head -n 1)
  [ -n "$found" ]
}

# Ends what takes too long, and takes in what has ended.
tend_place() # place
{
  local status=0 over=$((SECONDS - until_of[$1]))
  if alive "$1"; then
    if [ -z "${ending[$1]}" ] && { [ $over -gt 20 ] || has_crash "$1"; }; then
      kill -TERM "${pid[$1]}" 2>/dev/null
      ending[$1]=$SECONDS
    elif [ -n "${ending[$1]}" ] && [ $((SECONDS - ending[$1])) -gt 5 ]; then
      kill -KILL -- "-${pid[$1]}" "${pid[$1]}" 2>/dev/null
    fi
    return
  fi
  { wait "${pid[$1]}" || status=$?; } 2>/dev/null  # the shell tells of what was killed
  kill -KILL -- "-${pid[$1]}" 2>/dev/null  # what it started
  if [ -n "${slice_of[$1]}" ]; then
    end_slice "$1" $status $((-over))
  else
    job_ended "${kind_of[$1]}" $status $((SECONDS - begin_of[$1]))
  fi
  pid[$1]='' kind_of[$1]='' slice_of[$1]='' ending[$1]=''
}

# One that ended before its time did so for a finding, behind which it goes on, or cannot run.
end_slice() # place status seconds-left
{
  local slice=${slice_of[$1]} unit=${kind_of[$1]}
  [ ! -d "$slice/out" ] || end_processes "CONTINUOUS_SLICE=$slice"
  if take_in "$slice"; then
    [ "$3" -lt 5 ] || again+=("$3 $unit")
  elif [ "$3" -ge 5 ] && [ "$2" != 0 ] && [ "$2" -lt 128 ] && [ -z "${ending[$1]}" ]; then
    say "$unit cannot run (status $2), and is left out:"
    tail -n 8 "$slice/log" | sed 's/^/    /' >&2
    broken[$unit]=yes
  fi
  rm -rf "$slice"
}

# Within seconds: what does not end on SIGTERM does on SIGKILL.
stop_all()
{
  local place left=1
  for place in "${!pid[@]}"; do
    [ -z "${pid[place]}" ] || kill -TERM -- "${pid[place]}" 2>/dev/null
    ending[place]=$SECONDS
  done
  for _ in {1..20}; do
    left=0
    for place in "${!pid[@]}"; do ! alive "$place" || left=1; done
    [ $left != 0 ] || break
    sleep 0.1
  done
  for place in "${!pid[@]}"; do
    [ -z "${pid[place]}" ] || kill -KILL -- "-${pid[place]}" "${pid[place]}" 2>/dev/null
  done
  sleep 0.1
  for place in "${!pid[@]}"; do [ -z "${pid[place]}" ] || tend_place "$place"; done
}

# --- taking in --------------------------------------------------------------------------------------

# What a slice found: crash files first.  May be done again.  0: there were some.
take_in() # slice
{
  local fuzzer='' target='' engine='' crashed=1
  [ ! -e "$1/unit" ] || { read -r fuzzer; read -r target; IFS= read -r engine; } <"$1/unit"
  [ -n "$engine" ] || return 1
  take_crashes "$1" "$fuzzer" "$target" "$engine" && crashed=0
  take_inputs "$1" "$target"
  take_counts "$1" "$fuzzer" "$target"
  return $crashed
}

# Slices of a run that was killed.
recover()
{
  local slice
  for slice in "$run"/slices/*/; do
    [ -d "$slice" ] || continue
    take_in "${slice%/}"
    rm -rf "$slice"
  done
  remember_all
}
