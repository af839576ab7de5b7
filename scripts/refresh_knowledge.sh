#!/usr/bin/env bash
# Refreshes what is known of the Flowise server, for cron and CI. Everything given is passed on:
#
#   bash scripts/refresh_knowledge.sh --templates --dry-run
#
# The server is that of FLOWISE_API_URL and FLOWISE_API_KEY, or of `flowright server add`. Without arguments: --all.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
if [ -f "$root/dist/main.js" ]; then
  flowright=(node "$root/dist/main.js")
else
  flowright=(flowright)
fi
if [ "$#" -eq 0 ]; then set -- --all; fi
exec "${flowright[@]}" knowledge refresh "$@"
