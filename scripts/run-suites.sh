#!/usr/bin/env bash
# Runs suites and adds them up: `run-suites.sh ci` is what .ci/run checks, `run-suites.sh all` is `npm run test:all`. The last
# line is the sum, "N passed, N failed", and the exit code is not 0 when anything has failed.
set -uo pipefail
cd "$(dirname "$0")/.."
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
passed=0
failed=0

# Adds up an npm script by its last line, "N passed, N failed". One without such a line counts as one test, and so does one
# that ends badly without a failed test.
count() {
  local status=$2 last ours theirs
  last=$(tail -n 1 "$outputs/$1")
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    ours=${BASH_REMATCH[1]} theirs=${BASH_REMATCH[2]}
  else
    ours=$((status == 0)) theirs=0
  fi
  if [[ $status -ne 0 && $theirs -eq 0 ]]; then theirs=1; fi
  passed=$((passed + ours))
  failed=$((failed + theirs))
}

# Arguments after the name go to the suite.
suite() {
  npm run --silent "$1" -- "${@:2}" | tee "$outputs/$1"
  count "$1" "${PIPESTATUS[0]}"
}

# Suites that start what they need by themselves, side by side; what they print follows one after the other.
suites() {
  local name pids=()
  for name in "$@"; do
    # One lane each: together they are as many as the processors bear.
    npm run --silent "$name" -- --jobs 1 > "$outputs/$name" 2>&1 &
    pids+=($!)
  done
  for name in "$@"; do
    wait "${pids[0]}"
    count "$name" $?
    pids=("${pids[@]:1}")
    cat "$outputs/$name"
  done
}

case "${1:-}" in
  ci)
    suite test --slowest 40
    suite test:durability --slowest 40
    suite test:hostile --short
    suite test:docs
    ;;
  all)
    suite test --slowest 40
    suite test:durability --slowest 40
    suite test:long --slowest 40
    suite test:pages
    suites test:docs test:packaging test:fuzz test:newest-node
    suite test:hostile
    suite test:pressure
    suite faults
    suite check:vulnerabilities
    ;;
  *)
    echo "run-suites.sh takes ci or all" >&2
    exit 2
    ;;
esac
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
