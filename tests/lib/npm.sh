#!/bin/sh
# npm.sh PACKAGE@VERSION: installs it once below $BUILD/npm and prints its module directory; fails if it
# is not available.
[ $# = 1 ] && [ "${BUILD-}" ] || { echo "usage: BUILD=build tests/lib/npm.sh PACKAGE@VERSION" >&2; exit 2; }
command -v npm >/dev/null || { echo "there is no npm"; exit 1; }
at=$BUILD/npm/$(echo "$1" | tr '/@' '__')
if [ ! -e "$at/done" ]; then
	mkdir -p "$at" || exit 1
	timeout 120 npm install --silent --no-audit --no-fund --no-package-lock --prefix "$at" "$1" >"$at/log" 2>&1 ||
		{ echo "npm does not install $1"; exit 1; }
	touch "$at/done"
fi
cd "$at/node_modules" && pwd
