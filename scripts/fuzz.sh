#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for FUZZTIME each.
set -euo pipefail
cd "$(dirname "$0")/.."

count=0
while IFS=: read -r file target; do
  echo "== $(dirname "$file") $target"
  go test -C "$(dirname "$file")" -run '^$' -fuzz "^${target}\$" -fuzztime "${FUZZTIME:-10s}" .
  count=$((count + 1))
done < <(find . -name '*_test.go' -not -path '*/testdata/*' -print0 | sort -z |
  xargs -0 awk 'match($0, /^func Fuzz[A-Za-z0-9_]*\(/) { print substr(FILENAME, 3) ":" substr($0, 6, RLENGTH - 6) }')
echo "$count fuzz targets passed"
