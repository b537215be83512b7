#!/bin/sh
# Ten seconds out of an archive: segments of other times are left out, in files without reading them.
. "$(dirname "$0")/../lib/lib.sh"
TZ=UTC
export TZ
ok "stretches of time: see profile-instant.c" "$BUILD/tests/profile-instant"

# segment MINUTE NAME [END]: begins at 14:MINUTE:00, with samples at its seconds 0, 30 and 59, a ledger of 4
# ticks and one lost
segment() {
	cat <<X
segment major=1 minor=0 least=1
meta key="start-realtime-ns" value="$((1795269600 + $1 * 60))000000000"
meta key="start-monotonic-ns" value="$(($1 * 60 + 1000))000000000"
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=1000000000 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1000000000 process=1 tid=42
comm time=1000000000 thread=1 comm="$2"
frame id=1 process=1 kind=exact address=0x10
node id=16 parent=0 frame=1
sample time=$(($1 * 60 + 1000))000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
flush
sample time=$(($1 * 60 + 1030))000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
flush
sample time=$(($1 * 60 + 1059))000000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
ledger time=$(($1 * 60 + 1059))000000000 cpu=1 outcome=expected count=4
ledger time=$(($1 * 60 + 1059))000000000 cpu=1 outcome=emitted count=3
ledger time=$(($1 * 60 + 1059))000000000 cpu=1 outcome=ring-full count=1
${3:-end time=$(($1 * 60 + 1059))500000000 reason=continues samples=3}
flush
X
}
cd "$tmp" || exit 1
for minute in 0 1 2 3; do segment $minute m$minute | cprof-dump -r >$minute.bin; done
cat 0.bin 1.bin 2.bin 3.bin >all.bin

# alike WHAT WANT OPTIONS...: the same results from files, from one file, from one that the shell opened, and
# from a pipe; including the whole header
alike() {
	what=$1 want=$2
	shift 2
	cprof-top -v "$@" [0-3].bin >a 2>&1
	is "$what" "$(cprof-fold "$@" [0-3].bin 2>/dev/null | sed 's/;[^;]* / /' | tr '\n' ,)" "$want"
	for from in "cprof-top -v $* all.bin" "cprof-top -v $* <all.bin" "cat all.bin | cprof-top -v $*"; do
		sh -c "$from" >b 2>&1
		cmp -s a b || { fail "  of files as $from"; diag "$(diff a b)"; return; }
	done
	pass "  of files, a file, standard input and a pipe"
}
alike "ten seconds" "m1 1," --from 14:01:25 --to 14:01:35
like "  the ledger is of the segments that tell of them" "$(cat a)" '4 expected: 3 emitted'
like "  and so are the losses" "$(cat a)" '1 of 4 expected sample lost'
alike "over the edge of two" "m1 1,m2 1," --from 14:01:55 --to 14:02:10
like "  which both count" "$(cat a)" '8 expected: 6 emitted'
alike "a moment" "m2 1,m3 3," --from 2026-11-21T14:02:31
alike "up to one" "m0 3,m1 1," --to 2026-11-21T14:01:01
alike "none" "" --from 15:00 --to 15:10
alike "around midnight" "m0 3,m1 3,m2 3,m3 1," --from 23:00 --to 14:03:10
is "seconds after the first sample are of all that there is" "$(cprof-top -v --from 61 --to 125 all.bin | sed -n 's/^Samples: *//p')" \
	"12 in 238.00 s, 3 of them looked at"
is "  and so is a mixture of both" "$(cprof-top -v --from 61 --to 14:02 all.bin | sed -n 's/^Samples: *//p')" "12 in 238.00 s, 2 of them looked at"

# flip FILE BLOCK: changes a byte after the head of that block
flip() { python3 -c 'import sys
b, at = bytearray(open(sys.argv[1], "rb").read()), -1
for i in range(int(sys.argv[2])): at = b.find(b"\x89cpf", at + 1)
b[at + 32] ^= 1
open(sys.argv[1], "wb").write(b)' "$@"; }
cp 0.bin damaged.bin && flip damaged.bin 3
status "what is left out is not read" 0 cprof-fold --from 14:01 --to 14:02 damaged.bin 1.bin
status "  of a pipe it is" 3 sh -c 'cat damaged.bin 1.bin | cprof-fold --from 14:01 --to 14:02'
status "  and where it is asked for" 3 cprof-fold --from 14:00 --to 14:02 damaged.bin 1.bin
cp all.bin damaged.bin && flip damaged.bin 15
status "  nor in the same file" 0 cprof-fold --from 14:01 --to 14:02 damaged.bin
cprof-dump damaged.bin >/dev/null 2>want
is "  blocks and bytes are counted all the same" "$(cprof-fold --from 14:02:59 --to 14:04 damaged.bin 2>&1 >/dev/null | sed -n 's/.*: block/block/p')" \
	"$(sed -n 's/.*: block/block/p' want)"
head -c -20 0.bin >cut.bin
status "a file that was cut is read" 3 cprof-fold --from 14:01 --to 14:02 cut.bin 1.bin
like "  and said to be" "$(cat err)" "cut short"
segment 0 late "end time=1200000000000 reason=continues samples=3" | cprof-dump -r >late.bin
is "END says how far it reaches" "$(cprof-top -v --from 14:02 --to 14:03 late.bin 2>/dev/null | sed -n 's/^Ledger: *//p' | cut -d: -f1)" "4 expected"
segment 0 young "end time=1000000000000 reason=continues samples=3" | cprof-dump -r >young.bin
is "  but for a sample that is younger" "$(cprof-fold --from 14:00:30 --to 14:01 young.bin 2>/dev/null | sed 's/;[^;]* / /')" "young 2"
segment 0 x | grep -v '^meta' | cprof-dump -r >noclock.bin
is "without a clock nothing is left out" "$(cprof-top -v --from 14:02 --to 14:03 noclock.bin 2>/dev/null | sed -n 's/^Ledger: *//p' | cut -d: -f1)" "4 expected"
segment 0 early | sed 's/^sample time=1000/sample time=400/' | cprof-dump -r >early.bin
is "a sample may be older than the header" "$(cprof-fold --from 13:49 --to 13:51 early.bin 2>/dev/null | sed 's/;[^;]* / /')" "early 1"
segment 0 idle | grep -v '^sample' | cprof-dump -r >idle.bin
status "one without a sample tells of its end" 0 cprof-top --from 14:00:59 --to 14:01 idle.bin

# Random damage: the requested part is found as in a pipe, and damage elsewhere does no harm.
got=$(python3 - 0.bin <<'X'
import subprocess, sys
good = open(sys.argv[1], 'rb').read()
def fold(ask, data, pipe):
    open('bad.bin', 'wb').write(data)
    p = subprocess.run(['cprof-fold', '--from', ask, '--to', ask + ':59.9'] + ([] if pipe else ['bad.bin']), input=data if pipe else b'',
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return p.stdout, p.returncode
wrong = 0
for i in range(0, len(good), 5):
    flipped = bytearray(good)
    flipped[i] ^= 1 << i % 8
    for data in good[:i], bytes(flipped):
        wrong += fold('14:00', data, False) != fold('14:00', data, True)
        out, status = fold('14:01', data, False)
        wrong += out != b'' or status not in (0, 3)
print(wrong)
X
)
is "damaged and cut files" "$got" 0

# cprof-sym leaves out segments of other times, and samples of other times in the rest; see sym-window.t.
cprof-sym all.bin >all.sym 2>/dev/null
cprof-sym 0.bin 1.bin 2.bin 3.bin >files.sym 2>/dev/null
same "names: of several files as of one" all.sym files.sym
cat 1.bin 2.bin | cprof-sym --from 14:01:55 --to 14:02:10 >want 2>/dev/null
cprof-sym --from 14:01:55 --to 14:02:10 [0-3].bin >got 2>/dev/null
same "  of those that tell of some time" want got
cprof-sym --from 14:01:55 --to 14:02:10 <all.bin >got 2>/dev/null
same "  and of one" want got
is "  of a pipe all segments" "$(cat all.bin | cprof-sym --from 14:01:55 --to 14:02:10 2>/dev/null | cprof-dump | grep -c '^segment')" 4
is "the question" "$(cprof-sym --from 14:01:25 --to 14:01:35 [0-3].bin 2>/dev/null | cprof-fold --from 14:01:25 --to 14:01:35 2>/dev/null | sed 's/;[^;]* / /')" "m1 1"
status "seconds after the first sample are not for it" 2 cprof-sym --from 1 all.bin
status "a file that is none, and one that is" 3 cprof-sym /bin/sh 1.bin
cp out got && cprof-sym 1.bin >want 2>/dev/null
same "  which is named" want got
done_testing
