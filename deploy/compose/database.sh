#!/bin/sh
# Creates the roles and the logins of docs/how-to/database-logins.md, once, in an empty PostgreSQL: one
# login migrates and owns the database, the other one serves. The image of PostgreSQL runs this file.
set -eu
migrator=$(cat "${SECRETS:-/run/secrets}/migrator-password")
service=$(cat "${SECRETS:-/run/secrets}/service-password")
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<END
CREATE ROLE lineproof_owner NOLOGIN;
CREATE ROLE lineproof_serve NOLOGIN;
CREATE ROLE lineproof_read NOLOGIN;
CREATE ROLE lineproof_migrator LOGIN PASSWORD '$migrator' IN ROLE lineproof_owner, lineproof_serve;
CREATE ROLE lineproof_service LOGIN PASSWORD '$service' IN ROLE lineproof_serve;
CREATE DATABASE lineproof OWNER lineproof_migrator;
END
# Other containers log in over TLS only.
if [ -n "${PGDATA:-}" ]; then
  sed -i 's/^host  *all  *all  *all /hostssl all all all /' "$PGDATA/pg_hba.conf"
fi
