#!/bin/sh
# By the postgres image, once, when its data directory is new: a role and databases for the service and for Temporal, so
# that neither can read or drop what is the other's. psql quotes the passwords itself.
set -eu

psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv service_password DATABASE_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD
CREATE ROLE workflow_automation LOGIN PASSWORD :'service_password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE workflow_automation OWNER workflow_automation;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE CONNECT ON DATABASE workflow_automation, temporal, temporal_visibility FROM PUBLIC;
SQL
