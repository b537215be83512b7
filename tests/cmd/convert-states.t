#!/bin/sh
# cprof-convert --wall: pprof has a sample type, and callgrind an event, for each way of waiting. Their sums
# are those of cprof-fold --wall, also if the capture records how long threads ran.
. "$(dirname "$0")/../lib/lib.sh"

for o in '' ran; do
	python3 "$here/convert-timed.py" 5 "$tmp/account$o" $o | cprof-dump -r >"$tmp/a$o.bin" || exit 1
done
# sums FILE OPTION...: "STATE NS" by cprof-fold; the account's if there are no options
sums() {
	cprof-fold --wall "$@" 2>/dev/null | awk '{ n = $NF; sub(/ [0-9]*$/, ""); k = "cpu"
		if (/;\[sleeping\]$/) k = "off_cpu_sleep"
		if (/;\[uninterruptible\]$/) k = "off_cpu_uninterruptible"
		if (/;\[waiting for a CPU\]$/) k = "off_cpu_run_queue"
		s[k] += n; s["wall"] += n } END { for (k in s) print k, s[k] }' | sort
}
sums "$tmp/aran.bin" >"$tmp/got"
awk '{ k = $6 == "running" ? "cpu" : $6 == "waiting" ? "off_cpu_run_queue" :
	$6 == "sleeping" ? "off_cpu_sleep" : "off_cpu_uninterruptible"; s[k] += $4; s["wall"] += $4 }
	END { for (k in s) print k, s[k] }' "$tmp/accountran" | sort >"$tmp/want"
same "cprof-fold --wall has what the threads did" "$tmp/want" "$tmp/got"

events='s/.*events: //p'
callgrind() { # FILE OPTION...: as sums
	cprof-convert --wall -t callgrind "$@" >"$tmp/cg" 2>"$tmp/err"
	sed -n 's/^summary: //p' "$tmp/cg" | awk '{ print "cpu", $1; print "off_cpu_sleep", $2
		print "off_cpu_uninterruptible", $3; print "off_cpu_run_queue", $4
		print "wall", $1 + $2 + $3 + $4 }' | sort
}
windows='--from=0 --from=0.2 --to=0.3 --from=@1700000000.1'
for f in a aran; do
	for o in '' $windows; do
		sums $o "$tmp/$f.bin" >"$tmp/want"
		callgrind $o "$tmp/$f.bin" >"$tmp/got"
		same "callgrind: $f.bin $o" "$tmp/want" "$tmp/got"
	done
done
is "  its events" "$(sed -n "$events" "$tmp/cg")" "Cpu OffCpuSleep OffCpuUninterruptible OffCpuRunQueue"
if command -v callgrind_annotate >/dev/null; then
	callgrind_annotate "$tmp/cg" 2>&1 | sed -n 's/ *PROGRAM TOTALS//p' | tr -d , |
		sed 's/([^)]*)//g' >"$tmp/got"
	is "  callgrind_annotate adds them up" "$(xargs <"$tmp/got")" "$(sed -n 's/^summary: //p' "$tmp/cg")"
else
	skip "callgrind_annotate adds them up" "there is no callgrind_annotate"
fi
cprof-convert -t callgrind "$tmp/a.bin" >"$tmp/cg"
is "without --wall there is one event" "$(sed -n "$events" "$tmp/cg")" Samples

cprof-convert --wall -t pprof "$tmp/a.bin" >"$tmp/pb" 2>"$tmp/err"
[ $? != 2 ] && command -v go >/dev/null || { skip "pprof" "there is no go, or no schema"; done_testing; }
export HOME="$tmp" PPROF_TMPDIR="$tmp"
pprof() { # FILE OPTION...: as sums
	cprof-convert --wall -t pprof "$@" >"$tmp/pb" 2>"$tmp/err"
	for k in cpu off_cpu_run_queue off_cpu_sleep off_cpu_uninterruptible wall; do
		go tool pprof -top -unit=ns -nodefraction=0 -sample_index=$k "$tmp/pb" 2>"$tmp/err" |
			sed -n "s/^Showing nodes .* of \([0-9]*\)ns total/$k \1/p"
	done
}
for f in a aran; do
	for o in '' $windows; do
		sums $o "$tmp/$f.bin" >"$tmp/want"
		pprof $o "$tmp/$f.bin" >"$tmp/got"
		same "go tool pprof: $f.bin $o" "$tmp/want" "$tmp/got"
	done
done
cprof-convert --wall -t pprof "$tmp/aran.bin" >"$tmp/pb" 2>"$tmp/err"
go tool pprof -tags -unit=ns -sample_index=wall "$tmp/pb" 2>"$tmp/err" | tr -d ' ' |
	sed -n 's/^\([0-9]*\)\.0ns([^)]*):\(app[1-4]\)$/\2 \1/p' | sort >"$tmp/got"
cprof-top --by thread -n 0 -o tsv --wall "$tmp/aran.bin" 2>/dev/null |
	awk -F'\t' 'NR > 1 { sub(/-.*/, "", $1); print $1, $2 }' | sort >"$tmp/want"
same "  each thread's time is that of cprof-top --by thread" "$tmp/want" "$tmp/got"
is "  the default is all time" "$(go tool pprof -top "$tmp/pb" 2>"$tmp/err" | sed -n 's/^Type: //p')" wall
cprof-convert -t pprof "$tmp/a.bin" >"$tmp/pb" 2>"$tmp/err"
is "without --wall it is CPU time" "$(go tool pprof -top "$tmp/pb" 2>"$tmp/err" | sed -n 's/^Type: //p')" cpu
done_testing
