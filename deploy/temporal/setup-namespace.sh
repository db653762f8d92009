#!/bin/sh
# Runs in the admin-tools image once the server listens. Creates the namespace and the search attributes of runs, and
# may run repeatedly. The first calls are retried, because the server may not answer yet, or not see its new namespace.
set -eu

again() {
  attempts=0
  until "$@"; do
    attempts=$((attempts + 1))
    [ "$attempts" -lt 30 ] || return 1
    sleep 2
  done
}

again temporal operator cluster health
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$NAMESPACE_RETENTION"
for name in ProjectId WorkflowDefId RunState; do
  again temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword
done
