#!/bin/sh
# Writes .env for compose.yml, with new random secrets. It never replaces a file.
set -eu
cd "$(dirname "$0")"
umask 077
if [ -e .env ]; then
  echo 'There is a file .env already. Its secrets belong to your data: keep it.' >&2
  exit 1
fi
random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }
cat > .env <<END
# The address that people use. For other machines, put a proxy with TLS in front, and set its address here too.
MILLRACE_URL=${MILLRACE_URL:-http://localhost:3000}
# Where the server listens on this machine.
PUBLISH=${PUBLISH:-127.0.0.1:3000}
MILLRACE_TRUSTED_PROXIES=
MILLRACE_AGENT_SPAWN=1
MILLRACE_AGENT_TAGS=
# Encrypts the secrets in the database. Without it, they are lost.
MILLRACE_SECRET_KEY=$(random 32)
# The first token of the administrator, and the token of the agents.
MILLRACE_ADMIN_TOKEN=mrt_$(random 20)
MILLRACE_AGENT_TOKEN=mrct_$(random 20)
POSTGRES_PASSWORD=$(random 24)
# Garage's keys have these forms.
S3_ACCESS_KEY=GK$(random 12)
S3_SECRET_KEY=$(random 32)
GARAGE_RPC_SECRET=$(random 32)
END
echo "Wrote $(pwd)/.env. Start with: docker compose up --detach --wait"
