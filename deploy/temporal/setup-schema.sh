#!/bin/sh
# In the admin-tools image, before the server starts: Temporal's tables, or what a new server version adds to them. The
# server's version and this image's must be the same. SQL_* variables: host, user and password.
set -eu

SQL_PASSWORD="$(cat "$SQL_PASSWORD_FILE")"
export SQL_PASSWORD

for store in temporal visibility; do
  if [ "$store" = temporal ]; then database=temporal; else database=temporal_visibility; fi
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-dir "$SCHEMA_DIR/$store/versioned"
done
