#!/bin/sh
# Prints the machine and the versions of the peers that the other benchmarks run: a ratio holds for that
# version only.
version() { # NAME COMMAND...
	name=$1
	shift
	command -v "$1" >/dev/null || return 0
	said=$("$@" 2>/dev/null | grep -m 1 '[0-9]\.[0-9]') && echo "$name: $said"
}

echo "Linux $(uname -r), $(nproc) CPUs, $(sed -n 's/^PRETTY_NAME="\(.*\)"$/\1/p' /etc/os-release 2>/dev/null)"
version cprof "$BIN/cprof-record" --version
version perf perf --version
version bpftrace bpftrace --version
version bcc python3 -c 'import bcc; print(bcc.__version__)'
version LLVM llvm-symbolizer --version
version Go go version
version mawk mawk -W version
version Perl perl --version
version Chromium chromium --version
exit 0
