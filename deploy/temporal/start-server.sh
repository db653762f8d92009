#!/bin/sh
# Runs in the server's image before its entry point, which reads the database password from its environment only.
set -eu

POSTGRES_PWD="$(cat "$POSTGRES_PWD_FILE")"
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
