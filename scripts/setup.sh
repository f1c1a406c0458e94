#!/usr/bin/env bash
# Installs the Debian packages that the tests and benchmarks need and that are
# missing. The Makefile and CI both come through here.
#
#   scripts/setup.sh         what `make test` and `make bench` need
#   scripts/setup.sh race    a C compiler too, for the race detector
set -euo pipefail

# command:package
needs=(wrk:wrk nginx:nginx haproxy:haproxy redis-server:redis-server strace:strace python3:python3 curl:curl taskset:util-linux)
if [ "${1:-}" = race ]; then
  needs=("${CC:-gcc}:gcc")
fi

# nginx and haproxy live in sbin, which is not on every user's PATH.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

if ! command -v go >/dev/null; then
  echo "setup: Go is not installed; go.mod names the version that is needed (https://go.dev/dl)" >&2
  exit 1
fi

missing=()
for need in "${needs[@]}"; do
  command -v "${need%%:*}" >/dev/null || missing+=("${need##*:}")
done
# nginx passes TCP through by a module of its own.
[ -e /usr/lib/nginx/modules/ngx_stream_module.so ] || missing+=(libnginx-mod-stream)
if [ ${#missing[@]} -gt 0 ] && [ "${1:-}" = race ]; then
  missing+=(libc6-dev)
fi
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo -n)
fi
if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
  cat >&2 <<TEXT
setup: these packages are missing and cannot be installed from here: ${missing[*]}
setup: on Debian or Ubuntu run:  sudo apt-get install --no-install-recommends ${missing[*]}
setup: elsewhere install them with the system's package manager, then run make again.
TEXT
  exit 1
fi

# Packages that bring a service would start it, and nginx would take port 80.
# The policy file is Debian's way to say no; one that exists already is kept.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi

echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
