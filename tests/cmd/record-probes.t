#!/bin/sh
# Probes in user code: counted exactly, sampled with whole stacks, priced, and refused if they would do harm.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
load=$BUILD/tests/probes
pmu=/sys/bus/event_source/devices/uprobe
[ -e $pmu ] || skip_all "this kernel has no uprobes"

# tallies FILE...: prints "OUTCOME COUNT" of the only event, the last value of each segment, added up
tallies() {
	cprof-dump "$@" | awk '{ for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] } }
		function flush() { for (k in v) sum[k] += v[k]; split("", v) }
		$1 == "segment" { flush() } $1 == "tally" { v[f["outcome"]] = f["count"] }
		END { flush(); for (k in sum) print k, sum[k] }'
}
tally() { tallies "$2" | sed -n "s/^$1 //p"; }
even() { tallies "$@" | awk '{ n += $1 == "expected" ? $2 : -$2 } END { print n + 0 }'; }
named() { cprof-sym "$1" 2>/dev/null | cprof-fold "${2:--}"; }
counted() { sed -n "s/^$1 //p" "$tmp/out"; }
# record EVENT [OPTION...] -- COMMAND...: into $tmp/raw.bin
record() { e=$1; shift; cprof-record -e "$e" -o "$tmp/raw.bin" "$@" >"$tmp/out" 2>"$tmp/err"; }
# until_true COMMAND...: waits up to 20 seconds
until_true() { for i in $(seq 200); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }

# Counts, against the program's own: one thread, and threads on all CPUs
for case in "usdt:$load:cprof:once once" "usdt:$load:cprof:both both" "usdt:$load:cprof:asked asked" \
	"uprobe:$load:hit_function once"; do
	event=${case% *} name=${case##* } short=${case#*:$load:}
	record "$event" -- "$load" 100000
	is "${short% *}: 100,000 hits are counted" "$(tally expected "$tmp/raw.bin")" 100000
	is "  as the program counts them" "$(counted "$name")" 100000
	is "  and each has an outcome" "$(even "$tmp/raw.bin")" 0
done
record "usdt:$load:cprof:both" -- "$load" 30000 6
is "six threads: all hits are counted" "$(tally expected "$tmp/raw.bin")" "$(counted both)"
is "  which are 180,000" "$(counted both)" 180000
is "  and each has an outcome" "$(even "$tmp/raw.bin")" 0
"$load" 10 >"$tmp/out"
is "without a probe the semaphore is clear" "$(counted asked)" 0

# Stacks and samples
record "usdt:$load:cprof:once" -F 20000 -- "$load" 200
named "$tmp/raw.bin" >"$tmp/folded"
is "all stacks lead from the thread's start to the probe" "$(grep -c -v ';run;hit_function ' "$tmp/folded")" 0
is "  200 of them" "$(awk '{ n += $NF } END { print n }' "$tmp/folded")" 200
record "usdt:$load:cprof:once/10" -F 20000 -- "$load" 200
is "/10: a sample for ten hits" \
	"$(cprof-dump "$tmp/raw.bin" | sed -n 's/^sample .* weight=//p' | sort | uniq -c | xargs)" "20 10"
like "the summary names the event" "$(cat "$tmp/err")" '20 samples of usdt:[^ ]*:once, of 1 process'
record "usdt:$load:cprof:once" --unwind fp -F 20000 -- "$load" 200
is "--unwind fp counts, too" "$(tally expected "$tmp/raw.bin")" 200
record "usdt:$load:cprof:once" -e cpu-clock -e page-faults -F 20000 -- "$load" 2000
is "beside the clock and page faults" "$(cprof-dump "$tmp/raw.bin" | grep -c '^event ')" 3

# An argument as the label of the samples, which is the innermost frame
labels() {
	cprof-fold "$tmp/raw.bin" | sed -n 's/.*;\(arg[0-9]*=[^;]*\) \([0-9]*\)$/\1 \2/p' |
		awk '{ n[$1] += $2 } END { for (k in n) print k, n[k] }' | sort | xargs
}
record "usdt:$load:cprof:once:arg2:string" -F 20000 -- "$load" 300
is "a text of a static probe" "$(labels)" "arg2=alpha 100 arg2=beta 100 arg2=gamma 100"
like "  after the code that hits it" "$(named "$tmp/raw.bin")" ';run;hit_function;arg2=beta 100$'
like "  and cprof-top has it" "$(cprof-top "$tmp/raw.bin")" '^ *100 .* 33\.33% +arg2=alpha$'
like "  and perf script's text" "$(cprof-convert -t perfscript "$tmp/raw.bin")" 'arg2=gamma'
cprof-sym --scrub "$tmp/raw.bin" 2>/dev/null >"$tmp/shown.bin"
is "  --scrub hides its value, and the file of the probe" \
	"$(cprof-dump "$tmp/shown.bin" | grep -c -e alpha -e beta -e gamma -e "$load")" 0
is "  but keeps three values apart" "$(cprof-fold "$tmp/shown.bin" | grep -c ';arg2=[^ ]* 100$')" 3
record "usdt:$load:cprof:both:arg1" -F 20000 -- "$load" 4
is "a number, which is elsewhere at each place" "$(labels)" "arg1=1 2 arg1=3 2"
record "uprobe:$load:hit_function:arg1" -F 20000 -K -- "$load" 3
is "an argument of a function, with -K too" "$(labels)" "arg1=0 1 arg1=1 1 arg1=2 1"
record "uprobe:$load:hit_function:arg1:string" -F 20000 -- "$load" 3
is "a text that cannot be read" "$(labels)" "arg1=(unreadable) 3"
record "uprobe:$load:hit_function:arg1" -F 20000 -- "$load" 30000
is "very many labels: all hits have an outcome" "$(even "$tmp/raw.bin")" 0
is "  and no frame is without a name" "$(cprof-fold "$tmp/raw.bin" | grep -c '\[unmapped')" 0

# Targets: every process that has the file mapped hits the probe.
cat >"$tmp/two" <<END
#!/bin/sh
"$load" 1000 & "$load" 3000 &
wait
END
chmod +x "$tmp/two"
sleep 100 & idle=$!
cprof-record -q -e "usdt:$load:cprof:once" -p $idle -o "$tmp/pid.bin" & recorder=$!
until_true [ -s "$tmp/pid.bin" ]
"$tmp/two" >/dev/null
kill $idle
wait $recorder
is "-p: hits of others are filtered" "$(tally filtered "$tmp/pid.bin")" 4000
is "  and there is no sample" "$(cprof-dump "$tmp/pid.bin" | grep -c '^sample ')" 0
root=$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 1) == "cgroup2") { print $5; exit } }' \
	/proc/self/mountinfo)
if [ -n "$root" ] && mkdir "$root/cprof-probes-$$" 2>/dev/null; then
	cprof-record -q -e "usdt:$load:cprof:once" --cgroup "$root/cprof-probes-$$" -o "$tmp/group.bin" &
	recorder=$!
	until_true [ -s "$tmp/group.bin" ]
	sh -c 'echo $$ >"$0"; exec "$1" 1000' "$root/cprof-probes-$$/cgroup.procs" "$load" >/dev/null
	"$load" 3000 >/dev/null
	kill $recorder
	wait $recorder
	is "--cgroup: hits of others are filtered" "$(tally filtered "$tmp/group.bin")" 3000
	is "  and those in it are not" "$(tally expected "$tmp/group.bin") $(even "$tmp/group.bin")" "4000 0"
	rmdir "$root/cprof-probes-$$"
else
	skip "--cgroup" "no cgroup2 to make a group in"
fi

# Series of files, the flight buffer and the cost limit
mkdir "$tmp/turns" "$tmp/ring"
cat >"$tmp/often" <<END
#!/bin/sh
# often DIR FILES: hits the probe 2000 times, and again once so many files are in the directory
"$load" 2000
until [ "\$(ls "\$1" | wc -l)" -ge "\$2" ]; do sleep 0.1; done
"$load" 2000
END
chmod +x "$tmp/often"
cprof-record -q -e "usdt:$load:cprof:once" --rotate 1s -o "$tmp/turns" -- \
	"$tmp/often" "$tmp/turns" 2 >"$tmp/out"
is "--rotate: three files at least" "$([ "$(ls "$tmp"/turns | wc -l)" -ge 3 ] && echo yes)" yes
for f in "$tmp"/turns/*; do tally expected "$f"; done >"$tmp/expected"
is "  with all hits" "$(awk '{ n += $1 } END { print n }' "$tmp/expected")" 4000
cat >"$tmp/until" <<END
#!/bin/sh
# until DIR: hits the probe 2000 times, and sends signals until a sample of them is in a file
"$load" 2000
for i in \$(seq 100); do
	kill -USR1 \$PPID
	cat "\$1"/* 2>/dev/null | cprof-dump 2>/dev/null | grep -q '^sample ' && exit
	sleep 0.2
done
END
chmod +x "$tmp/until"
cprof-record -q -e "usdt:$load:cprof:once" --ring 10s -o "$tmp/ring" -- "$tmp/until" "$tmp/ring" >"$tmp/out"
cat "$tmp"/ring/* >"$tmp/ring.bin"
like "--ring has them" "$(named "$tmp/ring.bin")" ';run;hit_function [0-9]+$'
record "uprobe:$load:step_leaf" --max-cost 1% -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9; do "$0" 20000; done' "$load"
cost=$(sed -n 's/.* = \([0-9.]*\) % of a CPU per CPU$/\1/p' "$tmp/err")
is "the traps are in the cost" "$(echo "${cost:-0}" | awk '{ print ($1 > 1) ? "yes" : $1 }')" yes

# The cost of a hit is printed, and harm to leaf functions if the program itself finds any.
record "usdt:$load:cprof:once" -- "$load" 10
like "the cost is printed before the program runs" "$(head -n 1 "$tmp/err")" \
	"once: each hit costs about [0-9]+\.[0-9] us, in every process"
record "usdt:$load:cprof:once" -q -- "$load" 10
is "  but not with -q" "$(cat "$tmp/err")" ""
if [ "$(uname -m)" = x86_64 ]; then
	unlike "a probe at another instruction harms nothing" "$(cat "$tmp/err")" "overwrite variables"
	record "uprobe:$load:step_nop" -- "$load" 1000
	is "at a nop of five bytes, a message if the kernel harms the program" \
		"$(grep -c 'step_nop: probes at a nop of five bytes overwrite variables' "$tmp/err")" \
		"$([ "$(counted harmed)" -gt 0 ] && echo 1 || echo 0)"
	diag "$(counted harmed) of 1000 calls were harmed"
	start=$(nm "$load" | sed -n 's/ t hit_function.*//p' | head -n 1)
	status "an address is a place, too" 0 \
		cprof-record -q -e "uprobe:$load:0x$start" -o "$tmp/raw.bin" -- "$load" 100
	is "  with its hits" "$(tally expected "$tmp/raw.bin")" 100
	status "so is an offset" 0 \
		cprof-record -q -e "uprobe:$load:hit_function+0" -o "$tmp/raw.bin" -- "$load" 100
	is "  with its hits" "$(tally expected "$tmp/raw.bin")" 100
	status "inside an instruction is none" 2 \
		cprof-record -e "uprobe:$load:step_leaf+2" -o "$tmp/raw.bin" -- "$load" 100
	like "  and the message says so" "$(cat "$tmp/err")" "expected the start of an instruction"
fi

# Frames of an interpreted language: a function of libc, called by a script for three seconds at most
libc=$(ldd "$load" | sed -n 's/.*=> \([^ ]*libc[.-][^ ]*\) .*/\1/p')
if [ -x /usr/bin/python3 ] && [ -n "$libc" ]; then
	cat >"$tmp/script.py" <<-'END'
	import os, time
	def inner():
	    for i in range(50):
	        os.getppid()
	def outer():
	    for i in range(150):
	        inner()
	        time.sleep(0.02)
	outer()
	END
	record "uprobe:$libc:getppid" -F 200 -- /usr/bin/python3 "$tmp/script.py"
	if cprof-dump "$tmp/raw.bin" | grep -q '^function '; then
		is "a script's functions are in the stacks" \
			"$(cprof-dump "$tmp/raw.bin" | sed -n 's/^function .* name="\([^"]*\)".*/\1/p' |
				sort -u | xargs)" \
			"<module> inner outer"
	else
		skip "a script's functions" "this Python, or this kernel, has none"
	fi
else
	skip "a script's functions" "no python3"
fi

# Refusals: EVENT, the exit status, a part of the message
while read -r event want text; do
	status "$event" "$want" cprof-record -e "$event" -o "$tmp/none.bin" -- "$load" 1
	like "  with a reason" "$(cat "$tmp/err")" "$text"
done <<END
uprobe:$load:no_function 2 expected a function of
uprobe:$load 2 expected uprobe:FILE:FUNCTION
usdt:$load:cprof:none 2 expected a probe of
usdt:$load:cprof 2 expected usdt:FILE:PROVIDER:NAME
usdt:$load:cprof:once:arg3 2 expected an argument that is in a register or in memory
usdt:$load:cprof:once:arg0 2 expected usdt:FILE:PROVIDER:NAME
uprobe:$load:hit_function:arg9 2 expected an argument that is in a register
uprobe:$load:0xfffffffffff 2 expected an address of code
uprobe:/nowhere/x:main 1 cannot open /nowhere/x: No such file
uprobe:/etc/passwd:main 1 it is not an ELF file
uprobe:/dev/null:main 1 is not a regular file
usdt:$load:cprof:once/0 2 a number of events per sample
END
is "nothing was written" "$([ -e "$tmp/none.bin" ] || echo nothing)" nothing

# Notes of a file that prelink has moved: the base of the notes is not that of the file.
if command -v objcopy >/dev/null && command -v gcc >/dev/null; then
	sed -e 's/\.8byte _.stapsdt.base/& - 0x1000/' -e 's/\.8byte 990b/& - 0x1000/' \
		-e 's/\.8byte " semaphore "/& - 0x1000/' "$tests/loads/probes.c" >"$tmp/moved.c"
	gcc -O2 -pthread -o "$tmp/moved" "$tmp/moved.c"
	cprof-record -q -e "usdt:$tmp/moved:cprof:asked" -o "$tmp/raw.bin" -- "$tmp/moved" 100 >"$tmp/out"
	is "moved by prelink: the probe and its semaphore are found" \
		"$(tally expected "$tmp/raw.bin") $(counted asked)" "100 100"
else
	skip "moved by prelink" "no compiler"
fi
done_testing
