#!/bin/sh
# Views: an option that no sample matches is answered with the names that there are, and with the nearest.
. "$(dirname "$0")/../lib/lib.sh"

box=/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope
cat >"$tmp/c.txt" <<X
segment major=1 minor=0 least=1
meta key="label.service" value="web"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="firefox"
process id=2 time=10 pid=43 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=2 time=10 process=2 tid=44
comm time=10 thread=2 comm="sh"
cgroup id=9 path="$box"
member time=10 process=2 cgroup=9
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/bin/db"
mapping time=10 process=1 start=0x400000 length=0x8000 offset=0x1000 prot=5 file=1
string id=1 text="alpha_main"
frame id=1 process=1 kind=exact address=0x401000
node id=16 parent=0 frame=1
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
sample time=101 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
comm time=101 thread=2 comm="bash"
sample time=102 event=1 cpu=0 thread=2 user=0 kernel=0 weight=10000000
end time=110 reason=closed samples=3
flush
X
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1

# there OPTION...: what cprof-top says after "the table is empty"
there() {
	cprof-top "$@" "$tmp/c.bin" 2>&1 >/dev/null |
		sed 's/.*the table is empty//; s/.*matches the options//'
}
is "--comm" "$(there --comm firefx)" \
	"; recorded commands: firefox (67 %), bash (33 %); did you mean --comm firefox?"
is "--pid" "$(there --pid 7)" "; recorded processes: 42 firefox (67 %), 43 bash (33 %)"
is "--tid" "$(there --tid 43)" "; recorded threads: 42 firefox (67 %), 44 bash (33 %)"
is "--in, a container" "$(there --in ffff)" "; recorded containers and control groups: 0123456789ab (100 %)"
is "  a control group" "$(there --in /user.slice)" \
	"; recorded containers and control groups: 0123456789ab (100 %)"
is "--label" "$(there --label service=wob)" \
	"; recorded labels: service=web; did you mean --label service=web?"
is "  none was recorded" "$(sed '/^meta/d' "$tmp/c.txt" | cprof-dump -r |
	cprof-top --label a=b 2>&1 >/dev/null | sed 's/.*options//')" "; recorded labels: none"
is "--event" "$(there --event cpu-clok)" "; recorded events: cpu-clock; did you mean --event cpu-clock?"
is "names that are there are not listed" "$(there --comm firefox --tid 44)" ""
is "  but those beside them" "$(there --comm firefox --tid 4)" \
	"; recorded threads: 42 firefox (67 %), 44 bash (33 %)"
guess="did you mean alpha_main?"
for o in --match --focus --base; do
	is "$o" "$(there $o '^alpha_mian$')" \
		"; no name matches $o \"^alpha_mian\$\"; heaviest: alpha_main (67 %), bash (33 %); $guess"
done
is "  which matches only what another option leaves out" "$(there --match alpha --exclude main)" \
	""
cprof-fold "$tmp/c.bin" >"$tmp/folded"
is "  in folded text" "$(cprof-top --match alpha_mian "$tmp/folded" 2>&1 >/dev/null | sed 's/.*; did/did/')" \
	"$guess"
for c in cprof-fold cprof-flame 'cprof-convert -t pprof' 'cprof-convert -t tsv' 'cprof-convert -t firefox'; do
	like "$c" "$($c --comm firefx "$tmp/c.bin" 2>&1 >/dev/null)" 'did you mean --comm firefox\?$'
done
like "cprof-diff" "$(cprof-diff --comm firefx "$tmp/c.bin" "$tmp/folded" 2>&1 >/dev/null)" \
	'0 samples of .*: the options exclude all that it has; .*did you mean --comm firefox\?$'

# A process that was another program before its exec, and waits more often than it runs
cat >"$tmp/w.txt" <<X
segment major=1 minor=0 least=1
meta key="start-realtime-ns" value="1795694400000000000"
meta key="start-monotonic-ns" value="1000000000"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="off-cpu:sleep" unit="ns" period=1 millihertz=0
flush
process id=1 time=1000000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000000000 process=1 tid=42
comm time=1000000000 thread=1 comm="cprof-record"
sample time=1100000000 event=1 cpu=0 thread=1 user=0 kernel=0 weight=10000000
process id=2 time=1200000000 pid=42 nspid=0 parent=1 start=5 gen=0 via=exec
thread id=2 time=1200000000 process=2 tid=42
comm time=1200000000 thread=2 comm="make"
sample time=1300000000 event=2 cpu=0 thread=2 user=0 kernel=0 weight=50000000
sample time=1400000000 event=2 cpu=0 thread=2 user=0 kernel=0 weight=50000000
process id=3 time=1200000000 pid=43 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=3 time=1200000000 process=3 tid=43
comm time=1200000000 thread=3 comm="db"
sample time=1500000000 event=1 cpu=0 thread=3 user=0 kernel=0 weight=10000000
end time=3000000000 reason=closed samples=5
flush
X
cprof-dump -r "$tmp/w.txt" >"$tmp/w.bin" || exit 1
said() {
	TZ=UTC cprof-top --no-names "$@" "$tmp/w.bin" 2>&1 >/dev/null |
		sed 's/.*the table is empty; //; s/none of \([0-9]*\) samples matches the options/\1/'
}
waits="2 waits are not counted (--wall)" day=2026-11-26
is "samples are those that the view counts, processes have their last name" "$(said --pid 7)" \
	"2; recorded processes: 42 make (50 %), 43 db (50 %); $waits"
is "  with waits, by time" "$(said --pid 7 --wall)" \
	"4; recorded processes: 42 make (92 %), 43 db (8 %)"
is "  commands as they were named at that time" "$(said --comm x)" \
	"2; recorded commands: cprof-record (50 %), db (50 %); $waits"
is "a window beyond the capture: its time" "$(said --from 50)" \
	"2; $waits; recorded: 0 to 2 s"
is "  of the clock" "$(said --from 2026-11-27 | sed 's/.*(--wall); //')" \
	"recorded: $day 12:00:00 to 12:00:02 UTC"

# Many names: the commonest
{
	sed '/^comm.*bash/d; /^end/d; /^flush/d' "$tmp/c.txt"
	for i in $(seq 10 29); do
		printf 'process id=%d time=110 pid=%d nspid=0 parent=0 start=5 gen=0 via=snapshot\n' \
			"$i" "$((100 + i))"
		printf 'thread id=%d time=110 process=%d tid=%d\n' "$i" "$i" "$((100 + i))"
		printf 'comm time=110 thread=%d comm="worker_%d"\n' "$i" "$i"
		for k in $(seq "$i"); do
			echo "sample time=$((200 + k)) event=1 cpu=0 thread=$i user=0 kernel=0 weight=1"
		done
	done
	echo 'end time=900 reason=closed samples=393'
} | cprof-dump -r >"$tmp/many.bin"
like "of many names the commonest eight" "$(cprof-top --comm nosuch "$tmp/many.bin" 2>&1 >/dev/null)" \
	'commands: worker_29 \(7 %\), worker_28 .*, worker_22 \(6 %\) and 14 more$'
done_testing
