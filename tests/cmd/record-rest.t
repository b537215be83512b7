#!/bin/sh
# The recorder sleeps while nothing is new, and wakes at once when something is. The watching program makes no
# process, because each one is something new.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
chain=$BUILD/frameless/chain
needs_tables chain
cp "$chain" "$tmp/known" && cp "$chain" "$tmp/newcomer" || exit 1

# Counts how often each thread of the recorder slept in each of some three seconds; then an
# unknown program runs.
cat >"$tmp/watch.py" <<'EOF'
import os, re, subprocess, sys, time
tmp, options = sys.argv[1], sys.argv[2:]
known = subprocess.Popen([tmp + "/known", "deep", "20", "30"])
record = subprocess.Popen(["cprof-record", "-q", "-a", "-o", tmp + "/o.bin"] + options + ["14"])

def slept():
    with open("/proc/%d/status" % record.pid) as f:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", f.read(), re.M).group(1))

def made(): # processes and threads, since the machine was started
    with open("/proc/stat") as f:
        return int(re.search(r"^processes (\d+)", f.read(), re.M).group(1))

time.sleep(4)
counts = []
for _ in range(2):
    before, others = slept(), made()
    time.sleep(3)
    if made() == others:
        counts.append(slept() - before)
size = os.stat(tmp + "/o.bin").st_size
while os.stat(tmp + "/o.bin").st_size == size: # right behind a flush: the next one is a second away
    time.sleep(0.01)
now, others = time.clock_gettime_ns(time.CLOCK_MONOTONIC), made()
newcomer = subprocess.Popen([tmp + "/newcomer", "deep", "20", "2"])
newcomer.wait()
alone = made() - others <= 3
record.wait()
known.kill()
print(min(counts, default="-"), now, "alone" if alone else "-")
EOF
# deferred FILE TIME: the number of stacks that were finished in user space since TIME
deferred() {
	cprof-dump "$1" | awk -v since="$2" '$1 == "cost" && $3 == "what=stacks-deferred" {
		n = substr($4, 7); if (substr($2, 6) + 0 < since + 0) before = n } END { print n - before }'
}

# wakes DESCRIPTION -lt|-ge: compares with four wakes a second, over seconds without new processes
wakes() {
	if [ "$least" = - ]; then skip "$1" "other processes come and go here"; else ok "$1 ($least)" [ "$least" "$2" 10 ]; fi
}

watch() { # OPTION...
	python3 "$tmp/watch.py" "$tmp" "$@" >"$tmp/watched"
}

ok "a quiet machine is watched" watch
read -r least now alone <"$tmp/watched"
wakes "with nothing but what is known it wakes less than ten times in three seconds" -lt
cprof-sym "$tmp/o.bin" >"$tmp/o.sym" 2>"$tmp/err"
all=$(cprof-fold -U --comm newcomer "$tmp/o.sym" | awk '{ n += $NF } END { print n + 0 }')
whole=$(cprof-fold -U --truncated --comm newcomer "$tmp/o.sym" | grep -Ev 'truncated' | awk '{ n += $NF } END { print n + 0 }')
ok "a program that starts while it sleeps has samples ($all)" [ "$all" -gt 40 ]
ok "  whose stacks are whole ($whole)" [ "$whole" -gt $((all * 95 / 100)) ]
cprof-fold -U --comm newcomer "$tmp/o.sym" >"$tmp/folded"
like "  with names" "$(cat "$tmp/folded")" 'main;(dive;){18,20}'
# Without a wake-up, all samples of the first second would need a user walk; with it, only those
# before the table.
if [ "$alone" = alone ]; then
	left=$(deferred "$tmp/o.bin" "$now")
	ok "  few of which were left to user space ($left)" [ "$left" -lt 60 ]
else
	skip "  few of which were left to user space" "other processes come and go here"
fi

ok "it is watched with waits, which have stacks of their own" watch --off-cpu=1s
read -r least now alone <"$tmp/watched"
wakes "  and does not rest" -ge
done_testing
