# shellcheck shell=bash
# How the two fuzzing engines are run.  To be sourced; each takes the place of the shell that calls
# it, in a session of its own, so that Ctrl-C reaches the script alone, and ends when that shell's
# parent does.

# How libFuzzer searches, an option a line.
libfuzzer_options() # target
{
  # Measured on planted faults: fast inputs more often, every seed kept and few mutations at a time
  # (a case's head is bytes of fixed meaning) find them two to five times as fast.  Names of new
  # functions would be looked up by another process each time.
  printf '%s\n' entropic_scale_per_exec_time=1 keep_seed=1 mutate_depth=2 print_funcs=0
  # Where bytes wrap around a shorter input is no smaller case: neither are short ones tried first
  # nor longer ones replaced by them.  Readers of files are another matter.
  case $1 in
    fuzz_matmul | fuzz_agree | fuzz_oracle | fuzz_cast) printf '%s\n' reduce_inputs=0 len_control=0 ;;
  esac
}

# Ends at the first finding.
run_libfuzzer() # program seconds log crashes new-inputs old-inputs [option...]
{
  local options
  mapfile -t options < <(libfuzzer_options "${1##*/}")
  exec setpriv --pdeathsig TERM setsid -w "$1" -max_total_time="$2" -timeout=25 "${options[@]/#/-}" \
    -artifact_prefix="$4/" "${@:7}" "$5" "$6" </dev/null >>"$3" 2>&1
}

run_afl() # program seconds log output old-inputs [option...]
{
  local how=("${@:6}")
  # -p seek, unlike those that prefer what is fast, does not end with cases of no element or one; AFL++
  # lets a main have fast or explore.
  case " ${how[*]} " in
    *' -p '*) ;;
    *' -M '*) how+=(-p explore) ;;
    *) how+=(-p seek) ;;
  esac
  export AFL_NO_UI=1 AFL_NO_COLOR=1 AFL_FAST_CAL=1
  export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1  # the host's settings
  export AFL_TRY_AFFINITY=1    # one processor each where there are enough
  export AFL_DISABLE_TRIM=1    # a shorter input is another case, as bytes wrap around
  exec setpriv --pdeathsig TERM setsid -w afl-fuzz "${how[@]}" -V "$2" -t 3000 -m none -i "$5" \
    -o "$4" -- "$1" - </dev/null >"$3" 2>&1
}
