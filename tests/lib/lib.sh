# TAP for shell tests: . "$(dirname "$0")/../lib/lib.sh"; one line a check, done_testing at the end.
# BIN (programs) and BUILD come from `make check`; by hand: BIN=build/bin BUILD=build tests/cmd/x.t
set -u
here=$(cd "$(dirname "$0")" && pwd)
tests=$(dirname "$here")
top=$(dirname "$tests")
: "${BUILD:=$top/build}" "${BIN:=$BUILD/bin}"
mkdir -p "$BUILD" && BUILD=$(cd "$BUILD" && pwd) && BIN=$(cd "$BIN" && pwd) || exit 1
PATH=$BIN:$PATH
export LC_ALL=C
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
count=0 failed=0 diag_to=1

# diag: a failed check's details go to stderr, which prove shows even without -v.
diag() { printf '%s\n' "$*" | sed 's/^/# /' >&$diag_to; }
pass() { count=$((count + 1)) diag_to=1; printf 'ok %d - %s\n' "$count" "$1"; }
fail() { count=$((count + 1)) diag_to=2; failed=$((failed + 1)); printf 'not ok %d - %s\n' "$count" "$1"; diag "${0##*/}: not ok $count - $1"; }
skip() { count=$((count + 1)) diag_to=1; printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"; }
skip_all() { printf '1..0 # SKIP %s\n' "$1"; exit 0; }

# beginning: of a long text, the beginning
beginning() { printf '%s\n' "$1" | head -n 40 | cut -c 1-400; }
# diag_files ARGUMENT...: the beginnings of the test's own files among the arguments of a command that failed
diag_files() {
	for f; do
		case $f in "$tmp"/*) ;; *) continue ;; esac
		if [ -s "$f" ] && [ -f "$f" ]; then
			diag "$f:"
			diag "$(LC_ALL=C tr -cd '\11\12\40-\176' <"$f" | head -n 10 | cut -c 1-200)"
		elif [ -e "$f" ]; then
			diag "$f: $(stat -c '%F, %s bytes' "$f")"
		else
			diag "$f: is not there"
		fi
	done
}

# ok DESCRIPTION COMMAND...: the command succeeds
ok() {
	d=$1
	shift
	"$@" >"$tmp/.out" 2>&1
	st=$?
	if [ $st = 0 ]; then pass "$d"; else
		fail "$d"
		diag "$* gave $st:"
		diag "$(head -20 "$tmp/.out")"
		diag_files "$@"
	fi
}
# is DESCRIPTION GOT WANT
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1"; diag "got:  $2"; diag "want: $3"; fi; }
# like DESCRIPTION TEXT REGEX (extended)
like() {
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then pass "$1"; else
		fail "$1"
		diag "got: $(beginning "$2")"
		diag "want a match of: $3"
	fi
}
unlike() {
	if ! printf '%s\n' "$2" | grep -Eq -- "$3"; then pass "$1"; else
		fail "$1"
		diag "got: $(printf '%s\n' "$2" | grep -E -- "$3" | head -n 5 | cut -c 1-400)"
		diag "want no match of: $3"
	fi
}
# status DESCRIPTION WANT COMMAND...; stdout and stderr are kept in $tmp/out and $tmp/err
status() {
	d=$1 w=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	status_got=$?
	is "$d" "$status_got" "$w"
	if [ "$status_got" != "$w" ]; then
		diag "by: $*"
		diag_files "$tmp/err" "$tmp/out"
	fi
}
# same DESCRIPTION FILE FILE
same() {
	if cmp -s "$2" "$3"; then pass "$1"; else
		fail "$1"
		diag "< $2, > $3:"
		diag "$(diff "$2" "$3" 2>&1 | head -20 | cut -c 1-400)"
	fi
}

# may_record_all: skips if nobody may sample the system: without the recorder, root, or its capabilities
may_record_all() {
	[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
	[ "$(id -u)" = 0 ] || skip_all "only root samples the whole system"
	caps=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	[ $((0x$caps >> 38 & 3)) = 3 ] || [ $((0x$caps >> 21 & 1)) = 1 ] || skip_all "this root has neither CAP_BPF nor CAP_PERFMON"
}

# sanitized: succeeds if the programs are built with the sanitizers, which reserve terabytes of addresses, keep
# freed memory, and must be the first preloaded library.
sanitized() { grep -q __asan_init "$BIN/cprof-dump"; }
# limit_memory KB: limits the addresses of this subshell, unless programs are sanitized
limit_memory() { sanitized || ulimit -v "$1"; }

# has_tracepoint NAME: may a tracepoint be sampled here? Whether tracefs is mounted does not matter.
has_tracepoint() { cprof-record -q -e "$1" -o "$tmp/.tracepoint" -- true 2>/dev/null; }

done_testing() { printf '1..%d\n' "$count"; [ "$failed" = 0 ]; exit $?; }
