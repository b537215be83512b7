#!/bin/sh
# The wall clock is set during a recording: a new segment has the new one.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
! sanitized || skip_all "sanitizers must be the first preloaded library"
${CC:-cc} -O2 -D_GNU_SOURCE -shared -fPIC -o "$tmp/clockstep.so" "$tests/loads/clockstep.c" -ldl \
	2>/dev/null || skip_all "no library can be preloaded"

bin=$tmp/clock.bin
# Prints for each segment by how many seconds its wall clock is ahead of that of the first one.
epochs() {
	cprof-dump "$bin" 2>/dev/null | awk -F'"' '$2 == "start-realtime-ns" { real = $4 }
		$2 == "start-monotonic-ns" { ahead = (real - $4) / 1e9
			if (!n++) first = ahead
			printf "%.0f\n", ahead - first }'
}
LD_PRELOAD=$tmp/clockstep.so cprof-record -q -a -o "$bin" 2>"$tmp/err" &
recorder=$!
tries=0
few() { [ "$(epochs | sort -u | wc -l)" -lt 3 ]; }
while few && kill -0 $recorder && [ $((tries += 1)) -lt 600 ]; do sleep 0.1; done
kill -INT $recorder
wait $recorder
is "a recording while the clock is set" $? 0
epochs >"$tmp/epochs"
ok "  segments have the clocks of their times" [ "$(sort -u "$tmp/epochs" | wc -l)" -ge 3 ]
is "  which differ by the steps" "$(awk '$1 % 3600' "$tmp/epochs")" ""
is "  and no segment begins without need" "$(uniq "$tmp/epochs" | wc -l)" "$(wc -l <"$tmp/epochs")"
done_testing
