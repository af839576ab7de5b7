#!/usr/bin/env bash
# Runs a command, by default `npm run test:flowise`, against two real Flowise servers of its own and a scripted model.
# Installs Flowise into DIR first where it is missing; stops everything that it started.
#   scripts/flowise/live.sh DIR [COMMAND …]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: live.sh DIR [COMMAND …]}
shift
"$here/install.sh" "$dir"
exec node "$here/live.mjs" "$dir" "$@"
