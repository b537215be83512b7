#!/bin/sh
# cprof-top --what-if: the question, its answers, and captures without them.
. "$(dirname "$0")/../lib/lib.sh"

# main (thread 1) waits for 100 ms for work (2), which runs f for 80 ms, in samples of 1 ms, and then g.
# Another process sleeps for 50 ms in between, until its timer.
{
	cat <<'X'
segment major=1 minor=6 least=1
meta key="start-monotonic-ns" value="1"
event id=1 name="cpu-clock" unit="ns" period=1000000 millihertz=1000000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=3 name="off-cpu:uninterruptible" unit="ns" period=0 millihertz=0
event id=4 name="off-cpu:run-queue" unit="ns" period=0 millihertz=0
flush
process id=1 time=0 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=0 pid=9 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=0 process=1 tid=42
thread id=2 time=0 process=1 tid=43
thread id=3 time=0 process=2 tid=9
comm time=0 thread=1 comm="main"
comm time=0 thread=2 comm="work"
comm time=0 thread=3 comm="other"
frame id=1 process=1 kind=exact address=0x1
frame id=2 process=1 kind=exact address=0x2
frame id=3 process=1 kind=exact address=0x3
frame id=4 process=2 kind=exact address=0x4
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
node id=18 parent=0 frame=3
node id=19 parent=0 frame=4
string id=1 text="join"
string id=2 text="f"
string id=3 text="g"
string id=4 text="nap"
X
	for i in 1 2 3 4; do
		echo "symbol frame=$i from=0 level=0 source=symtab name=$i offset=0 file=0 line=0"
	done
	awk 'BEGIN {
		for (i = 1; i <= 100; i++) {
			if (i == 60) {
				printf "sample time=60000000 event=2 cpu=1 thread=3 user=19 kernel=0 "
				print "weight=50000000"
				print "woken time=60000000 thread=3 slept=50000000 queued=0 by=timer waker=0"
			}
			printf "sample time=%d000000 event=1 cpu=0 thread=2 ", i
			printf "user=%d kernel=0 weight=1000000\n", i <= 80 ? 17 : 18
		}
	}'
	cat <<'X'
sample time=100000000 event=2 cpu=1 thread=1 user=16 kernel=0 weight=100000000
woken time=100000000 thread=1 slept=100000000 queued=0 by=task waker=2
ran time=100000000 thread=2 ns=100000000 span=100000000
end time=100000000 reason=closed samples=102
flush
X
} >"$tmp/a.txt"
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
cprof-top --what-if f=-50% "$tmp/a.bin" >"$tmp/got"
like "the question" "$(cat "$tmp/got")" '^f: 50 % less than the 80\.00ms that it ran \(80 samples\)$'
like "  the time of the process would be shorter by about 40 ms" "$(cat "$tmp/got")" \
	'^ *100\.00ms +50\.22ms +67\.86ms +32\.14-49\.78%  main-42$'
like "  another one would not" "$(cat "$tmp/got")" '^ *50\.00ms .* no effect  other-9$'
like "  what is assumed" "$(cat "$tmp/got")" '^Assumed: '
rows() { cprof-top -o tsv --what-if "$@" "$tmp/a.bin"; }
is "rows" "$(rows f=-50%)" "$(printf '%s\t%s\t%s\t%s\t%s\n' \
	name wall_ns saved_least_ns saved_most_ns effect \
	main-42 100000000 32142556 49778243 1 other-9 50000000 0 1920799 0)"
is "  by a factor" "$(rows f=0.5x)" "$(rows f=-50%)"
is "  by a pattern" "$(rows 'f*=-50%')" "$(rows f=-50%)"
like "  without the function" "$(rows f=off)" \
	'^main-42	100000000	6[0-9]{7}	9[0-9]{7}	1$'
is "  by thread" "$(rows f=-50% --by thread | cut -f1 | xargs)" "name main-42/42 work-42/43 other-9/9"
is "  of one thread" "$(rows f=-50% --by thread --tid 43 | cut -f1 | xargs)" "name work-42/43"
like "  in JSON" "$(cprof-top -o json --what-if f=-50% -n 1 "$tmp/a.bin")" \
	'^\{"name":"main-42","wall_ns":100000000,'
like "of one process" "$(cprof-top --what-if g=off --pid 42 "$tmp/a.bin")" '%  main-42$'

# A server waits in next_job for 4 ms, until the network has a request, and runs f for 4 ms, then g for 2 ms.
{
	sed '/^process/,$d; /^flush/d' "$tmp/a.txt"
	cat <<'X'
flush
process id=1 time=0 pid=50 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=0 process=1 tid=50
comm time=0 thread=1 comm="server"
frame id=1 process=1 kind=exact address=0x1
frame id=2 process=1 kind=exact address=0x2
frame id=3 process=1 kind=exact address=0x3
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
node id=18 parent=0 frame=3
string id=1 text="next_job"
string id=2 text="f"
string id=3 text="g"
X
	for i in 1 2 3; do
		echo "symbol frame=$i from=0 level=0 source=symtab name=$i offset=0 file=0 line=0"
	done
	awk 'BEGIN {
		for (i = 1; i <= 21; i++) {
			printf "sample time=%d0000000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=4000000\n", i
			printf "woken time=%d0000000 thread=1 slept=4000000 queued=0 by=network waker=0\n", i
			for (j = 1; i <= 20 && j <= 6; j++) {
				printf "sample time=%d%d000000 event=1 cpu=0 thread=1 user=%d", i, j, j <= 4 ? 17 : 18
				print " kernel=0 weight=1000000"
			}
		}
	}'
	echo 'end time=210000000 reason=closed samples=141'
	echo flush
} >"$tmp/r.txt"
cprof-dump -r "$tmp/r.txt" >"$tmp/r.bin"
cprof-top --what-if f=-50% --requests next_job "$tmp/r.bin" >"$tmp/got"
like "requests" "$(cat "$tmp/got")" \
	'^20 requests, each from the end of a wait in next_job to the thread.s next one$'
like "  they would be shorter by about 2 ms of 6" "$(cat "$tmp/got")" \
	'^ *20 +6\.00ms +3\.51ms +4\.39ms +26\.79-41\.48%  server-50$'
requests() { cprof-top -o tsv --what-if f=-50% --requests "$@"; }
like "  how long they took" "$(grep -A 2 '^How long' "$tmp/got" | tail -n 1)" \
	'^ *20 +6\.00ms +6\.00ms +6\.00ms +6\.00ms  server-50$'
is "  as rows" "$(requests 'next*' "$tmp/r.bin")" "$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
	name mean_ns saved_least_ns saved_most_ns effect requests median_ns p90_ns p99_ns \
	server-50 6000000 1607127 2488912 1 20 6000000 6000000 6000000)"
is "  of a thread" "$(requests next_job --by thread "$tmp/r.bin" | cut -f1,6 | xargs)" \
	"name requests server-50/50 20"
unlike "  all waits separate them" "$(cat "$tmp/got")" 'too short'
sed 's/ weight=4000000$/ weight=4100000/' "$tmp/r.txt" | cprof-dump -r >"$tmp/s.bin"
like "waits too short to separate requests are reported" \
	"$(cprof-top --what-if f=-50% --requests next_job "$tmp/s.bin")" \
	'^2\.10ms of waits there are too short to separate requests'
status "requests of no thread" 1 cprof-top --what-if f=-50% --requests g "$tmp/r.bin"
like "  has its message" "$(cat "$tmp/err")" \
	'cannot find requests: no selected thread had two long waits in "g"'
status "--requests alone" 2 cprof-top --requests next_job "$tmp/r.bin"
like "  has its message" "$(cat "$tmp/err")" '--requests requires --what-if'

# Requests of 1 to 200 ms by one thread, the longest first, and of 1 s, three times, by another one.
{
	sed '/^sample/,$d
		/^comm/ {
			s/^/thread id=2 time=0 process=1 tid=51\n/
			s/$/\ncomm time=0 thread=2 comm="server"/
		}' "$tmp/r.txt"
	awk -v OFMT=%.0f '
		function pause(thread) {
			print "sample time=" now " event=2 cpu=0 thread=" thread,
				"user=16 kernel=0 weight=4000000"
			print "woken time=" now, "thread=" thread " slept=4000000 queued=0 by=network waker=0"
		}
		function serve(thread, ms) {
			pause(thread)
			print "sample time=" now + 500000 " event=1 cpu=0 thread=" thread, \
				"user=17 kernel=0 weight=1000000"
			now += ms * 1000000 + 4000000
		}
		BEGIN {
			CONVFMT = "%.0f"
			now = 10000000
			for (i = 200; i >= 1; i--)
				serve(1, i)
			pause(1)
			for (i = 0; i < 3; i++)
				serve(2, 1000)
			pause(2)
			print "end time=" now " reason=closed samples=407"
			print "flush"
		}'
} >"$tmp/q.txt"
cprof-dump -r "$tmp/q.txt" >"$tmp/q.bin"
lengths() {
	requests next_job --by "$1" "$tmp/q.bin" | tail -n +2 | cut -f1,2,6-9 | sort | tr '\t\n' ' ,'
}
is "percentiles of many requests" "$(lengths thread)" "$(printf '%s,' \
	'server-50/50 100500000 200 100000000 180000000 198000000' \
	'server-50/51 1000000000 3 1000000000 1000000000 1000000000')"
is "  of all threads" "$(lengths process)" "server-50 113793103 203 102000000 183000000 1000000000,"
like "  as text" "$(cprof-top --what-if f=-50% --requests next_job --by thread "$tmp/q.bin")" \
	'^ *200 +100\.50ms +100\.00ms +180\.00ms +198\.00ms  server-50/50$'

# Windows: of the process, 40 ms of which f has all; of the server, six requests that begin and end in it.
rows() { cprof-top -o tsv --what-if f=-50% "$@" "$tmp/a.bin" | tail -n +2 | cut -f1,2,5 | xargs; }
is "a time window" "$(rows --from 0.02s --to 0.06s)" "main-42 40000000 1 other-9 39999999 0"
is "  before a moment" "$(rows --to 0.02s)" "main-42 20000000 1 other-9 10000001 0"
is "  with threads that were there" "$(rows --to 0.005s)" "main-42 5000000 1"
like "  with samples of that time" "$(cprof-top --what-if f=-50% --from 0.02s --to 0.06s "$tmp/a.bin")" \
	'^f: 50 % less than the 40\.00ms that it ran \(40 samples\)$'
requests next_job --from 0.045s --to 0.11s "$tmp/r.bin" >"$tmp/got"
is "  with requests of that time" "$(cut -f2,6 "$tmp/got" | xargs)" "mean_ns requests 6000000 6"
status "  without the function" 1 cprof-top --what-if f=-50% --from 0.08s "$tmp/a.bin"

cprof-top -o md --what-if f=-50% "$tmp/a.bin" >"$tmp/got"
like "a brief" "$(cat "$tmp/got")" '^# cprof-top: elapsed time if `f` took 50 % less$'
like "  its command" "$(cat "$tmp/got")" '^- `cprof-top --what-if f=-50% '
like "  its rows" "$(cat "$tmp/got")" \
	'^\| 100\.00ms \| 50\.22ms \| 67\.86ms \| 32\.14-49\.78% \| `main-42` \|$'
like "  without an effect" "$(cat "$tmp/got")" '\| no effect \| `other-9` \|$'
like "  what is assumed" "$(cat "$tmp/got")" '^- Assumed: '
same='6\.00ms \| 6\.00ms \| 6\.00ms'
like "  of requests" "$(cprof-top -o md --what-if f=-50% --requests next_job "$tmp/r.bin")" \
	'^\| 6\.00ms \| 3\.51ms \| 4\.39ms \| 26\.79-41\.48% \| 20 \| '"$same"' \| `server-50` \|$'

status "a function that nobody ran" 1 cprof-top --what-if h=-50% "$tmp/a.bin"
like "  has its message" "$(cat "$tmp/err")" \
	'cannot find the function "h": no sample has it while it runs, and only running time can be shortened$'
status "  nor a thread's name, --uid" 1 cprof-top --what-if 'work-*=-50%' --uid=7 "$tmp/a.bin"
grep -v 'event=[234]\|^woken\|"off-cpu' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
status "a capture without waits" 2 cprof-top --what-if f=-50% "$tmp/b.bin"
like "  has its message" "$(cat "$tmp/err")" '--what-if is not available: no waiting time was recorded'
for bad in f f= =-50% f=-0% f=-101% f=50% f=2x f=-50 f=on; do
	status "not a question: $bad" 2 cprof-top --what-if "$bad" "$tmp/a.bin"
done
like "  the message has what is" "$(cat "$tmp/err")" 'expected FUNCTION=-50%, FUNCTION=0\.5x or FUNCTION=off'
for option in --cum --tree --blame "--by function" "--match f" --ci --latency "-w 1"; do
	status "--what-if and $option" 2 cprof-top --what-if f=-50% $option "$tmp/a.bin"
done
status "--what-if of folded text" 2 sh -c 'echo "a;b 1" | cprof-top --what-if b=off'
done_testing
