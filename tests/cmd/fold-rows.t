#!/bin/sh
# Rows for databases: host, time, command, process, container, stack and weight; sqlite's sums are
# cprof-top's.
. "$(dirname "$0")/../lib/lib.sh"

# host NAME REALTIME BASE SAMPLE...: a capture whose clock read BASE at REALTIME, with samples
# AFTER:THREAD:NODE
host() {
	cat <<X
segment major=1 minor=0 least=1
meta key="host" value="$1"
meta key="start-realtime-ns" value="$2"
meta key="start-monotonic-ns" value="$3"
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=$3 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=$3 pid=43 nspid=0 parent=0 start=6 gen=0 via=snapshot
thread id=1 time=$3 process=1 tid=42
thread id=2 time=$3 process=1 tid=99
thread id=3 time=$3 process=2 tid=43
comm time=$3 thread=1 comm="web"
comm time=$3 thread=2 comm="semi;worker"
cgroup id=7 path="/pod;x"
member time=$3 process=1 cgroup=7
string id=1 text="main"
string id=2 text="read<\"x\">"
frame id=1 process=1 kind=exact address=0x10
frame id=2 process=1 kind=exact address=0x20
frame id=3 process=2 kind=exact address=0x20
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
symbol frame=3 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
node id=16 parent=0 frame=1
node id=17 parent=16 frame=2
node id=18 parent=0 frame=3
X
	base=$3
	shift 3
	for sample; do
		set -- $(echo "$sample" | tr : ' ')
		echo "sample time=$((base + $1)) event=1 cpu=0 thread=$2 user=$3 kernel=0 weight=1000"
	done
	echo "end time=$((base + 99000000000)) reason=closed samples=0"
	echo flush
}
s=1000000000
host b $((1700000007 * s)) $((500 * s)) $((1 * s)):1:17 $((2 * s)):1:17 $((2 * s + 999999999)):2:16 $((3 * s)):1:17 $((2 * s)):3:18 $((13 * s)):1:16 >"$tmp/b.txt"
host a $((1700000005 * s)) $((90 * s)) $((1 * s)):1:17 $((6 * s)):1:17 $((4 * s)):2:16 >"$tmp/a.txt"
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
cprof-dump -r "$tmp/b.txt" >"$tmp/b.bin"
rows() { cprof-fold -o tsv "$@" 2>"$tmp/err"; }

rows "$tmp/b.bin" "$tmp/a.bin" | tr '\t' '|' >"$tmp/got"
cat >"$tmp/want" <<'X'
host|time|comm|pid|container|labels|stack|weight
a|1700000000000000000|semi:worker|42|/pod:x||semi:worker;main|1
a|1700000000000000000|web|42|/pod:x||web;main;read<"x">|1
b|1700000000000000000|[pid 43]|43|||[pid 43];main|1
b|1700000000000000000|semi:worker|42|/pod:x||semi:worker;main|1
b|1700000000000000000|web|42|/pod:x||web;main;read<"x">|2
a|1700000010000000000|web|42|/pod:x||web;main;read<"x">|1
b|1700000010000000000|web|42|/pod:x||web;main;read<"x">|1
b|1700000020000000000|web|42|/pod:x||web;main|1
X
same "rows by time, in slices of ten seconds that are those of all hosts" "$tmp/want" "$tmp/got"
cat "$tmp/a.bin" "$tmp/b.bin" | rows | tr '\t' '|' >"$tmp/got"
same "  the same in one stream and another order" "$tmp/want" "$tmp/got"
is "--interval" "$(rows --interval 0.5 "$tmp/a.bin" | cut -f2 | tr '\n' ,)" "time,1700000006000000000,1700000009000000000,1700000011000000000,"
is "--weight ns" "$(rows --weight ns "$tmp/a.bin" | awk -F'\t' 'NR > 1 { n += $8 } END { print n }')" 3000
is "stacks are made over, the origin stays" "$(rows --base main --focus read --reverse "$tmp/a.bin" | sed -n 2p | tr '\t' '|')" 'a|1700000000000000000|web|42|/pod:x||read<"x">;main|1'
is "--min: no sum changes" "$(rows --min 60 "$tmp/a.bin" "$tmp/b.bin" | awk -F'\t' 'NR > 1 { n += $8 } END { print n }')" 9
printf '%s\n' 'a;b\x 5' 'a;c 7' 'a;b\x 1' >"$tmp/t.folded"
is "folded text has neither host nor time" "$(rows "$tmp/t.folded" | tr '\t\n' '|,')" 'host|time|comm|pid|container|labels|stack|weight,||a||||a;b\x|6,||a||||a;c|7,'
is "  beside captures" "$(rows "$tmp/a.bin" "$tmp/t.folded" | wc -l)" 6
sed '/^meta/d' "$tmp/a.txt" | cprof-dump -r >"$tmp/n.bin"
is "without its clock no time is known" "$(rows --interval 3 "$tmp/n.bin" | cut -f1,2,8 | tail -n +2 | tr '\t\n' '|,')" "||1,||2,"
sed 's/\(realtime-ns" value=\)"[0-9]*"/\1"1"/' "$tmp/a.txt" | cprof-dump -r >"$tmp/n.bin"
is "  nor with one that has never been set" "$(rows --interval 1000 "$tmp/n.bin" | cut -f2,8 | tail -n +2 | tr '\t\n' '|,')" "|1,|2,"
rows "$tmp/b.bin" >"$tmp/b.tsv"
is "sums by stack are folded text" "$(awk -F'\t' 'NR > 1 { n[$7] += $8 } END { for (s in n) print s, n[s] }' "$tmp/b.tsv" | sort)" "$(cprof-fold "$tmp/b.bin" | sort)"

sed 's/^meta key="host".*/&\nmeta key="label.tier" value="a;b"\nmeta key="label.service" value="web"/' "$tmp/a.txt" | cprof-dump -r >"$tmp/l.bin"
is "labels of the capture, by name" "$(rows "$tmp/l.bin" "$tmp/a.bin" | cut -f1,6 | sort | uniq -c | tr -s ' \t' ' ')" " 3 a 
 3 a service=web,tier=a:b
 1 host labels"
is "--by: a label's values, and none" "$(cprof-fold --by label.service "$tmp/l.bin" "$tmp/a.bin")" "[no service] 3
web 3"
is "  containers" "$(cprof-fold --by container "$tmp/b.bin" | wc -l)" 2
is "  modules, processes, threads" "$(for b in module process thread; do cprof-fold --by $b "$tmp/b.bin" | awk '{ n += $NF } END { printf "%d ", n }'; done)" "6 6 6 "
is "  processes and their weights" "$(cprof-fold --by process "$tmp/a.bin" | tr '\n' ' ')" "web-42 3 "
is "  of folded text the outermost frame" "$(cprof-fold --by process "$tmp/t.folded")" "a 13"
status "  which has no container" 2 cprof-fold --by container "$tmp/t.folded"

if cprof-fold -o ndjson "$tmp/a.bin" >"$tmp/a.json" 2>"$tmp/err"; then
	is "ndjson: the same rows" "$(python3 -c '
import json, sys
for line in sys.stdin:
    print("\t".join("" if v is None else str(v) for v in json.loads(line).values()))' <"$tmp/a.json")" "$(rows "$tmp/a.bin" | tail -n +2)"
else
	is "ndjson: without a library that is said" "$(cat "$tmp/err" | head -1)" "cprof-fold: -o ndjson and json are not available: built without jansson"
fi

# A database gets the same sums as cprof-top.
awk 'BEGIN { srand(4); for (i = 0; i < 3000; i++) { s = "comm" int(rand() * 3); d = int(rand() * 9); for (k = 0; k < d; k++) s = s ";f" int(rand() * rand() * 30); print s, 1 + int(rand() * 9) } }' >"$tmp/r.folded"
if command -v sqlite3 >/dev/null; then
	rows "$tmp/b.bin" "$tmp/a.bin" "$tmp/r.folded" >"$tmp/all.tsv"
	sql() { printf '%s\n' '.mode tabs' ".import $tmp/all.tsv f" "$1;" | sqlite3; }
	sql "select sum(weight), replace(stack, rtrim(stack, replace(stack, ';', '')), '') leaf from f group by leaf order by 2" >"$tmp/sql"
	cprof-top -n 0 "$tmp/b.bin" "$tmp/a.bin" "$tmp/r.folded" | sed '1,/flat%/d' |
		awk '$1 > 0 { n = $1; sub(/^ *([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)/, ""); print n "\t" $0 }' | sort -t"$(printf '\t')" -k2 >"$tmp/top"
	ok "there are functions" test "$(wc -l <"$tmp/sql")" -gt 20
	same "sqlite imports the rows and adds up what cprof-top does" "$tmp/top" "$tmp/sql"
	is "  and by command" "$(sql "select sum(weight) from f where comm = 'web'")" \
		"$(cprof-fold --comm web --tid main "$tmp/b.bin" "$tmp/a.bin" |
			awk '{ n += $NF } END { print n }')"
else
	skip "sqlite" "sqlite3 is not installed"
fi

for o in '-o xml' '-o tsv --sorted' '-o tsv -T' '-o tsv --interval 0' '--interval 5' '-o tsv --max-line 300' \
	'-o tsv --max-mem 9M' '--sorted --by process' '--by place'; do
	status "$o is usage" 2 cprof-fold $o "$tmp/a.bin"
done
status "the disk is full" 1 sh -c "cprof-fold -o tsv $tmp/a.bin >/dev/full"
is "no row is a table without rows" "$(rows --focus nowhere "$tmp/t.folded" | wc -l)" 1
done_testing
