#!/bin/sh
# In the server's image, before its own entry point, which takes the database's password from its environment only.
set -eu

POSTGRES_PWD="$(cat "$POSTGRES_PWD_FILE")"
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
