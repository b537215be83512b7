#!/bin/sh
# cprof-record: programs that look like interpreters and hold hostile data cost little, and give nothing but
# counted states.
# shellcheck disable=SC2154 # lib.sh sets tmp
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"

for p in lang-hostile:python lang-hostile-perl:perl; do
	language=${p#*:} program=${p%:*}
	status "$language: the recording goes on to the end" 0 \
		cprof-record -F 999 -o "$tmp/x.bin" -- "$BUILD/tests/$program" 0.3
	like "  and loses nothing" "$(cat "$tmp/err")" 'samples of .*; nothing lost'
	cprof-dump "$tmp/x.bin" >"$tmp/x"
	is "  sound structures give names" \
		"$(grep -c "^lang-frame .*language=$language .*state=ok" "$tmp/x" |
			awk '{ print ($1 > 0) }')" 1
	like "  and all others states" \
		"$(grep '^lang-frame' "$tmp/x" | sed 's/.*state=\([^ ]*\).*/\1/' | sort -u | tr '\n' ' ')" \
		'^(depth |lost |not-yet |ok |over-budget )*unreadable $'
	is "  no frame is of another language" \
		"$(grep '^lang-frame' "$tmp/x" | grep -v " language=$language ")" ""
	# Noise may look like a function, whose name is then noise, too.
	sed -n 's/^function .* name="\(.*\)" line=.*/\1/p' "$tmp/x" |
		grep -v -x -e good -e 'good::good' -e '<main>' >"$tmp/names"
	ok "  few names are noise ($(wc -l <"$tmp/names"))" [ "$(wc -l <"$tmp/names")" -lt 50 ]
	cost() { sed -n "s/^cost .*what=$1 count=//p" "$tmp/x" | tail -n 1; }
	ok "  a sample costs less than 100 us ($(($(cost bpf-ns) / $(cost bpf-runs))) ns)" \
		[ $(($(cost bpf-ns) / $(cost bpf-runs))) -lt 100000 ]
	ok "  the recorder stays small ($(($(cost rss-bytes) >> 20)) MiB)" \
		[ "$(cost rss-bytes)" -lt $((64 << 20)) ]
	ok "  and so does the stream ($(wc -c <"$tmp/x.bin") bytes)" [ "$(wc -c <"$tmp/x.bin")" -lt 4000000 ]
done
done_testing
