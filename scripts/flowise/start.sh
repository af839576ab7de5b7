#!/usr/bin/env bash
# Runs Flowise on loopback in the foreground; everything it writes goes to DATA_DIR.
#   scripts/flowise/start.sh INSTALL_DIR DATA_DIR PORT
set -euo pipefail
usage='usage: start.sh INSTALL_DIR DATA_DIR PORT'
here=$(cd "$(dirname "$0")" && pwd)
install=$(cd "${1:?$usage}" && pwd)
mkdir -p "${2:?$usage}"
data=$(cd "$2" && pwd)
mkdir -p "$data/home"
export PORT=${3:?$usage} HOST=127.0.0.1 HOME="$data/home"
export DATABASE_TYPE=sqlite DATABASE_PATH="$data" SECRETKEY_PATH="$data" APIKEY_PATH="$data"
export LOG_PATH="$data/logs" BLOB_STORAGE_PATH="$data/storage" DISABLE_FLOWISE_TELEMETRY=true
export MODEL_LIST_CONFIG_JSON="$install/node_modules/flowise-components/models.json"
export FLOWISE_INSTALL_DIR="$install"
cd "$data"
exec node --require "$here/token-ranks.cjs" "$install/node_modules/flowise/bin/run" start
