#!/bin/sh
# Runs in the admin-tools image before the server starts. Creates Temporal's tables, or adds what a new version of the
# server needs. This image must have the same version as the server. The SQL_* variables hold host, user and password.
set -eu

SQL_PASSWORD="$(cat "$SQL_PASSWORD_FILE")"
export SQL_PASSWORD

for store in temporal visibility; do
  if [ "$store" = temporal ]; then database=temporal; else database=temporal_visibility; fi
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-dir "$SCHEMA_DIR/$store/versioned"
done
