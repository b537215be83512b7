#!/bin/sh
# A recording that cannot start leaves the file that it would have replaced unchanged.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
seq 1 5000 >"$tmp/precious"

# With each number of descriptors, another one is missing.
starts=0 fails=0 destroyed=
for n in $(seq 8 2 64); do
	cp "$tmp/precious" "$tmp/bin"
	if (ulimit -n "$n" && exec cprof-record -q -a -o "$tmp/bin" 0.01) 2>"$tmp/err"; then
		starts=$((starts + 1))
	else
		fails=$((fails + 1))
		cmp -s "$tmp/precious" "$tmp/bin" || destroyed="$destroyed $n"
	fi
done
is "with few descriptors some recordings fail, and others not" "$((fails > 0)) $((starts > 0))" "1 1"
is "none that failed has touched the file" "$destroyed" ""
# Descriptors are counted before an engine is opened. Memory is not: at some limit it runs out
# while sampling begins, or soon after that.
if sanitized; then
	skip "without memory some recordings fail, and others not" "the sanitizers need more than any limit"
	skip "none that failed has touched the file" "the sanitizers need more than any limit"
else
	starts=0 fails=0 destroyed=
	# try N: records with N kB of memory
	try() {
		n=$1
		cp "$tmp/precious" "$tmp/bin"
		if (ulimit -v "$n" && exec cprof-record -q -a --engine bpf -o "$tmp/bin" 0.01) >"$tmp/out" 2>"$tmp/err"; then
			starts=$((starts + 1))
		else
			fails=$((fails + 1))
			cmp -s "$tmp/precious" "$tmp/bin" || destroyed="$destroyed $n"
			last=$n
		fi
	}
	last=4000
	for n in $(seq 4000 500 32000); do try "$n"; done
	# Around the highest limit at which it failed, each step ends the start at another place.
	for n in $(seq $((last - 400)) 50 $((last + 600))); do try "$n"; done
	is "without memory some recordings fail, and others not" "$((fails > 0)) $((starts > 0))" "1 1"
	is "none that failed has touched the file" "$destroyed" ""
fi

ln -s bin "$tmp/link"
ln "$tmp/bin" "$tmp/second"
status "one that starts replaces what a link names" 0 cprof-record -q -a -o "$tmp/link" 0.01
is "  and the link stays" "$(readlink "$tmp/link")" bin
ok "  as does a second name" cmp "$tmp/bin" "$tmp/second"
cp "$tmp/precious" "$tmp/bin"
status "one that starts replaces it" 0 cprof-record -q -a -o "$tmp/bin" 0.01
ok "with a capture" cprof-dump "$tmp/bin"
done_testing
