#!/usr/bin/env bash
# Runs suites and adds up their results: `run-suites.sh ci` for .ci/run, `run-suites.sh all` for `npm run test:all`. The
# last line is the sum, "N passed, N failed". The exit code is not 0 if anything has failed.
set -uo pipefail
cd "$(dirname "$0")/.."
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
passed=0
failed=0

# Adds the result of an npm script from its last line, "N passed, N failed". A script without such a line counts as one
# test, and so does one with a bad exit code but no failed test.
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

# Arguments after the name are passed to the suite.
suite() {
  npm run --silent "$1" -- "${@:2}" | tee "$outputs/$1"
  count "$1" "${PIPESTATUS[0]}"
}

# Runs independent suites in parallel, and prints their outputs one after the other.
suites() {
  local name pids=()
  for name in "$@"; do
    # One job each, because together the suites already occupy the processors.
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
