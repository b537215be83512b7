#!/bin/sh
# Recording without end: processes come and go, files are rotated, the clock is stepped, and nothing grows or
# is lost. Two minutes; `make soak` takes half an hour, SOAK_SECONDS changes it. The measurements are at the
# end of its output.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
: "${SOAK_SECONDS:=120}"
storm=$BUILD/tests/storm burn=$BUILD/tests/burn
to=$tmp/to
mkdir "$to"
# Sanitizers must be the first preloaded library.
step=
if ! sanitized && ${CC:-cc} -O2 -D_GNU_SOURCE -shared -fPIC \
	-o "$tmp/clockstep.so" "$tests/loads/clockstep.c" -ldl 2>/dev/null; then
	step=$tmp/clockstep.so
fi

running() { [ ! -e "$tmp/stop" ]; }
execs() { while running; do ls -l / >/dev/null; awk 'BEGIN { for (i = 0; i < 9999; i++) s += i }'; "$burn" brief 3; sleep 0.02; done; }
forks() { while running; do "$storm" exec 5 >/dev/null; python3 -c 'sum(range(300000))'; sleep 0.1; done; }
mappings() { while running; do "$storm" map 100 >/dev/null; sleep 0.5; done; }

LD_PRELOAD=$step cprof-record -a --rotate 5s --keep 1d --on-rotate 'test -s "$1"' --metrics "$tmp/m.prom" -o "$to" 2>"$tmp/err" &
recorder=$!
sleep 2
for w in execs forks mappings; do
	($w) >/dev/null 2>&1 &
done
children() { pgrep -P "$recorder" | wc -l; }
# own: memory without that shared with the kernel, to show which part grew
own() { awk '/^[0-9a-f]+-[0-9a-f]+ / { shared = / anon_inode:bpf-map/ } /^Rss:/ && !shared { n += $2 } END { print n + 0 }' /proc/$recorder/smaps; }
began=$(date +%s)
while at=$(($(date +%s) - began)) && [ $at -lt "$SOAK_SECONDS" ] && kill -0 $recorder; do
	echo "$at $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$recorder/status) $(ls /proc/$recorder/fd | wc -l) $(children) $(own)" >>"$tmp/measured"
	[ $((at % 17)) != 16 ] || kill -HUP $recorder
	sleep 1
done
helpers=$(pgrep -P "$recorder")
kill -INT $recorder
wait $recorder
is "$SOAK_SECONDS seconds, and a good end" $? 0
: >"$tmp/stop"
left=
for p in $helpers; do
	tries=0
	while kill -0 "$p" 2>/dev/null && [ $((tries = tries + 1)) -lt 50 ]; do sleep 0.1; done
	! kill -0 "$p" 2>/dev/null || left="$left $p"
done
is "no process of the recorder is left" "$left" ""
wait
diag "$(tail -n 1 "$tmp/err")"

third() { awk -v q="$1" -v c="$2" -v n="$SOAK_SECONDS" '$1 >= (q - 1) * n / 3 && $1 < q * n / 3 { v[++k] = $c } END { n = asort_(v, k); print v[int((k + 1) / 2)] + 0 }
	function asort_(a, m, i, j, t) { for (i = 2; i <= m; i++) { t = a[i]; for (j = i - 1; j > 0 && a[j] > t; j--) a[j + 1] = a[j]; a[j + 1] = t } return m }' "$tmp/measured"; }
for q in 1 2 3; do diag "third $q, medians: $(third $q 2) kB of memory, $(third $q 5) without BPF maps, $(third $q 3) descriptors, $(third $q 4) children"; done
flat() { awk -v a="$2" -v b="$3" -v d="$4" -v x="$5" 'BEGIN { exit !(a > 0 && b <= a * (1 + d / 100) + x) }' && pass "$1" || { fail "$1"; diag "$2, then $3"; }; }
if sanitized; then
	skip "its memory is flat" "freed memory is the sanitizer's"
elif [ "$SOAK_SECONDS" -ge 900 ]; then
	flat "its memory is flat" "$(third 2 2)" "$(third 3 2)" 5 0
else
	# in two minutes the heap has not reached its size: one burst more or less is some MB
	flat "its memory is flat" "$(third 2 2)" "$(third 3 2)" 5 4000
fi
flat "its descriptors are" "$(third 1 3)" "$(third 3 3)" 0 8
is "files are complete and have names" "$(ls -A "$to" | grep -vc '\.cprof$')" 0
files=$(ls "$to" | wc -l)
like "as many as there should be, and no second one that is lost" "$((files >= SOAK_SECONDS / 6 && files <= SOAK_SECONDS / 4 + SOAK_SECONDS / 17 + 3))" '^1$'
# All ledgers together
sum=$(for f in "$to"/*; do cprof-dump "$f" 2>/dev/null; done | awk '/^segment/ { for (k in v) all[k] += v[k]; split("", v) }
	/^ledger/ { split($3, c, "="); split($4, o, "="); split($5, n, "="); v[c[2] " " o[2]] = n[2] } /^sample / { samples++ }
	END { for (k in v) all[k] += v[k]; for (k in all) { split(k, a, " ")
		if (a[2] == "expected") e += all[k]; else if (a[2] != "sideband-lost") s += all[k]; if (a[2] == "emitted") m += all[k] }
		printf "%d expected, %d told of, %d emitted, %d samples", e, s, m, samples }')
diag "$files files: $sum"
is "every tick has an outcome" "$(echo "$sum" | awk '{ d = ($1 - $3) / $1; print ($1 > 1000 && d > -.001 && d < .001 && $6 == $8) }')" 1
ticks=$(awk -v n="$(nproc)" -v s="$SOAK_SECONDS" 'BEGIN { print 99 * n * s }')
is "and there are as many as the time has" "$(echo "$sum" | awk -v t="$ticks" '{ print ($1 > t && $1 < t * 1.1 + 99 * 30) }')" 1
is "the figures agree" "$(sed -n 's/^cprof_record_ticks_total{outcome="emitted",lost="0"} //p' "$tmp/m.prom")" "$(echo "$sum" | sed 's/.*, \([0-9]*\) emitted.*/\1/')"
is "each file was told of" "$(sed -n 's/^cprof_record_hooks_total //p' "$tmp/m.prom")-$(sed -n 's/^cprof_record_hooks_failed_total //p' "$tmp/m.prom")" "$files-0"

# Killed at some moment, several times: the open file is good up to its last second.
rm -rf "$to"; mkdir "$to"
"$burn" threads 300 >/dev/null &
busy=$!
worst=$(for wait in 1.1 1.9 2.4 1.6; do
	cprof-record -q -a --rotate 1h -o "$to" 60 2>/dev/null &
	recorder=$!
	read -r began _ </proc/uptime # until a sample is written, everything since then is lost
	tries=0
	until [ -n "$(find "$to" -name '.*.part' -size +1k)" ] || [ $((tries = tries + 1)) -gt 100 ]; do sleep 0.1; done
	sleep $wait
	read -r up _ </proc/uptime
	kill -9 $recorder
	wait $recorder 2>/dev/null
	cprof-record -q -a --rotate 1h -o "$to" 0.1
	set -- "$to"/*.cprof
	for f; do cprof-dump "$f" 2>/dev/null; done | sed -n 's/^sample time=\([0-9]*\) .*/\1/p' |
		awk -v up="$up" -v t="$began" '$1 / 1e9 < up { t = $1 } END { printf "%.2f\n", up - t / 1e9 }'
	rm -f "$to"/*
done | sort -n | tail -n 1)
kill $busy
diag "killed four times, at most $worst s were lost"
# One second by design; on a busy machine the recorder itself must wait.
is "what is lost by a kill is a second, and what a busy machine adds" "$(awk -v w="$worst" 'BEGIN { print (w < 5) }')" 1
is "none was left without a name" "$(ls -A "$to" | grep -c part)" 0
done_testing
