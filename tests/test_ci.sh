#!/bin/bash
# What .ci/run makes of its steps, on steps that say what they are told to.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder"/{.ci,scripts}
cp .ci/run "$folder/.ci"
# shellcheck disable=SC2016  # make's variables
printf '%s\n' 'setup:' 'all tests:' '	@exit $(BUILD)' 'test:' '	@cat tests; exit $(TEST)' >"$folder/Makefile"
cat >"$folder/scripts/image_check.sh" <<'EOS'
#!/bin/bash
trap 'echo >cleaned; exit 130' TERM
sleep "${SLEEP:-0}" & wait
kill $! 2>/dev/null
cat image
exit "${IMAGE:-0}"
EOS
chmod +x "$folder/scripts/image_check.sh"

ends() # name status last-line pattern [VARIABLE=VALUE...]
{
  local status=0
  (cd "$folder" && env BUILD=0 TEST=0 "${@:5}" .ci/run) >"$folder/out" 2>&1 || status=$?
  if [ $status = "$2" ] && [ "$(tail -n 1 "$folder/out")" = "$3" ] && grep -qE "$4" "$folder/out"
  then echo "ok $1"; else
    echo "not ok $1: status $status"
    sed 's/^/    /' "$folder/out"
  fi
}

printf '%s\n' 'PASS some' '    SKIPPED one: why' '10 passed, 0 failed' >"$folder/tests"
printf '%s\n' 'ok it is built' '3 passed, 0 failed' >"$folder/image"
ends 'all pass' 0 '13 passed, 0 failed' '^  tests +[0-9.]+ of +[0-9]+  10 passed, 0 failed$'
ends 'what was not tried is counted' 0 '13 passed, 0 failed' '^--- not tried: 1$'
ends 'a build that fails' 1 '13 passed, 1 failed' '^  build .*0 passed, 1 failed$' BUILD=1
ends 'tests that say nothing of it' 1 '13 passed, 1 failed' '^  tests ' TEST=1
echo '2 passed, 1 failed' >"$folder/image"
ends 'an image that fails' 1 '12 passed, 1 failed' '^  image .*2 passed, 1 failed$' IMAGE=1
: >"$folder/image"
ends 'an image that breaks off' 1 '10 passed, 1 failed' '^  image .*0 passed, 1 failed$' IMAGE=3
printf '%s\n' '    SKIPPED: the image' '0 passed, 0 failed' >"$folder/image"
ends 'an image that cannot be made here' 0 '10 passed, 0 failed' '^--- not tried: 2$'
echo '0 passed, 0 failed' >"$folder/tests"
ends 'nothing at all' 1 '0 passed, 0 failed' '^  in all '

is_interrupted()
{
  local pid status=0
  (cd "$folder" && BUILD=0 TEST=0 SLEEP=1000 exec .ci/run) >"$folder/out" 2>&1 &
  pid=$!
  for _ in $(seq 300); do
    ! grep -q -- '--- image' "$folder/out" || break
    sleep 0.1
  done
  sleep 1
  kill -TERM $pid
  wait $pid || status=$?
  [ $status = 130 ] && [ -e "$folder/cleaned" ]
}
if is_interrupted; then echo 'ok steps clean up behind themselves'; else
  echo 'not ok steps clean up behind themselves'
  sed 's/^/    /' "$folder/out"
fi
