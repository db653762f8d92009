#!/bin/sh
# The postgres image runs this script once, when its data directory is new. It creates separate roles and databases for
# the service and for Temporal, so that neither can read or drop the data of the other. The service has two roles: one
# owns and migrates the tables, and the other gets its rights to rows from `migrate`. psql quotes the passwords itself.
set -eu

psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\set owner_password `cat "$SECRETS_DIR/database_owner_password"`
\set service_password `cat "$SECRETS_DIR/database_password"`
\set temporal_password `cat "$SECRETS_DIR/temporal_database_password"`
CREATE ROLE workflow_automation_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE workflow_automation LOGIN PASSWORD :'service_password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE workflow_automation OWNER workflow_automation_owner;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE ALL ON DATABASE workflow_automation FROM PUBLIC;
REVOKE ALL ON DATABASE temporal, temporal_visibility FROM PUBLIC;
GRANT CONNECT ON DATABASE workflow_automation TO workflow_automation;
SQL
