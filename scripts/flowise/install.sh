#!/usr/bin/env bash
# Installs a real Flowise into DIR: some minutes and 2.7 GB, once. Does nothing where it is installed already.
#   scripts/flowise/install.sh DIR [VERSION]
set -euo pipefail
dir=${1:?usage: install.sh DIR [VERSION]}
version=${2:-3.1.4}
mkdir -p "$dir"
cd "$dir"
if [ -f .installed ] && [ "$(cat .installed)" = "$version" ]; then
  echo "Flowise $version is installed in $dir"
  exit 0
fi
[ -f package.json ] || printf '{"name":"flowise-under-test","private":true}\n' > package.json
# The three packages depend on each other by ranges, so each is pinned. Without install scripts: one of them fetches
# from GitHub and its failure would remove everything; SQLite's binding is the only one that a start needs.
npm install --save-exact --legacy-peer-deps --ignore-scripts --no-audit --no-fund --loglevel=error \
  "flowise@$version" "flowise-components@$version" "flowise-ui@$version"
npm rebuild sqlite3
printf '%s' "$version" > .installed
echo "Flowise $version is installed in $dir"
