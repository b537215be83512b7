# Tests of runtimes with options of their own: they record one of the programs in tests/data/runtimes, which
# are in the current directory then. After lib.sh.
# shellcheck shell=sh disable=SC2034,SC2154 # lib.sh sets tests and tmp
may_record_all
[ "$(uname -m)" = x86_64 ] || skip_all "tables are made for x86-64 alone"
cp "$tests"/data/runtimes/* "$tmp" && cd "$tmp" || exit 1

# runs TEXT COMMAND...: records the command, and folds its samples in leaf. It writes its process id to pid.
runs() {
	echo "# $1"
	shift
	cprof-record -q -F 499 ${languages-} -o c.bin -- "$@" >out 2>err
	[ ! -s pid ] || rm -f "/tmp/perf-$(cat pid).map" "/tmp/jit-$(cat pid).dump" pid
	cprof-sym c.bin 2>sym.err | cprof-fold -U 2>/dev/null | grep leaf >folded
}
# most TEXT REGEX [SHARE]: at least 20 samples are in leaf, and SHARE of them, 0.8, have a stack that matches
most() {
	if want=$2 awk -v least="${3:-0.8}" '{ all += $NF } $0 ~ ENVIRON["want"] { good += $NF }
		END { exit !(all >= 20 && good >= least * all) }' folded
	then
		pass "$1"
	else
		fail "$1"
		diag "$(head -n 5 folded; tail -n 3 err sym.err out)"
	fi
}
