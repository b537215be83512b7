#!/bin/sh
# --by user and --uid: by the real user of a process at each sample, with the name that the host had.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$tmp/c.txt" <<'X'
segment major=1 minor=8 least=1
meta key="start-monotonic-ns" value="1"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
comm time=10 thread=1 comm="sshd"
user id=0 name="root"
owner time=100 process=1 user=0
frame id=1 process=1 kind=exact address=0x401000
node id=16 parent=0 frame=1
sample time=100 event=1 cpu=0 thread=1 user=16 kernel=0 weight=10000000
process id=2 time=110 pid=43 nspid=0 parent=1 start=6 gen=0 via=fork
thread id=2 time=110 process=2 tid=43
comm time=110 thread=2 comm="sshd"
sample time=120 event=1 cpu=0 thread=2 user=0 kernel=0 weight=10000000
user id=1000 name="alice;x"
owner time=130 process=2 user=1000
sample time=130 event=1 cpu=0 thread=2 user=0 kernel=0 weight=10000000
sample time=140 event=1 cpu=0 thread=2 user=0 kernel=0 weight=10000000
process id=3 time=110 pid=44 nspid=0 parent=0 start=6 gen=0 via=snapshot
thread id=3 time=110 process=3 tid=44
comm time=110 thread=3 comm="db"
user id=70000 name=""
owner time=150 process=3 user=70000
sample time=150 event=1 cpu=0 thread=3 user=0 kernel=0 weight=10000000
sample time=900 event=2 cpu=0 thread=3 user=0 kernel=0 weight=500
process id=4 time=110 pid=45 nspid=0 parent=0 start=6 gen=0 via=snapshot
thread id=4 time=110 process=4 tid=45
comm time=110 thread=4 comm="old"
sample time=160 event=1 cpu=0 thread=4 user=0 kernel=0 weight=10000000
end time=1000 reason=closed samples=7
flush
X
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1
same "the records are text and bytes" "$tmp/c.txt" /dev/stdin <<X
$(cprof-dump "$tmp/c.bin")
X
rows() { cprof-top -o tsv --no-names "$@" "$tmp/c.bin" 2>"$tmp/err" | sed 1d | cut -f 1,2 | tr '\t\n' ' ,'; }
is "--by user: as it was at each sample, a child's as its parent's" "$(rows --by user)" \
	"alice:x (1000) 2,root (0) 2,70000 1,[unknown user] 1,"
is "--uid by number" "$(rows --by comm --uid 1000)" "sshd 2,"
is "  by name" "$(rows --by comm --uid root)" "sshd 2,"
is "  several" "$(rows --by user --uid 0 --uid 70000)" "root (0) 2,70000 1,"
total() { cprof-fold --no-names "$@" 2>"$tmp/err" | awk '{ n += $NF } END { print n + 0 }'; }
is "  with waits" "$(total --wall --uid 70000 "$tmp/c.bin")" 10000500
is "  of none: those that there are" "$(rows --uid bob; sed 's/.*recorded/recorded/' "$tmp/err")" \
	"recorded users: 0 root (40 %), 1000 alice;x (40 %), 70000 (20 %); 1 wait is not counted (--wall)"
is "cprof-fold: users as roots" "$(cprof-fold --no-names --by user,comm "$tmp/c.bin" | tr '\n' ,)" \
	"70000;db 1,[unknown user];old 1,alice:x (1000);sshd 2,root (0);sshd 2,"
is "cprof-diff" "$(cprof-diff --by user -o tsv "$tmp/c.bin" "$tmp/c.bin" 2>"$tmp/err" | sed 1d | cut -f 1,3 |
	sort | tr '\t\n' ' ,')" "70000 1,[unknown user] 1,alice:x (1000) 2,root (0) 2,"
is "--uid and --by user are one answer" \
	"$(for u in 0 1000 70000; do total --uid $u "$tmp/c.bin"; done | tr '\n' ' ')" "2 2 1 "
status "folded text has no users" 2 sh -c 'echo "a;b 1" | cprof-top --by user'
status "  to select" 2 sh -c 'echo "a;b 1" | cprof-top --uid 0'
like "--by uid is a word of others" "$(cprof-top --by uid "$tmp/c.bin" 2>&1)" 'did you mean user\?'
cprof-sym --scrub "$tmp/c.bin" 2>"$tmp/err" | cprof-dump >"$tmp/scrubbed"
is "--scrub hides names, and numbers of people" \
	"$(sed -n 's/^\(user\|owner\).* \(id\|user\)=\([0-9]*\).*/\3/p' "$tmp/scrubbed" | tr '\n' ' ')" \
	"0 0 1000 1000 1001 1001 "
is "  all of them" "$(grep -c 'alice\|70000\|name="root"' "$tmp/scrubbed")" 0
for bad in 's/^owner time=100 process=1/owner time=100 process=9/' \
	's/user=70000/user=4294967295/'; do
	sed "$bad" "$tmp/c.txt" | cprof-dump -r >"$tmp/bad.bin"
	status "refused: $bad" 3 cprof-top --no-names "$tmp/bad.bin"
done

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ -x "$BIN/cprof-record" ]; then
	loop='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	cprof-record -q -F 999 -o "$tmp/r.bin" -- sh -c "setpriv --reuid 65534 --clear-groups sh -c '$loop'
		setpriv --reuid 54321 --clear-groups sh -c '$loop'" 2>"$tmp/err"
	if cprof-dump "$tmp/r.bin" | grep -q '^owner'; then
		for u in 65534 54321; do
			ok "recorded: samples of $u" test "$(total --uid $u "$tmp/r.bin")" -gt 10
		done
		name=$(awk -F: '$3 == 65534 { print $1 " "; exit }' /etc/passwd)
		cprof-fold --by user "$tmp/r.bin" >"$tmp/users" 2>"$tmp/err"
		like "  with the name that the host has" "$(cat "$tmp/users")" "^$name[(]?65534[)]? [0-9]+\$"
		like "  or none" "$(cat "$tmp/users")" '^54321 [0-9]+$'
	else
		skip "recorded users" "no BPF"
	fi
else
	skip "recorded users" "not root, or no setpriv"
fi
done_testing
