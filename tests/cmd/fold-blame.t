#!/bin/sh
# cprof-fold --blame: the causes of waits, in captures whose answer is known.
. "$(dirname "$0")/../lib/lib.sh"

# main (thread 1) sleeps from 1000 to 101000 and is woken by work (2). Work ran until 21000, slept until its
# timer at 51000, was queued until 61000, and ran again. Its samples: two in f, one in g. Before, main waited
# for 500. Later it waits for 3000 for thread 3, of which nothing is known.
frames='process id=1 time=0 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=0 pid=9 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=0 process=1 tid=42
thread id=2 time=0 process=1 tid=43
thread id=3 time=0 process=2 tid=9
comm time=0 thread=1 comm="main"
comm time=0 thread=2 comm="work"
comm time=0 thread=3 comm="kworker"
frame id=1 process=1 kind=exact address=0x1
frame id=2 process=1 kind=exact address=0x2
frame id=3 process=1 kind=exact address=0x3
frame id=4 process=1 kind=exact address=0x4
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
node id=18 parent=0 frame=3
node id=19 parent=0 frame=4
string id=1 text="join"
string id=2 text="f"
string id=3 text="g"
string id=4 text="nap"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
symbol frame=3 from=0 level=0 source=symtab name=3 offset=0 file=0 line=0
symbol frame=4 from=0 level=0 source=symtab name=4 offset=0 file=0 line=0'
head='segment major=1 minor=6 least=1
meta key="start-monotonic-ns" value="1"
event id=1 name="cpu-clock" unit="ns" period=10000 millihertz=99000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=3 name="off-cpu:uninterruptible" unit="ns" period=0 millihertz=0
event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0
flush'
cat >"$tmp/a.txt" <<X
$head
$frames
sample time=5000 event=1 cpu=0 thread=2 user=17 kernel=0 weight=10000
sample time=51000 event=2 cpu=0 thread=2 user=19 kernel=0 weight=30000
sample time=61000 event=4 cpu=0 thread=2 user=19 kernel=0 weight=10000
woken time=61000 thread=2 slept=30000 queued=10000 by=timer waker=0
sample time=70000 event=1 cpu=0 thread=2 user=17 kernel=0 weight=10000
sample time=90000 event=1 cpu=0 thread=2 user=18 kernel=0 weight=10000
sample time=101000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=100500
sample time=101200 event=4 cpu=0 thread=1 user=16 kernel=0 weight=200
woken time=101200 thread=1 slept=100000 queued=200 by=task waker=2
sample time=105000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=3000
woken time=105000 thread=1 slept=3000 queued=0 by=task waker=3
end time=200000 reason=closed samples=8
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
is "a chain" "$(cprof-fold --blame --tid 42 "$tmp/a.bin")" \
'main;join;[sleeping] 500
main;join;[sleeping];<- kworker;[not recorded] 3000
main;join;[sleeping];<- work;f 40000
main;join;[sleeping];<- work;g 20000
main;join;[sleeping];<- work;nap;[sleeping];[timer] 30000
main;join;[sleeping];<- work;nap;[waiting for a CPU] 10000
main;join;[waiting for a CPU] 200'
sum() { awk '{ n += $NF } END { printf "%.0f\n", n }'; }
is "its sum is that of --wall" "$(cprof-fold --blame "$tmp/a.bin" | sum)" \
	"$(cprof-fold --wall "$tmp/a.bin" | sum)"

# A quota kept work from running in the first part of its time in the queue.
sed '/^event id=4/a\
event id=5 name="off-cpu:throttled" unit="ns" period=0 millihertz=0
s/^\(sample time=61000 .*\) weight=10000/\1 weight=4000/
s/^sample time=61000 .*/sample time=57000 event=5 cpu=0 thread=2 user=19 kernel=0 weight=6000\n&/
s/^woken time=61000 .*/& user=0 kernel=0 lock=0 owner=0 throttled=6000/' "$tmp/a.txt" >"$tmp/quota.txt"
cprof-dump -r "$tmp/quota.txt" >"$tmp/quota.bin"
is "time throttled is not that in the queue" "$(cprof-fold --blame --tid 42 "$tmp/quota.bin" | grep nap)" \
'main;join;[sleeping];<- work;nap;[sleeping];[timer] 30000
main;join;[sleeping];<- work;nap;[throttled] 6000
main;join;[sleeping];<- work;nap;[waiting for a CPU] 4000'
is "  and the sum is the same" "$(cprof-fold --blame "$tmp/quota.bin" | sum)" \
	"$(cprof-fold --wall "$tmp/a.bin" | sum)"
is "  it is nobody's fault" "$(cprof-fold --by culprit --comm work "$tmp/quota.bin" | tr '\n' ' ')" \
	'[nobody sampled] 4000 [throttled] 6000 '
is "  by function, too" "$(cprof-fold --by culprit,function --comm work "$tmp/quota.bin" | tr '\n' ' ')" \
	'[nobody sampled] 4000 [throttled] 6000 '
is "  in a window, from 54001 to 59001 ns" \
	"$(cprof-fold --by culprit --comm work --from 0.000054 --to 0.000059 "$tmp/quota.bin" | xargs)" \
	'[nobody sampled] 2001 [throttled] 2999'
is "  in callgrind" \
	"$(cprof-convert -t callgrind --wall --weight ns "$tmp/quota.bin" | sed -n 's/^summary: //p')" \
	'30000 133500 0 4200 6000'
sed 's/throttled=6000/throttled=99999/' "$tmp/quota.txt" | cprof-dump -r >"$tmp/b.bin"
is "  more than the time in the queue is all of it" \
	"$(cprof-fold --by culprit --comm work "$tmp/b.bin" | tr '\n' ' ')" '[throttled] 10000 '

like "with ids" "$(cprof-fold --blame -t --tid 42 "$tmp/a.bin")" \
	'^main-42/42;join;\[sleeping\];<- work-42/43;g 20000$'
like "with a pid" "$(cprof-fold --blame -p --tid 42 "$tmp/a.bin")" \
	'^main-42;join;\[sleeping\];<- work-42;g 20000$'
is "who ended the waits" "$(cprof-fold --by waker --tid 42 "$tmp/a.bin")" 'kworker-9/9 3000
work-42/43 100000'
like "a table" "$(cprof-top --by waker "$tmp/a.bin")" ' 100\.00us .* work-42/43$'
for i in 1 2; do cat "$tmp/a.bin"; done >"$tmp/b.bin"
is "  with the number of waits and the longest" "$(cprof-top --by waker -o tsv "$tmp/b.bin" | tail -n +2)" \
	'work-42/43	200000	75.188	2	100000
[timer]	60000	22.5564	2	30000
kworker-9/9	6000	2.25564	2	3000'
like "  of what waits ended in" "$(cprof-top --blame --tid 42 "$tmp/a.bin")" '^ *40\.00us .* f$'
like "a picture" "$(cprof-flame -o svg --blame "$tmp/a.bin")" '&lt;- work'
unlike "  whose timers and wakers are not functions without a name" \
	"$(cprof-flame -o svg --blame "$tmp/a.bin")" 'no name'

# The stack of a waker, between it and the time meanwhile
sed 's/by=task waker=2$/by=task waker=2 user=18 kernel=0 lock=0 owner=0/' "$tmp/a.txt" |
	cprof-dump -r >"$tmp/b.bin"
is "the waker's stack" "$(cprof-fold --blame --tid 42 "$tmp/b.bin" | grep waking)" \
'main;join;[sleeping];<- work;g;[waking];f 40000
main;join;[sleeping];<- work;g;[waking];g 20000
main;join;[sleeping];<- work;g;[waking];nap;[sleeping];[timer] 30000
main;join;[sleeping];<- work;g;[waking];nap;[waiting for a CPU] 10000'
is "  and the same sum" "$(cprof-fold --blame "$tmp/b.bin" | sum)" "$(cprof-fold --wall "$tmp/a.bin" | sum)"
sed 's/by=task waker=3$/by=task waker=3 user=18 kernel=0 lock=0 owner=0/' "$tmp/a.txt" |
	cprof-dump -r >"$tmp/b.bin"
status "  not one of another process" 3 cprof-fold --blame "$tmp/b.bin"

# Locks: main waits for a mutex that work holds, and work for a futex.
sed '/^woken/d; /^end/d' "$tmp/a.txt" | sed '$d' >"$tmp/locks.txt"
cat >>"$tmp/locks.txt" <<'X'
lock id=1 process=1 kind=mutex address=0x7000
lock id=2 process=1 kind=futex address=0x8000
sample time=151000 event=2 cpu=0 thread=2 user=19 kernel=0 weight=30000
woken time=151000 thread=2 slept=30000 queued=0 by=timer waker=0 user=0 kernel=0 lock=2 owner=0
sample time=160000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=60000
woken time=160000 thread=1 slept=60000 queued=0 by=task waker=2 user=18 kernel=0 lock=1 owner=2
end time=200000 reason=closed samples=8
flush
X
cprof-dump -r "$tmp/locks.txt" >"$tmp/locks.bin"
is "locks with their holders" "$(cprof-fold --by lock "$tmp/locks.bin")" \
'futex 0x8000 of pid 42;[holder not known];[timer] 30000
mutex 0x7000 of pid 42;held by work;<- work;g;[waking];[running, not sampled] 30000
mutex 0x7000 of pid 42;held by work;<- work;g;[waking];nap;[sleeping];[timer] 30000'
cprof-top --by lock "$tmp/locks.bin" >"$tmp/got"
like "  in a table" "$(cat "$tmp/got")" \
	'^ *60\.00us  66\.7%        1    60\.00us        1  mutex 0x7000 of pid 42$'
like "  with the holder" "$(cat "$tmp/got")" '^ *100\.0%  held by     work-42/43$'
like "  the place" "$(cat "$tmp/got")" '^ *100\.0%  wanted in   join$'
like "  the release" "$(cat "$tmp/got")" '^ *100\.0%  released in g$'
like "  and the time meanwhile" "$(cat "$tmp/got")" '^ *50\.0%  meanwhile   \[timer\]$'
is "  the first with a known holder" "$(grep -o 'mutex\|futex' "$tmp/got" | head -n 1)" mutex
is "  as rows" "$(cprof-top --by lock -o tsv "$tmp/locks.bin" | sed -n 2p)" \
	"$(printf 'mutex 0x7000 of pid 42\tmutex\t1\t60000\t60000\tholder\twork-42/43\t60000')"
is "  filtered by the waiting thread" "$(cprof-fold --by lock --comm work "$tmp/locks.bin" | wc -l)" 1
status "  alone" 2 cprof-top --by lock,thread "$tmp/locks.bin"
status "  not with another division" 2 cprof-top --by lock --blame "$tmp/locks.bin"
if cprof-top --by lock -o ndjson "$tmp/locks.bin" >"$tmp/rows" 2>/dev/null; then
	is "  as ndjson" "$(head -n 1 "$tmp/rows")" '{"lock":"mutex 0x7000 of pid 42","kind":"mutex",'\
'"waits":1,"ns":60000,"longest_ns":60000,"part":"holder","name":"work-42/43","part_ns":60000}'
	is "    as many as in tsv" "$(wc -l <"$tmp/rows" | tr -d ' ')" \
		"$(cprof-top --by lock -o tsv "$tmp/locks.bin" | sed 1d | wc -l | tr -d ' ')"
	cprof-top --by lock -o json "$tmp/locks.bin" >"$tmp/rows"
	like "  as json" "$(head -n 1 "$tmp/rows")" '^\{"unit":"ns","total":[0-9]+,"shown":2,"of":2,'
	is "    the same rows" "$(sed '1d; $d; s/,$//' "$tmp/rows" | cksum)" \
		"$(cprof-top --by lock -o ndjson "$tmp/locks.bin" | cksum)"
fi
cprof-top --by lock -o md "$tmp/locks.bin" >"$tmp/brief"
like "  as a brief" "$(head -n 1 "$tmp/brief")" '^# cprof-top: 90\.00us of waits for 2 locks$'
like "    with the lock" "$(cat "$tmp/brief")" \
	'^\| 60\.00us \| 66\.7 \| 1 \| 60\.00us \| 1 \| .mutex 0x7000 of pid 42. \|'
like "    its holder and the places" "$(cat "$tmp/brief")" \
	'\| .work-42/43. 100 % \| .join. 100 % \| .g. 100 % \|$'
is "    within its budget" "$(cprof-top --by lock -o md --budget 400 "$tmp/locks.bin" | wc -c |
	awk '{ print ($1 <= 400) }')" 1
sed 's/lock=1 owner/lock=7 owner/' "$tmp/locks.txt" | cprof-dump -r >"$tmp/b.bin"
status "an undefined lock" 3 cprof-fold --by lock "$tmp/b.bin"

# Main goes to another group, and to another user, between two long waits at one site.
sed -e '/^thread id=1/i\
cgroup id=1 path="/first"\
cgroup id=2 path="/second"\
member time=0 process=1 cgroup=1\
owner time=0 process=1 user=7' -e '/^sample time=105000/i\
member time=101500 process=1 cgroup=2\
owner time=101500 process=1 user=8' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
for by in --in=/first --uid=7; do
	is "waits before a move, $by" "$(cprof-fold --blame "$by" --tid 42 "$tmp/b.bin")" \
		"$(cprof-fold --blame --tid 42 "$tmp/a.bin" | grep -v kworker)"
	is "  have the sum of --wall" "$(cprof-fold --blame "$by" "$tmp/b.bin" | sum)" \
		"$(cprof-fold --wall "$by" "$tmp/b.bin" | sum)"
done
for by in --in=/second --uid=8; do
	is "  and those after it, $by" "$(cprof-fold --blame "$by" "$tmp/b.bin")" \
		'main;join;[sleeping];<- kworker;[not recorded] 3000'
done
is "  below their groups" "$(cprof-fold --blame --container --in /second "$tmp/b.bin")" \
	'/second;main;join;[sleeping];<- kworker;[not recorded] 3000'
is "  the wakers too" "$(cprof-fold --by waker --in /second "$tmp/b.bin")" 'kworker-9/9 3000'

# Exports: the long wait is apart, by its waker, and the sums are the same.
if cprof-convert -t pprof --wall "$tmp/a.bin" >"$tmp/a.pb" 2>/dev/null; then
	like "pprof has a label" "$(gzip -dc "$tmp/a.pb" | tr -c '[:print:]' '\n')" '^work-42/43'
	for file in a b; do
		[ $file = a ] || grep -v '^woken' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
		cprof-convert -t pprof --wall "$tmp/$file.bin" 2>/dev/null |
			cprof-convert -f pprof -t stream |
			cprof-fold --no-names --wall 2>/dev/null >"$tmp/$file.folded"
	done 2>/dev/null
	same "  and the sums of a capture without wakers" "$tmp/a.folded" "$tmp/b.folded"
	ok "  which are some" test -s "$tmp/a.folded"
else
	skip "pprof has a label" "built without protobuf-c"
fi
if cprof-convert -t firefox --wall "$tmp/a.bin" >"$tmp/a.json" 2>/dev/null; then
	is "markers have wakers" "$(grep -o '"waker":"[^"]*"' "$tmp/a.json" | sort | tr '\n' ' ')" \
		'"waker":"[timer]" "waker":"kworker-9/9" "waker":"work-42/43" '
else
	skip "markers have wakers" "built without jansson"
fi

# Samples of minor 5 and earlier have no woken record, and of a later one that is lost nothing is known.
grep -v '^woken' "$tmp/a.txt" | cprof-dump -r >"$tmp/old.bin"
is "a capture without wakers" "$(cprof-fold --blame "$tmp/old.bin")" "$(cprof-fold --wall "$tmp/old.bin")"
sed 's/by=task waker=2/by=unknown waker=0/' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
like "no waker" "$(cprof-fold --blame --tid 42 "$tmp/b.bin")" \
	'^main;join;\[sleeping\];\[waker not known\] 100000$'
for by in disk network interrupt softirq; do
	sed "s/by=timer/by=$by/" "$tmp/a.txt" | cprof-dump -r | cprof-fold --blame --comm work >"$tmp/got"
	is "by $by" "$(grep ';\[sleeping\]' "$tmp/got")" "work;nap;[sleeping];[$by] 30000"
done
sed 's/slept=100000 /slept=900000000 /' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin" 2>/dev/null
status "a wait before all time" 3 cprof-fold --blame "$tmp/b.bin"
sed 's/weight=100500/weight=50000/' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
is "a part of the wait was lost: the rest is divided" "$(cprof-fold --blame --tid 42 "$tmp/b.bin" | sum)" \
	"$(cprof-fold --wall --tid 42 "$tmp/b.bin" | sum)"
like "  in proportion" "$(cprof-fold --blame --tid 42 "$tmp/b.bin")" '<- work;f [0-9]{5}$'

# Two segments: ids change, and the wait goes on.
{
	sed '/^sample time=70000/,$d' "$tmp/a.txt"
	echo 'end time=65000 reason=continues samples=3'
	echo flush
	echo "$head"
	echo "$frames" | sed '/^comm/s/thread=2/thread=7/; /tid=43/s/id=2/id=7/'
	sed -n '/^sample time=70000/,$p' "$tmp/a.txt" | sed 's/thread=2/thread=7/; s/waker=2/waker=7/'
} >"$tmp/two.txt"
cprof-dump -r "$tmp/two.txt" >"$tmp/two.bin"
is "a chain through two segments" "$(cprof-fold --blame --tid 42 "$tmp/two.bin")" \
	"$(cprof-fold --blame --tid 42 "$tmp/a.bin")"

# The thread that had the CPU while another one was queued for it
run='sample time=55000 event=1 cpu=0 thread=3 user=0 kernel=0 weight=10000'
sed "s/^sample time=61000.*/$run\\n&/" "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
is "who had the CPU" "$(cprof-fold --by culprit --comm work "$tmp/b.bin")" 'kworker-9/9 10000'
is "  or nobody was sampled" "$(cprof-fold --by culprit --comm work "$tmp/a.bin")" '[nobody sampled] 10000'
like "  which is a row with an interval" "$(cprof-top --by culprit --comm work "$tmp/b.bin")" \
	' 10\.00us 100\.00% +\(20\.65-100\.00\) .* kworker-9/9$'
busy='sample time=56000 event=1 cpu=0 thread=1 user=18 kernel=0 weight=30000'
other='sample time=57000 event=1 cpu=1 thread=1 user=18 kernel=0 weight=30000'
sed "s/^sample time=61000.*/$run\\n$busy\\n$other\\n&/" "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
by() { cprof-fold --by "$1" --comm work "$tmp/b.bin" | tr '\n' ' '; }
is "  by thread and function" "$(by culprit,thread,function)" 'kworker-9/9 2500 main-42/42;g 7500 '
is "  by process" "$(by culprit,process)" 'kworker-9 2500 main-42 7500 '
is "  by function" "$(by culprit,function)" 'kworker 2500 main;g 7500 '
is "  by container" "$(by culprit,container)" '[no cgroup] 10000 '
is "  of another thread" "$(cprof-fold --by culprit --tid 42 "$tmp/a.bin")" '[nobody sampled] 200'

status "--blame and --event" 2 cprof-fold --blame --event off-cpu "$tmp/a.bin"
status "--blame and --by thread" 2 cprof-fold --blame --by thread "$tmp/a.bin"
status "--blame and rows" 2 cprof-fold --blame -o tsv "$tmp/a.bin"
status "--blame and --by waker" 2 cprof-fold --blame --by waker "$tmp/a.bin"
status "--blame of samples" 2 cprof-fold --blame --weight samples "$tmp/a.bin"
status "--blame of folded text" 2 sh -c 'echo "a;b 1" | cprof-fold --blame'
status "--blame and a heat map" 2 cprof-flame --blame --heatmap "$tmp/a.bin"
status "--blame and -w" 2 cprof-top --blame -w 1 "$tmp/a.bin"
status "cprof-diff has no wakers" 2 cprof-diff --by waker "$tmp/a.bin" "$tmp/a.bin"
cprof-dump -r "$tests/data/small.txt" >"$tmp/small.bin"
cprof-dump -r "$tests/data/small.txt" >"$tmp/other.bin"
record='no waiting time was recorded: record with cprof-record --off-cpu$'
lacking() {
	status "$*: waits that no capture has" 2 "$@" "$tmp/small.bin"
	like "  the message says how to record them" "$(cat "$tmp/err")" \
		"(small.bin|2 captures): .* is not available: $record"
}
for o in --wall "--event off-cpu:sleep" --blame "--by lock" "--by waker" "--by culprit"; do
	for c in cprof-top cprof-fold cprof-flame; do
		lacking $c $o
	done
done
for o in --wall "--event off-cpu"; do
	for c in "cprof-diff $tmp/other.bin" "cprof-convert -t callgrind" "cprof-convert -t tsv" \
		"cprof-convert -t perfscript" cprof-annotate; do
		lacking $c $o
	done
done
lacking cprof-top --what-if f=off
status "  of two captures" 2 cprof-fold --wall "$tmp/small.bin" "$tmp/other.bin"
like "  both are counted" "$(cat "$tmp/err")" "^cprof-fold: 2 captures: --wall is not available: $record"
status "a capture that has waits suffices" 0 cprof-fold --wall "$tmp/a.bin" "$tmp/small.bin"
like "  the other one is named" "$(cat "$tmp/err")" "small.bin: $record"
done_testing
