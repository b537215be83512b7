#!/bin/sh
# cprof-sym with a time window: samples of other times are left out, and a view of that window gets the same
# bytes as without.
. "$(dirname "$0")/../lib/lib.sh"
TZ=UTC
export TZ
cd "$tmp" || exit 1

# Two segments of a minute, with waits, code that moves in one nanosecond, and invalid samples
segment() { # MINUTE
	b=$(($1 * 60 + 1000))
	cat <<X
segment major=1 minor=3 least=1
meta key="host" value="h"
meta key="start-realtime-ns" value="$((1795269600 + $1 * 60))000000000"
meta key="start-monotonic-ns" value="${b}000000000"
meta key="waits-since-monotonic-ns" value="$((b - 2))000000000"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=5 name="page-faults" unit="events" period=1 millihertz=0
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="x$1"
process id=2 time=10 pid=43 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=2 time=10 process=2 tid=43
comm time=10 thread=2 comm="y"
file id=1 major=8 minor=1 inode=7 generation=0 build-id= path="/nowhere/one"
file id=2 major=8 minor=1 inode=8 generation=0 build-id= path="/nowhere/two"
mapping time=10 process=1 start=0x1000 length=0x1000 offset=0x0 prot=5 file=1
mapping time=10 process=2 start=0x1000 length=0x1000 offset=0x0 prot=5 file=1
frame id=1 process=1 kind=exact address=0x1010
frame id=2 process=2 kind=exact address=0x1020
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
sample time=${b}500000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
sample time=$((b + 1))000000000 event=2 cpu=0 thread=2 user=17 kernel=0 weight=2500000000
sample time=$((b + 20))000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
mapping time=$((b + 21))000000000 process=1 start=0x1000 length=0x1000 offset=0x0 prot=5 file=2
sample time=$((b + 21))000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
mapping time=$((b + 21))000000000 process=1 start=0x1000 length=0x1000 offset=0x5000 prot=5 file=1
ran time=$((b + 22))000000000 thread=1 ns=70000000 span=22000000000
flush
sample time=$((b + 21))500000000 event=5 cpu=0 thread=2 user=17 kernel=0 weight=3
sample time=$((b + 40))000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
sample time=$((b + 41))000000000 event=1 cpu=0 thread=9 user=16 kernel=0 weight=10000000
sample time=$((b + 45))000000000 event=2 cpu=0 thread=2 user=17 kernel=0 weight=4000000000
sample time=$((b + 45))000000000 event=5 cpu=0 thread=2 user=17 kernel=0 weight=30
sample time=$((b + 50))000000000 event=1 cpu=0 thread=2 user=17 kernel=0 weight=10000000
ran time=$((b + 51))000000000 thread=1 ns=5100000000 span=29000000000
ran time=$((b + 52))000000000 thread=2 ns=900000000 span=54000000000
ran time=$((b + 52))100000000 thread=9 ns=1 span=1
ran time=$((b + 52))200000000 thread=1 ns=2 span=1
${2-}ledger time=$((b + 59))000000000 cpu=1 outcome=expected count=9
ledger time=$((b + 59))000000000 cpu=1 outcome=emitted count=8
ledger time=$((b + 59))000000000 cpu=1 outcome=ring-full count=1
end time=$((b + 59))500000000 reason=continues samples=11
flush
X
}
# The same with names from an earlier run; the second epoch's name comes after a sample that is left out.
names() {
	cat <<X
string id=1 text="first"
string id=2 text="second"
string id=3 text="third"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=1 from=$(($1 * 60 + 1021))000000000 level=0 source=symtab name=2 offset=0 file=0 line=0
symbol frame=1 from=$(($1 * 60 + 1021))000000001 level=0 source=symtab name=3 offset=0 file=0 line=0

X
}
for m in 0 1 2; do
	segment $m | cprof-dump -r >raw$m.bin
	segment $m "$(names $m)
" | cprof-dump -r >named$m.bin
done
cat raw0.bin raw1.bin raw2.bin >raw.bin
cat named0.bin named1.bin named2.bin >named.bin
head -c -40 raw0.bin >cut.bin
cat raw1.bin >>cut.bin

asked="cprof-fold W|cprof-fold -a --truncated W|cprof-fold --wall W|cprof-fold --wall -t --container W|cprof-fold --event page-faults W|cprof-fold -o tsv --interval 5 --wall W|cprof-fold --by process W
cprof-top W|cprof-top -v --wall W|cprof-top --by module --event off-cpu W|cprof-flame W|cprof-flame -o svg --wall W|cprof-flame --heatmap W|cprof-diff --folded W other.bin|cprof-diff W other.bin|cprof-diff --wall W other.bin
cprof-convert -t callgrind W|cprof-convert -t perf W|cprof-convert -t perfscript W|cprof-convert -t perfscript --event off-cpu W|cprof-convert -t speedscope W|cprof-convert -t tsv --wall W|cprof-convert -t pprof W"
cprof-sym raw.bin >other.bin 2>/dev/null
# alike WHAT WINDOW FILE...: all commands give the same on the output of cprof-sym, with and
# without the window
alike() {
	what=$1 window=$2
	shift 2
	cprof-sym "$@" >whole.sym 2>/dev/null
	cprof-sym $window "$@" >window.sym 2>/dev/null
	cat "$@" | cprof-sym $window >pipe.sym 2>/dev/null
	wrong= n=0
	echo "$asked" | tr '|' '\n' >asked
	while read -r command; do
		command=$(echo "$command" | sed "s/ W/ $window/")
		case $command in *perf\ *|*speedscope*|*pprof*) "${command%% *}" -t "$(echo "$command" | sed 's/.*-t \([a-z]*\).*/\1/')" </dev/null 2>&1 | grep -q 'built without' && continue ;; esac
		n=$((n + 1))
		for f in whole window pipe; do
			cp $f.sym days.bin
			# except for the byte offset of damage
			{ $command days.bin 2>told; echo "status $?"; sed 's/block [0-9]* at byte [0-9]*//' told; } >$f.got
		done
		# perf's format has the processes of all segments; cprof-sym leaves out some
		# segments of files.
		case $command in *'-t perf '*) [ "$what" = "ten seconds of one" ] || cp whole.got window.got ;; esac
		cmp -s whole.got window.got && cmp -s whole.got pipe.got || { wrong="$wrong $command;"; diff whole.got window.got >differs; diff whole.got pipe.got >>differs; }
	done <asked
	is "$what: the same to all who ask for that time" "$wrong" ""
	[ -z "$wrong" ] || diag "$(head -20 differs)"
	[ "$n" -gt 15 ] || fail "enough of them"
}
alike "ten seconds inside of a segment" "--from 14:00:35 --to 14:00:45" raw.bin
alike "ten seconds of one" "--from 14:00:35 --to 14:00:45" raw0.bin
alike "  of files" "--from 14:00:35 --to 14:00:45" raw0.bin raw1.bin raw2.bin
alike "  with names" "--from 14:00:35 --to 14:00:45" named.bin
alike "behind an edge" "--from 14:00:59 --to 14:01:21" raw.bin
alike "before it, where a wait reaches back over it" "--from 14:00:55 --to 14:01" raw.bin
alike "no sample" "--from 14:00:51 --to 14:00:57" raw.bin
alike "one that was cut" "--from 14:00:01 --to 14:01:30" cut.bin
alike "each day" "--from 14:01:30" named.bin
cprof-sym --from 14:00:25 --to 14:00:45 raw.bin 2>/dev/null >once.bin
alike "twice" "--from 14:00:35 --to 14:00:45" once.bin

cprof-sym --from 14:00:35 --to 14:00:45 named0.bin 2>/dev/null | cprof-dump >text
is "what is written: samples of the window" "$(grep '^sample' text | sed 's/ cpu=.*//' | tr '\n' ,)" \
	"sample time=1040000000000 event=1,sample time=1041000000000 event=1,sample time=1045000000000 event=2,"
is "  others by the first of each epoch, and in one" "$(grep '^left-out' text)" "left-out first=1000500000000 event=1 thread=1 samples=1 weight=10000000 last=1000500000000
left-out first=1001000000000 event=2 thread=2 samples=1 weight=2500000000 last=1001000000000
left-out first=1021000000000 event=1 thread=1 samples=1 weight=10000000 last=1021000000000
left-out first=1020000000000 event=1 thread=0 samples=2 weight=20000000 last=1050000000000
left-out first=1021500000000 event=5 thread=0 samples=2 weight=33 last=1045000000000"
is "  what ran in it, by the time without waits" "$(grep '^ran' text)" "ran time=1052100000000 thread=9 ns=1 span=1
ran time=1045000000000 thread=1 ns=1758620690 span=10000000000
ran time=1052200000000 thread=1 ns=2 span=1
ran time=1045000000000 thread=2 ns=113684211 span=10000000000"
is "  the account is that of the segment" "$(grep -c -E '^(ledger|end) ' text)" 4
is "its text is read back" "$(cprof-dump -r text | cprof-dump | cksum)" "$(cksum <text)"
is "  and it is all there is to a name" "$(cprof-dump -r text | cprof-fold --from 14:00:35 --to 14:00:45 2>/dev/null)" "x0;third 1"
{ cat text; segment 0 | sed 's/^sample time=\([0-9]*\) event=1 .*/left-out first=\1 event=1 thread=7 samples=1 weight=1 last=\1/'; } | cprof-dump -r 2>/dev/null >bad.bin
status "one of a thread that is not defined" 3 cprof-top bad.bin
status "more samples than anybody could take" 3 sh -c 'segment() { cat text; }; segment | sed "s/ samples=2 / samples=18446744073709551615 /" | cprof-dump -r | cprof-top'

# No data in the window
status "no segment is of that time" 0 cprof-sym --from 2026-11-22T01:00 --to 2026-11-22T02:00 raw0.bin raw1.bin
is "  which is said, with what there is" "$(cat err)" \
	"cprof-sym: no segment is in the given time: 2 segments cover 2026-11-21T14:00:00 to 2026-11-21T14:01:59"
cp out nothing
for to in cprof-fold "cprof-fold --wall --from 2026-11-22T01:00" cprof-top "cprof-flame --from 01:00 --to 02:00" "cprof-convert -t callgrind" cprof-sym cprof-dump; do
	status "  an empty capture to $to" 0 sh -c "$to <nothing"
done
status "it is no capture beside another one" 0 sh -c 'cat nothing raw0.bin | cprof-dump'
status "nothing before nothing" 2 cprof-sym --from 2026-11-22T02:00 --to 2026-11-22T01:00 raw0.bin
like "  is said" "$(cat err)" 'cprof-sym: --from is not before --to'
status "  nor the same time of each day" 2 cprof-fold --from 14:00 --to 14:00 raw0.bin
cprof-sym --from 23:00 --to 14:00:30 raw0.bin raw1.bin 2>err | cprof-fold --from 23:00 --to 14:00:30 >got 2>/dev/null
is "  but a night is one" "$(cut -d' ' -f1 got | cut -d';' -f1 | sort -u | xargs)" "x0"
like "    which is said" "$(cat err)" 'cprof-sym: --from is later in the day than --to: the time window spans midnight, on each day$'
done_testing
