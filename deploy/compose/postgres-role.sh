#!/bin/sh
# Makes the service's own role and its database. The image runs this once, as the superuser, when it makes its data directory.
set -eu
export SECRETS="${SECRETS:-/run/secrets/postgres}"
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<'EOF'
\set password `cat "$SECRETS/service-password"`
CREATE ROLE levelboard LOGIN PASSWORD :'password';
CREATE DATABASE levelboard OWNER levelboard;
EOF
