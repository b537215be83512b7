#!/bin/sh
# --by process and thread: one row each, whatever names its threads have and had; --comm finds both names.
. "$(dirname "$0")/../lib/lib.sh"

# A shell that becomes java with a named thread and a renamed one; a process whose main thread is not known.
cat >"$tmp/c.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="sh"
frame id=1 process=1 kind=exact address=0x401000
node id=16 parent=0 frame=1
sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
process id=2 time=110 pid=42 nspid=0 parent=1 start=5 gen=0 via=exec
thread id=2 time=110 process=2 tid=42
comm time=110 thread=2 comm="java"
thread id=3 time=110 process=2 tid=43
comm time=110 thread=3 comm="java"
frame id=2 process=2 kind=exact address=0x401000
node id=17 parent=0 frame=2
sample time=120 event=1 cpu=0 thread=2 user=17 kernel=0 weight=10000000
sample time=130 event=1 cpu=0 thread=3 user=17 kernel=0 weight=10000000
comm time=140 thread=3 comm="GC Thread#0"
sample time=150 event=1 cpu=0 thread=3 user=17 kernel=0 weight=10000000
process id=3 time=10 pid=50 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=4 time=10 process=3 tid=51
comm time=10 thread=4 comm="worker"
thread id=5 time=10 process=3 tid=52
comm time=10 thread=5 comm="other"
sample time=160 event=1 cpu=0 thread=4 user=0 kernel=0 weight=10000000
sample time=170 event=1 cpu=0 thread=5 user=0 kernel=0 weight=10000000
end time=180 reason=closed samples=6
flush
X
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1

rows() { cprof-top -o tsv --no-names "$@" "$tmp/c.bin" 2>"$tmp/err" | sed 1d | cut -f 1,2 | tr '\t\n' ' ,'; }
is "a process is one row, by the name of its main thread after the exec" "$(rows --by process)" \
	"java-42 4,worker-50 2,"
is "a thread is one row, by its last name" "$(rows --by thread)" \
	"GC Thread#0-42/43 2,java-42/42 2,other-50/52 1,worker-50/51 1,"
is "commands are the names that threads had" "$(rows --by comm)" "java 2,GC Thread#0 1,other 1,sh 1,worker 1,"
is "the roots of cprof-fold are the same" "$(cprof-fold --no-names --by process,function "$tmp/c.bin" |
	sed 's/;.* / /' | awk '{ n[$1] += $NF } END { for (i in n) print i, n[i] }' | sort | tr '\n' ,)" \
	"java-42 4,worker-50 2,"
is "  and with nanoseconds" "$(cprof-fold --no-names --by process --weight ns "$tmp/c.bin" | tr '\n' ,)" \
	"java-42 40000000,worker-50 20000000,"
is "  and where other captures are compared" \
	"$(cprof-diff --by process -o tsv "$tmp/c.bin" "$tmp/c.bin" 2>"$tmp/err" |
		sed 1d | cut -f 1,3 | sort | tr '\t\n' ' ,')" "java 4,worker 2,"

is "--comm finds all threads of a command" "$(rows --by thread --comm java)" \
	"GC Thread#0-42/43 2,java-42/42 1,"
is "  as it was named at that time" "$(rows --by thread --comm sh)" "java-42/42 1,"
is "  and threads by their own name" "$(rows --by thread --comm 'GC*')" "GC Thread#0-42/43 1,"
is "--tid main: the main thread alone" "$(rows --by thread --comm java --tid main)" "java-42/42 1,"
is "  with another" "$(rows --by thread --tid main,51)" "java-42/42 2,worker-50/51 1,"
status "  --pid has no such word" 2 cprof-top --pid main "$tmp/c.bin"
is "  and not others of their process" "$(rows --by thread --comm other)" "other-50/52 1,"
done_testing
