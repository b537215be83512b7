#!/bin/sh
# The origin of samples: containers, control groups, labels, and wall-clock times
. "$(dirname "$0")/../lib/lib.sh"
TZ=UTC
export TZ
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

# 2026-11-21 14:03:20 UTC is 1795269800.
cat >"$tmp/a.txt" <<X
segment major=1 minor=0 least=1
meta key="start-realtime-ns" value="1795269800000000000"
meta key="start-monotonic-ns" value="1000000000"
meta key="label.service" value="shop"
meta key="label.env" value="prod=a"
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=1000000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=1000000000 pid=43 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=3 time=1000000000 pid=44 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000000000 process=1 tid=42
thread id=2 time=1000000000 process=2 tid=43
thread id=3 time=1000000000 process=3 tid=44
comm time=1000000000 thread=1 comm="web"
comm time=1000000000 thread=2 comm="ssh"
comm time=1000000000 thread=3 comm="none"
cgroup id=7 path="/kubepods/burstable/pod12345678-9abc-def0-1234-56789abcdef0/$id"
cgroup id=8 path="/system.slice/ssh.service"
member time=1000000000 process=1 cgroup=7
member time=1000000000 process=2 cgroup=8
frame id=1 process=1 kind=exact address=0x10
frame id=2 process=2 kind=exact address=0x10
frame id=3 process=3 kind=exact address=0x10
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
node id=18 parent=0 frame=3
sample time=1000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=6000000000 event=1 cpu=0 thread=2 user=17 kernel=0 weight=1000
sample time=11000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=16000000000 event=1 cpu=0 thread=3 user=18 kernel=0 weight=1000
end time=16000000000 reason=closed samples=4
flush
X
cprof-dump -r "$tmp/a.txt" >"$tmp/a.bin"
sed 's/value="shop"/value="mail"/; s/1795269800000000000/1795356200000000000/; s/"web"/"post"/' "$tmp/a.txt" | cprof-dump -r >"$tmp/b.bin"
cat "$tmp/a.bin" "$tmp/b.bin" >"$tmp/ab.bin"

roots() { cprof-fold "$@" 2>"$tmp/err" | sed 's/;[^;]* / /' | tr '\n' ,; }
is "all" "$(roots "$tmp/a.bin")" "none 1,ssh 1,web 2,"
is "a container by its id" "$(roots --in 0123456789 "$tmp/a.bin")" "web 2,"
is "  by its pod" "$(roots --in 12345678-9abc-def0-1234-56789abcdef0 "$tmp/a.bin")" "web 2,"
is "  by another's" "$(roots --in ffff "$tmp/a.bin")" ""
is "a control group" "$(roots --in /system.slice/ssh.service "$tmp/a.bin")" "ssh 1,"
is "  and those below it" "$(roots --in /system.slice/ --in /kubepods "$tmp/a.bin")" "ssh 1,web 2,"
is "  not those that begin alike" "$(roots --in /system.slice/ss "$tmp/a.bin")" ""
is "  the root has all that are in one" "$(roots --in / "$tmp/a.bin")" "ssh 1,web 2,"
is "a label" "$(roots --label service=mail "$tmp/ab.bin")" "none 1,post 2,ssh 1,"
is "two labels" "$(roots --label service=shop --label env=prod=a "$tmp/ab.bin")" "none 1,ssh 1,web 2,"
is "  of which one is not" "$(roots --label service=shop --label env=prod "$tmp/ab.bin")" ""

rows() { cprof-top "$@" 2>"$tmp/err" | sed -n '/^ *flat/,$p' | sed 1d | awk '{ print $1, $6, $7 }' | sed 's/ $//' | tr '\n' ,; }
is "rows by container" "$(rows --by container "$tmp/ab.bin")" "4 0123456789ab,2 /system.slice/ssh.service,2 [no cgroup],"
is "rows by label" "$(rows --by label.service "$tmp/ab.bin")" "4 mail,4 shop,"
is "  that is not there" "$(rows --by label.zone "$tmp/a.bin")" "4 [no zone],"
# An empty label is not a missing one; and a key may have any length.
long=$(printf 'k%.0s' $(seq 5000))
sed 's/label.env" value="prod=a"/label.env" value=""/; s/label.service/label.'$long/ "$tmp/a.txt" | cprof-dump -r >"$tmp/e.bin"
cat "$tmp/e.bin" "$tmp/a.bin" >"$tmp/ea.bin"
is "rows by a label that is empty" "$(rows --by label.env "$tmp/ea.bin")" "4 [empty env],4 prod=a,"
is "  as --label has it" "$(rows --by label.env --label env= "$tmp/ea.bin")" "4 [empty env],"
is "  a missing label is not empty" "$(rows --by label.zone --label zone= "$tmp/ea.bin")" ""
is "rows by a label of 5,000 letters" "$(rows --by label.$long "$tmp/e.bin")" "4 shop,"
is "  as --label has it" "$(rows --by label.$long --label $long=shop "$tmp/ea.bin")" "4 shop,"
is "  of one letter less" "$(rows --label ${long#k}=shop "$tmp/ea.bin")" ""
is "the container around the stack" "$(cprof-fold --container "$tmp/a.bin" | cut -d';' -f1,2 | tr '\n' ,)" "/system.slice/ssh.service;ssh,0123456789ab;web,[no cgroup];none,"

# A process that moves from one group to another and back: each sample belongs to the group in force at its
# record. A wait that ends after the move belongs to the second group alone. A process forked before the move
# stays, one forked after it begins in the new group.
cat >"$tmp/moves.txt" <<'X'
segment major=1 minor=3 least=1
meta key="host" value="h"
meta key="start-realtime-ns" value="1795269800000000000"
meta key="start-monotonic-ns" value="1000000000"
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
event id=3 name="page-faults" unit="events" period=1 millihertz=0
flush
process id=1 time=1000000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000000000 process=1 tid=42
comm time=1000000000 thread=1 comm="web"
cgroup id=7 path="/a"
cgroup id=8 path="/b"
member time=1000000000 process=1 cgroup=7
frame id=1 process=1 kind=exact address=0x10
node id=16 parent=0 frame=1
sample time=1000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=1000001000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=1000001500 event=3 cpu=0 thread=1 user=16 kernel=0 weight=7
process id=2 time=1000002000 pid=43 nspid=0 parent=1 start=5 gen=0 via=fork
thread id=2 time=1000002000 process=2 tid=43
comm time=1000002000 thread=2 comm="web"
flush
member time=1000003000 process=1 cgroup=8
flush
process id=3 time=1000003500 pid=44 nspid=0 parent=1 start=5 gen=0 via=fork
thread id=3 time=1000003500 process=3 tid=44
comm time=1000003500 thread=3 comm="web"
sample time=1000004000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=1000005000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=1000006000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=1000006500 event=3 cpu=0 thread=1 user=16 kernel=0 weight=20
sample time=1000007000 event=2 cpu=0 thread=1 user=16 kernel=0 weight=5000
sample time=1000008000 event=1 cpu=0 thread=2 user=0 kernel=0 weight=1000
sample time=1000009000 event=1 cpu=0 thread=3 user=0 kernel=0 weight=1000
sample time=1000010000 event=1 cpu=0 thread=3 user=0 kernel=0 weight=1000
flush
member time=1000011000 process=1 cgroup=7
flush
sample time=1000012000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
end time=1000013000 reason=closed samples=12
flush
X
cprof-dump -r "$tmp/moves.txt" >"$tmp/moves.bin"
by() { cprof-fold --by container "$@" 2>"$tmp/err" | tr '\n' ,; }
is "a process that moves: fold --by container" "$(by "$tmp/moves.bin")" "/a 4,/b 5,"
for g in '/a 4' '/b 5'; do
	is "  as --in ${g% *} has it" "$(by --in ${g% *} "$tmp/moves.bin")" "$g,"
	is "  and cprof-top of that" "$(rows --by container --in ${g% *} "$tmp/moves.bin")" "${g#* } ${g% *},"
done
is "  events that are counted" "$(by --event page-faults "$tmp/moves.bin")" "/a 7,/b 20,"
is "  waits" "$(by --event off-cpu "$tmp/moves.bin")" "/b 5000,"
is "  all that is time" "$(by --wall "$tmp/moves.bin")" "/a 4000,/b 10000,"
is "  --container" "$(cprof-fold --container "$tmp/moves.bin" | tr '\n' ,)" "/a;web 1,/a;web;[unknown] 3,/b;web 2,/b;web;[unknown] 3,"
is "  with process and thread" "$(cprof-fold --container -t "$tmp/moves.bin" | sed 's/;\[.*\] / /' | tr '\n' ,)" \
	"/a;web-42/42 3,/a;web-43/43 1,/b;web-42/42 3,/b;web-44/44 2,"
is "  rows for a database" "$(cprof-fold -o tsv "$tmp/moves.bin" | sed 1d | cut -f4,5,8 | tr '\t\n' ' ,')" "42 /a 3,43 /a 1,42 /b 3,44 /b 2,"
is "  and as JSON" "$(cprof-fold -o ndjson "$tmp/moves.bin" | sed 's/.*"container":"\([^"]*\)".*"weight":\([0-9]*\).*/\1 \2/' | sort | tr '\n' ,)" \
	"/a 1,/a 3,/b 2,/b 3,"
is "  cprof-top" "$(rows --by container "$tmp/moves.bin")" "5 /b,4 /a,"
is "  cprof-flame" "$(cprof-flame --by container "$tmp/moves.bin" 2>"$tmp/err" | "$here/flame-block.py" boxes | tr '\n' ,)" "/a 4 4,/b 5 5,"
grep -v '^member.*cgroup=8' "$tmp/moves.txt" | cprof-dump -r >"$tmp/stays.bin"
is "  cprof-diff" "$(cprof-diff --by container -o tsv "$tmp/stays.bin" "$tmp/moves.bin" 2>"$tmp/err" | sed 1d | cut -f1,3,4 | sort | tr '\t\n' ' ,')" "/a 9 4,/b 0 5,"
is "  cprof-flame --diff" "$(cprof-flame --diff --by container "$tmp/stays.bin" "$tmp/moves.bin" 2>"$tmp/err" | "$here/flame-block.py" boxes | tr '\n' ,)" "/a 9 4 9 4 0,/b 0 5 0 5 0,"
# A lost move is unknown; nothing else is lost with it.
is "  the group is not told of" "$(grep -v '^cgroup id=8' "$tmp/moves.txt" | cprof-dump -r | by -)" "/a 9,"
like "    which is said" "$(cat "$tmp/err")" "undefined cgroup"
at=$(LC_ALL=C grep -abo 'cpf' "$tmp/moves.bin" | sed -n '3s/:.*//p')
{ head -c "$at" "$tmp/moves.bin"; printf x; tail -c +$((at + 2)) "$tmp/moves.bin"; } >"$tmp/damaged.bin"
is "  the block that tells of it is damaged" "$(by "$tmp/damaged.bin")" "/a 9,"
status "    which is the status" 3 cprof-fold --by container "$tmp/damaged.bin"
is "  the capture ends before it comes back" "$(head -c $(($(wc -c <"$tmp/moves.bin") - 80)) "$tmp/moves.bin" | by -)" "/a 3,/b 5,"

is "from an offset" "$(roots --from 10 "$tmp/a.bin")" "none 1,web 1,"
is "a time of the clock" "$(roots --from 14:03:25 --to 14:03:35 "$tmp/a.bin")" "ssh 1,web 1,"
is "  of each day" "$(roots --from 14:03:25 --to 14:03:26 "$tmp/ab.bin")" "ssh 2,"
is "  alone, to midnight" "$(roots --from 14:03:30 "$tmp/a.bin")" "none 1,web 1,"
is "  alone, from midnight" "$(roots --to 14:03:25 "$tmp/a.bin")" "web 1,"
is "  over midnight" "$(roots --from 14:03:30 --to 14:03:21 "$tmp/a.bin")" "none 1,web 2,"
is "  where it is another time" "$(TZ=XYZ-3 roots --from 17:03:25 --to 17:03:26 "$tmp/a.bin")" "ssh 1,"
is "  by UTC all the same" "$(TZ=XYZ-3 roots --from 14:03:25Z --to 14:03:26Z "$tmp/a.bin")" "ssh 1,"
is "a moment" "$(roots --from 2026-11-21T14:03:25 --to '2026-11-21 14:03:30.5' "$tmp/ab.bin")" "ssh 1,web 1,"
is "  a day" "$(roots --from 2026-11-22 "$tmp/ab.bin")" "none 1,post 2,ssh 1,"
is "  with its zone" "$(TZ=XYZ-3 roots --from 2026-11-21T14:03:25Z --to 2026-11-21T17:03:26 "$tmp/a.bin")" "ssh 1,"
is "  since 1970" "$(roots --from @1795269805 --to @1795269805.5 "$tmp/a.bin")" "ssh 1,"
is "a span after the first sample" "$(roots --from 10s --to 1m30s "$tmp/a.bin")" "none 1,web 1,"
# Recorded an hour ago; the windows have minutes to spare.
begin=$(($(date +%s) - 3600))000000000
sed "s/1795269800000000000/$begin/" "$tmp/a.txt" | cprof-dump -r >"$tmp/now.bin"
is "a span before now" "$(roots --from -65m --to -30min "$tmp/now.bin")" "none 1,ssh 1,web 2,"
is "  in words" "$(roots --from '1 h 5 min ago' --to '30m ago' "$tmp/now.bin")" "none 1,ssh 1,web 2,"
is "  that has no sample" "$(roots --from '30 minutes ago' "$tmp/now.bin")" ""
is "  that ends earlier" "$(roots --to -2h "$tmp/now.bin")" ""
status "  turned around" 2 cprof-fold --from -10m --to -1h "$tmp/now.bin"
cprof-sym --from -65m --to -30m "$tmp/now.bin" >"$tmp/cut.bin" 2>/dev/null
is "  in cprof-sym, too" "$(roots "$tmp/cut.bin")" "none 1,ssh 1,web 2,"
is "commands by a pattern" "$(roots --comm 's?h' --comm 'w*' "$tmp/a.bin")" "ssh 1,web 2,"
is "  of another beginning" "$(roots --comm 's*e' --comm '?web' "$tmp/a.bin")" ""
is "  in folded text" "$(cprof-fold "$tmp/a.bin" | roots --comm '*e*')" "none 1,web 2,"
is "  in sorted text" "$(cprof-fold "$tmp/a.bin" | roots --sorted --comm '*s**h*')" "ssh 1,"
status "a name is not a process number" 2 cprof-top --pid 42,web "$tmp/a.bin"
like "  and another option takes it" "$(cat "$tmp/err")" 'invalid --pid "web" .*--comm'
status "a time that is none is refused" 2 cprof-fold --from 'last week' "$tmp/a.bin"
like "  with examples of those that are" "$(cat "$tmp/err")" '1m30s.*-1h.*1 hour ago.*14:03:20'
for wrong in 25:00 14:60 14:03:99 2026-13-01 2026-02-30 2026-11-21X 14:03x @ @x -1 1.x 1h30 ''; do
	status "no time: $wrong" 2 cprof-fold --from "$wrong" "$tmp/a.bin"
done
status "not before" 2 cprof-fold --from 2026-11-22 --to 2026-11-21 "$tmp/a.bin"
echo 'a;b 1' >"$tmp/t.folded"
for option in '--in x' '--label a=b' '--from 14:03' '--to 2026-11-22'; do
	status "folded text does not know: $option" 2 cprof-fold $option "$tmp/t.folded"
done
status "and not the container of its rows" 2 cprof-top --by container "$tmp/t.folded"
status "a label without a value" 2 cprof-fold --label service "$tmp/a.bin"
done_testing
