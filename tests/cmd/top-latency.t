#!/bin/sh
# --weight latency: time divided by the number of running threads, in captures whose answer is known.
. "$(dirname "$0")/../lib/lib.sh"

# Process 1: two samples alone in f, two while two of its threads ran in g, and four of its group. Process 2
# has no record of its own: it always ran alone.
cat >"$tmp/a.txt" <<'X'
segment major=1 minor=7 least=1
meta key="start-monotonic-ns" value="1"
meta key="start-realtime-ns" value="1700000000000000000"
meta key="parallelism" value="process,group"
event id=1 name="cpu-clock" unit="ns" period=10000 millihertz=99000
flush
process id=1 time=0 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=0 pid=9 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=0 process=1 tid=42
thread id=2 time=0 process=1 tid=43
thread id=3 time=0 process=2 tid=9
comm time=0 thread=1 comm="app"
comm time=0 thread=2 comm="app"
comm time=0 thread=3 comm="other"
frame id=1 process=1 kind=exact address=0x1
frame id=2 process=1 kind=exact address=0x2
frame id=3 process=2 kind=exact address=0x3
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
node id=18 parent=0 frame=3
string id=1 text="f"
string id=2 text="g"
string id=3 text="h"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
symbol frame=3 from=0 level=0 source=symtab name=3 offset=0 file=0 line=0
sample time=10000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000
parallel time=20000 process=1 running=2 group=4
sample time=20000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000
sample time=20000 event=1 cpu=1 thread=2 user=17 kernel=0 weight=10000
sample time=25000 event=1 cpu=1 thread=3 user=18 kernel=0 weight=10000
parallel time=30000 process=1 running=1 group=1
sample time=30000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000
end time=40000 reason=closed samples=5
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
is "time divided by the process's running threads" "$(cprof-fold --weight latency "$tmp/a.bin")" \
'app;f 20000
app;g 10000
other;h 10000'
is "  by the short option" "$(cprof-fold --latency "$tmp/a.bin")" \
	"$(cprof-fold --weight latency "$tmp/a.bin")"
is "  by those of its group" "$(cprof-fold --weight latency=container --comm app "$tmp/a.bin")" \
'app;f 20000
app;g 5000'
is "  as time it is what it was" "$(cprof-fold --weight ns --comm app "$tmp/a.bin")" \
'app;f 20000
app;g 20000'
cprof-top --latency --comm app "$tmp/a.bin" >"$tmp/got"
like "a table has both shares: of f" "$(cat "$tmp/got")" '^ *20\.00us +66\.67% +50\.00% .* f$'
like "  and of g" "$(cat "$tmp/got")" \
	'^ *10\.00us +33\.33% +50\.00% +100\.00% +10\.00us +33\.33% +50\.00%  g$'
like "  and says what it is" "$(cat "$tmp/got")" '^0\.00 s in which a process ran: 100 % user'
is "rows have them, too" "$(cprof-top --latency --comm app -o tsv "$tmp/a.bin")" \
"$(printf 'name\tflat\tflat_percent\tcpu_flat\tcpu_flat_percent\tcum\tcum_percent\tcpu_cum\tcpu_cum_percent
f\t20000\t66.6667\t20000\t50\t20000\t66.6667\t20000\t50
g\t10000\t33.3333\t20000\t50\t10000\t33.3333\t20000\t50')"
like "a tree" "$(cprof-top --latency --tree "$tmp/a.bin")" '^ *20\.00us  50\.00% .* f$'
like "a picture" "$(cprof-flame -o svg --latency "$tmp/a.bin")" 'g \(10\.00 [^ ]*s, 25\.00%'
cp "$tmp/a.bin" "$tmp/b.bin"
cprof-diff --weight latency -o tsv "$tmp/a.bin" "$tmp/b.bin" >"$tmp/got"
like "a comparison" "$(cat "$tmp/got")" '^f	'

# In two segments, each of which begins with one running thread
{
	sed '/^sample time=25000/,$d' "$tmp/a.txt"
	echo 'end time=25000 reason=continues samples=3'
	echo flush
	sed '/^sample time=10000/,/^sample time=20000 event=1 cpu=1/d' "$tmp/a.txt"
} | cprof-dump -r >"$tmp/two.bin"
is "segments" "$(cprof-fold --latency "$tmp/two.bin")" "$(cprof-fold --latency "$tmp/a.bin")"

# Filters pass the records on, those before the window too.
sed 's/^sample time=30000/parallel time=40000 process=1 running=2 group=2\n&/' "$tmp/a.txt" |
	cprof-dump -r | cprof-sym 2>/dev/null >"$tmp/named.bin"
is "cprof-sym passes them on" "$(cprof-dump "$tmp/named.bin" | grep -c '^parallel')" 3
cprof-sym --from @1700000000.000015 "$tmp/a.bin" 2>/dev/null >"$tmp/cut.bin"
is "  in a window" "$(cprof-dump "$tmp/cut.bin" | grep -c '^parallel')" 2

status "a capture without the numbers" 2 sh -c \
	"grep -v '^parallel\|parallelism' '$tmp/a.txt' | cprof-dump -r | cprof-fold --latency"
how='record with cprof-record --latency'
like "  and the message says what is missing" "$(cat "$tmp/err")" \
	"--weight latency is not available: nobody counted running threads: $how"
for bad in running=0 running=4294967296 process=3; do
	sed "s/^\(parallel time=20000.*\)${bad%=*}=[0-9]*/\1$bad/" "$tmp/a.txt" |
		cprof-dump -r >"$tmp/bad.bin"
	status "an invalid record: $bad" 3 cprof-fold --latency "$tmp/bad.bin"
done
status "--weight latency and --wall" 2 cprof-fold --latency --wall "$tmp/a.bin"
status "--weight latency and --event" 2 cprof-fold --latency --event cpu-clock "$tmp/a.bin"
status "--weight latency and --blame" 2 cprof-fold --latency --blame "$tmp/a.bin"
status "--weight latency and --ci" 2 cprof-top --latency --ci "$tmp/a.bin"
status "--weight latency and --source" 2 cprof-flame --latency --source "$tmp/a.bin"
status "--weight latency of folded text" 2 sh -c 'echo "a;b 1" | cprof-fold --latency'
status "cprof-convert does not know it" 2 cprof-convert -t pprof --weight latency "$tmp/a.bin"
done_testing
