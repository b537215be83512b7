#!/bin/sh
# Jitdump files: read while they grow; invalid ones refused; and live, with names as of the time
# of each sample.
. "$(dirname "$0")/../lib/lib.sh"
jit=$BUILD/tests/record-jit

sleep 300 &
pid=$!
trap 'kill -9 $pid $other 2>/dev/null; rm -rf "$tmp"' EXIT
other=
chmod 755 "$tmp"
f=$tmp/jit-$pid.dump
cat >"$tmp/dump.py" <<'END'
import os, struct, sys
def record(kind, time, body): return struct.pack("<IIQ", kind, 16 + len(body), time) + body
def load(time, at, n, name): return record(0, time, struct.pack("<IIQQQQ", pid, pid, at, at, n, 1) + name.encode() + b"\0" + b"\x90" * n)
def unwinding(n, size=None, header=20, rest=0):
    eh_frame = b"E" + b"." * (n - 2) + b"e" if n else b""
    sizes = struct.pack("<QQQ", n + 20 if size is None else size, header, 0)
    return record(4, 9, sizes + eh_frame + b"h" * 20 + b"_" * rest)
def move(time, old, at, n): return record(1, time, struct.pack("<IIQQQQQ", pid, pid, at, old, at, n, 1))
def head(flags=0, magic=0x4a695444, version=1): return struct.pack("<6IQQ", magic, version, 40, 62, 0, pid, 5, flags)
pid = int(sys.argv[1])
sys.stdout.buffer.write(eval(sys.argv[2]))
END
# put EXPRESSION: replaces the file's contents; PUT and ADD in the commands below likewise
put() { python3 "$tmp/dump.py" $pid "$1" >"$f"; }

# dumps DESCRIPTION WANT: runs the commands on stdin, with PID, FILE, PUT and ADD substituted.
dumps() {
	sed "s|^\(! *\)PUT \(.*\)|\1python3 $tmp/dump.py PID '\2' >FILE|; s|^\(! *\)ADD \(.*\)|\1python3 $tmp/dump.py PID '\2' >>FILE|
		s|PID|$pid|g; s|FILE|$f|g" >"$tmp/commands"
	is "$1" "$(timeout 60 "$jit" dumps <"$tmp/commands" 2>&1)" "$2"
}

put 'head()'
dumps "as it grows, also in the middle of a record" "poll 0
7 load 1000 32 0 one
poll 0
poll 0
7 load 2000 8 0 two; and three
7 move 3000 8 2000 
poll 0
7 close 0 0 0 
poll 0
poll 0" <<'X'
watch 7 PID 0 FILE
poll
! ADD load(9, 0x1000, 32, "one")
poll
! ADD load(9, 0x2000, 8, "two; and three")[:60]
poll
! ADD load(9, 0x2000, 8, "two; and three")[60:] + move(9, 0x2000, 0x3000, 8)
poll
! ADD record(3, 9, b"")
poll
! ADD load(9, 0x1000, 32, "after the end")
poll
X

put 'head() + load(9, 0x1000, 300000, "code that is passed over") + record(2, 9, b"lines") + record(77, 9, b"unknown") + load(9, 0x2000, 8, "next")'
dumps "once a process and file, and again after a restart, when asked for again" "7 load 1000 300000 0 code that is passed over
7 load 2000 8 0 next
poll 0
poll 0
poll 0
7 load 1000 300000 0 code that is passed over
7 load 2000 8 0 next
poll 0
1
0" <<'X'
watch 7 PID 0 FILE
watch 7 PID 0 FILE
poll
poll
restart
poll
watch 7 PID 0 FILE
poll
open
forget 7
open
X
dumps "it was removed: what is open is read to its end" "7 load 1000 300000 0 code that is passed over
7 load 2000 8 0 next
0" <<'X'
watch 7 PID 0 FILE
! rm FILE
finish 7
open
X

dumps "unwind information goes with the code that is loaded next, once" "7 load 1000 8 0 one
7 unwinds 1000 by 100 bytes, the right ones
7 load 3000 100000 0 long
7 unwinds 3000 by 100 bytes, the right ones
7 move 4000 8 1000 
7 unwinds 4000 by 0 bytes
7 load 5000 8 0 later
7 unwinds 5000 by 99 bytes, the right ones
poll 0
7 load 1000 8 0 one
7 load 3000 100000 0 long
7 move 4000 8 1000 
7 load 5000 8 0 later
poll 0
7 load 6000 8 0 new
7 unwinds 6000 by 100 bytes, the right ones
7 load 7000 8 0 none
7 unwinds 7000 by 0 bytes
poll 0" <<'X'
! PUT head() + unwinding(100) + load(9, 0x1000, 8, "one") + unwinding(100, rest=5) + record(2, 9, b"lines")
! ADD load(9, 0x3000, 100000, "long") + move(9, 0x1000, 0x4000, 8)
! ADD unwinding(99) + record(77, 9, b"unknown" * 10000) + load(9, 0x5000, 8, "later")
unwind
watch 7 PID 0 FILE
poll
restart
watch 7 PID 0 FILE
poll
! ADD unwinding(100) + load(9, 0x6000, 8, "new") + load(9, 0x7000, 8, "none")
poll
X
dumps "  not if its lengths are wrong, or there is too much of it" "7 load 1000 8 0 
7 unwinds 1000 by 0 bytes
7 load 2000 8 0 
7 unwinds 2000 by 0 bytes
7 load 3000 8 0 
7 unwinds 3000 by 0 bytes
7 load 4000 8 0 
7 unwinds 4000 by 0 bytes
7 load 5000 8 0 
7 unwinds 5000 by 0 bytes
7 load 6000 8 0 
7 unwinds 6000 by 0 bytes
poll 0" <<'X'
! PUT head() + unwinding(100, 121) + load(9, 0x1000, 8, "")
! ADD unwinding(100, 120, 121) + load(9, 0x2000, 8, "")
! ADD unwinding(100, (1 << 64) - 1, (1 << 64) - 101) + load(9, 0x3000, 8, "")
! ADD unwinding(0) + load(9, 0x4000, 8, "") + unwinding(16385) + load(9, 0x5000, 8, "")
! ADD unwinding(100) + record(4, 9, b"short") + unwinding(100, 0, 0) + load(9, 0x6000, 8, "")
unwind
watch 7 PID 0 FILE
poll
X

put 'head(1) + load(123456789012345678, 0x1000, 8, "counted otherwise")'
dumps "times of another clock, and times to come, are taken for now" "7 load 1000 8 0 counted otherwise now
poll 0
7 load 2000 8 0 to come now
poll 0" <<'X'
watch 7 PID 0 FILE
poll
! PUT head() + load(1 << 63, 0x2000, 8, "to come")
forget 7
watch 7 PID 0 FILE
poll
X

dumps "records that contradict themselves are passed over" "7 load 1000 8 0 
7 load 2000 8 0 good
poll 0
no complaint" <<'X'
! PUT head() + load(9, 0x1000, 8, "") + load(9, 0x1000, 0, "empty") + load(9, (1 << 64) - 4, 8, "wraps") + record(0, 9, b"short") + record(1, 9, b"short") + load(9, 0x2000, 8, "good")
watch 7 PID 0 FILE
poll
complaint
X
for what in 'head(0, 0x4454694a)|it is not a jitdump file of this byte order' 'b"perf map, rather"|it is not a jitdump file of this byte order' \
	'head(0, 0x4a695444, 2)|its version is not 1' 'head() + struct.pack("<IIQ", 0, 15, 0)|a record has an impossible size'; do
	put "${what%%|*}"
	dumps "ends there: ${what##*|}" "poll 0
jitdump file of process $pid: ${what##*|}
poll 0
no complaint" <<'X'
watch 7 PID 0 FILE
poll
complaint
poll
complaint
X
done

# --- refused dumps ---

python3 "$tmp/dump.py" 1 'head() + load(9, 0x1000, 8, "one")' >"$tmp/jit-1.dump"
cp "$tmp/jit-1.dump" "$tmp/jit$pid-1.dump"
echo 'no dump at all' >"$tmp/jitter.dump"
dumps "the dump of another process, and names that are none" "no dump by its name
no dump by its name
no dump by its name
4
poll 0
0
no complaint" <<X
watch 7 PID 0 $tmp/jit-1.dump
watch 7 PID 0 $tmp/jit$pid-1.dump
watch 7 PID 0 $tmp/jitter.dump
! echo none >$tmp/jit-.dump
watch 7 PID 0 $tmp/jit-.dump
watch 7 PID 0 $tmp/jit-12.dumps
watch 7 PID 0 $tmp/jut-PID.dump
watch 7 PID 0 $tmp/jit.dump/x
open
poll
open
complaint
X
: >"$tmp/jit4711-$pid.dump"
dumps "a name with a thread's number, too, once the header has the process's" "poll 0
poll 0
7 load 1000 8 0 one
poll 0
1
no complaint" <<X
watch 7 PID 0 $tmp/jit4711-PID.dump
poll
! python3 $tmp/dump.py PID 'head()[:30]' >$tmp/jit4711-PID.dump
poll
! python3 $tmp/dump.py PID 'head() + load(9, 0x1000, 8, "one")' >$tmp/jit4711-PID.dump
poll
open
complaint
X
put 'head() + load(9, 0x1000, 8, "one")'
dumps "another inode than what is mapped" "0" <<'X'
watch 7 PID 1 FILE
open
X
rm -f "$f" && ln -s "$tmp/jit-1.dump" "$f"
dumps "a symbolic link" "0" <<'X'
watch 7 PID 0 FILE
open
X
rm -f "$f" && mkfifo "$f"
dumps "a pipe" "0
no complaint" <<'X'
watch 7 PID 0 FILE
open
complaint
X
rm -f "$f"
put 'head()'
if chown 12345 "$f" 2>/dev/null; then
	dumps "another user's" "0
jitdump file of process $pid: it belongs to another user and is ignored
no complaint" <<'X'
watch 7 PID 0 FILE
watch 7 PID 0 FILE
open
complaint
complaint
X
else
	skip "another user's" "no right to give a file away"
fi

# --- live ---

(may_record_all) | grep -q SKIP && done_testing
# share NAME: percent of all samples that are in that code
share() { awk -v f="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, s, ";"); if (s[k] ~ /_name|told_later|\[/) all += n; if (s[k] == f) hit += n }
	END { printf "%.0f", all ? 100 * hit / all : 0 }' "$tmp/folded"; }
between() { if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1"; else fail "$1"; diag "$2 %"; diag "$(head "$tmp/folded")"; fi; }
fold() { cprof-sym "$tmp/c.bin" 2>"$tmp/err" | cprof-fold -U --comm jitdump >"$tmp/folded"; }
three() { # DESCRIPTION: told_later for a quarter, first_name for another, second_name for half of the time
	fold
	between "$1: the name of its time" "$(share first_name)" 14 38
	between "  of the same address, and moved" "$(share second_name)" 36 64
	between "  what ran before it was told of" "$(share told_later)" 14 38
}
cd "$tmp" || exit 1
for engine in bpf perf; do
	cprof-record --engine $engine -q -F 299 -o c.bin -- "$BUILD/tests/jitdump" 1.2 2>err || { skip "$engine" "$(cat err)"; continue; }
	three "by $engine"
done
is "marked as such" "$(cprof-sym c.bin 2>/dev/null | cprof-fold -U -a | tr ';' '\n' | sed 's/ [0-9]*$//' | grep _name | sort -u | tr '\n' ' ')" \
	"first_name_[j] second_name_[j] "
cprof-record -q -F 299 -o c.bin -- "$BUILD/tests/jitdump" 3 late
three "all written at the end"
cprof-record -q -F 299 -o c.bin -- "$BUILD/tests/jitdump" 3 thread
three "a file with a thread's number, as JavaScriptCore has it,"

# A process that began before the recording: the mapping is found in /proc, and the file is read
# from its start.
"$BUILD/tests/jitdump" 6 &
other=$!
until grep -qs second_name jit-$other.dump || ! kill -0 $other; do sleep 0.05; done
cprof-record -q -F 299 -p $other -o c.bin 0.5
fold
between "a process that began before: the second half" "$(share second_name)" 90 100
kill -9 $other 2>/dev/null
other=

# In a container, both the PID and the files are different.
if unshare --pid --mount --fork true 2>/dev/null; then
	cprof-record -q -F 299 -o c.bin -- unshare --pid --mount --fork sh -c \
		'exec 3<"$1" && mount -t tmpfs none /tmp && cat <&3 >/tmp/jitdump && chmod 755 /tmp/jitdump && cd /tmp && exec ./jitdump 1.2' sh "$BUILD/tests/jitdump"
	three "in a container"
else
	skip "in a container" "unshare is refused"
fi

if command -v node >/dev/null; then
	cat >x.js <<-'END'
	function hotLoop(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
	const until = Date.now() + 1500;
	let x = 0;
	while (Date.now() < until) x ^= hotLoop(100000);
	process.exit(x === 1.5 ? 1 : 0);
	END
	cprof-record -q --lang none -F 299 -o c.bin -- node --perf-prof x.js
	like "a function of node by name" "$(cprof-sym c.bin 2>/dev/null | cprof-fold -U -a)" '^node;.*JS:.*hotLoop[^;]*_\[j\] '
else
	skip "a function of node by name" "node is not here"
fi
done_testing
