#!/bin/sh
# Whole stacks of programs without frame pointers, from the recorder to folded lines; and the messages and
# counters if they are not whole.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
chain=$BUILD/frameless/chain
needs_tables chain signal

# folded FILE COMM: lines of a capture with their ends, for one command name
folded() { cprof-sym "$1" 2>/dev/null | cprof-fold -U --truncated --comm "$2"; }
samples() { awk '{ n += $NF } END { print n + 0 }' "$@"; }
# share REGEX FILE: percent of the samples with a line like this, to a tenth; a blank ends the stack
share() { echo "$(grep -E -- "$1" "$2" | samples) $(samples "$2")" | awk '{ printf "%.1f", $2 ? 100 * $1 / $2 : 0 }'; }
cost() { cprof-dump "$2" | sed -n "s/^cost .*what=$1 count=//p" | tail -1; }
# at_least DESCRIPTION PERCENT REGEX FILE
at_least() {
	if [ "$(samples "$4")" -gt 20 ] && awk -v v="$(share "$3" "$4")" -v w="$2" 'BEGIN { exit !(v >= w) }'; then pass "$1"; else
		fail "$1"
		diag "$(share "$3" "$4") % of $(samples "$4") samples, others:"
		diag "$(grep -Ev -- "$3" "$4" | cut -c1-500 | head -8)"
	fi
}
repeated() { # WORD TIMES: as a regular expression
	printf "(;$1){$2}"
}
# The C library's part has names if its debug file is installed; otherwise an address. The loader's start
# is whole, too.
start='_start;__libc_start_main[^;]*;[^;]*;main'
thread='[^;]*;(start_thread|\[libc[^;]*)'
early='_start(;(_dl_|dl_|__GI__dl|\[ld|_rtld|handle_|init_|open|map_|mmap|__)[^;]*)*(;[^;]*)?'
# Occasional calls in between; and in the kernel's half of exit there is no user stack any more.
between="$start(;(now|clock_gettime|_dl_runtime_resolve|exit|__?fork)[^ ]*)?"
gone='_exit'

# A stack longer than what a sample copies: the kernel walks it, as soon as one was too long for user space.
wide=$BUILD/frameless/wide
[ -x "$wide" ] || make -s -C "$top" BUILD="$BUILD" "$wide" >>"$tmp/make" 2>&1
cprof-record -q -F 29 -o "$tmp/wide.bin" -- "$wide" 2.5
folded "$tmp/wide.bin" wide >"$tmp/wide.folded"
at_least "a stack of 160 kB, at a low rate" 70 "^wide;$start$(repeated go_down 40)(;|\$| )" "$tmp/wide.folded"

# With little memory for tables, during all of the following: tables that are added, evicted, and do not fit
printf '%s\n' '#include <stdio.h>' 'int main(void) { return puts("x") < 0; }' >"$tmp/x.c"
cprof-record -F 499 -a --unwind-mem 2M -o "$tmp/little.bin" 10 2>"$tmp/little.err" &
little=$!
(
	sleep 7.5
	end=$(($(date +%s) + 2))
	while [ "$(date +%s)" -lt $end ]; do ${CC:-cc} -O1 -c -o "$tmp/x.o" "$tmp/x.c"; done
) &
compile=$!
"$BUILD/frameless/signal" 0.3

# Deep
status "60 frames are recorded" 0 cprof-record -F 999 -o "$tmp/deep.bin" -- "$chain" deep 60 1.2
like "  the summary says how whole the stacks are" "$(cat "$tmp/err")" '; user stacks (99|100)\.[0-9] % complete'
folded "$tmp/deep.bin" chain >"$tmp/deep.folded"
at_least "  whole, from _start to work" 99 "^chain;($start$(repeated dive 60);work|$between|$early|$gone) " "$tmp/deep.folded"
unlike "  none has another number of them" "$(grep -c 'work ' "$tmp/deep.folded")" '^[2-9]'
like "  the cost of tables is counted" "$(cost tables "$tmp/deep.bin") $(cost table-bytes "$tmp/deep.bin")" '^[1-9][0-9]* [1-9][0-9]*$'
cprof-record -q -F 499 --unwind fp -o "$tmp/fp.bin" -- "$chain" deep 60 0.5
folded "$tmp/fp.bin" chain >"$tmp/fp.folded"
is "  by frame pointers none is" "$(share "main$(repeated dive 60);work " "$tmp/fp.folded")" 0.0
is "  for them no table is made" "$(cost tables "$tmp/fp.bin")" ""

cprof-record -q -F 999 -o "$tmp/600.bin" -- "$chain" deep 600 1
folded "$tmp/600.bin" chain >"$tmp/600.folded"
at_least "of 600 frames 512 are shown, and marked" 99 "^chain;(\[truncated: depth\](;dive)*;work|$start(;dive)*|$between|$early|$gone) " "$tmp/600.folded"
is "  just so many" "$(grep -m1 'depth.*;work ' "$tmp/600.folded" | sed 's/ [0-9]*$//' | tr ';' '\n' | tail -n +3 | grep -c .)" 512
cprof-record -q -F 999 -d 1023 -o "$tmp/1023.bin" -- "$chain" deep 600 1
folded "$tmp/1023.bin" chain >"$tmp/1023.folded"
at_least "  with -d 1023 all" 99 "^chain;($start(;dive)+(;work)?|$between|$early|$gone) " "$tmp/1023.folded"
is "  600 of them" "$(grep -m1 ';work ' "$tmp/1023.folded" | sed 's/ [0-9]*$//' | tr ';' '\n' | grep -c '^dive')" 600

# Threads, signals, an interpreter
cprof-record -q -F 999 -o "$tmp/threads.bin" -- "$chain" threads 0.7
folded "$tmp/threads.bin" chain >"$tmp/threads.folded"
at_least "threads are whole" 99 "^chain;($thread;(first|second)(;work_for.*)?|$start(;.*)?|$early|$gone) " "$tmp/threads.folded"
for f in first second; do
	at_least "  $f is there" 20 ";$f;work_for;work " "$tmp/threads.folded"
done

cprof-record -q -F 999 -o "$tmp/signal.bin" -- "$BUILD/frameless/signal" 1
folded "$tmp/signal.bin" signal >"$tmp/signal.folded"
burn='burn(;pushes)*(;small)?'
stub='(\[libc[^;]*|__restore_rt|__GI___restore_rt)'
handlers="(;$stub)*(;handler(;$burn)?(;$stub)*)*"
at_least "signal handlers, half of them on a stack of their own" 97 \
	"^signal;($thread;run(;$burn|(;now)?;(__vdso_)?clock_gettime(;__vdso_clock_gettime)?)?$handlers|$thread;run;now|$start(;pthread_create)?$handlers|$early|$gone) " "$tmp/signal.folded"
at_least "  with what they interrupted" 20 ";run;$burn;$stub;handler;burn" "$tmp/signal.folded"

python=$(python3 -c 'import sys; print(sys.executable)')
cprof-record -q -F 999 -o "$tmp/python.bin" -- "$python" -c 'import json, time
until = time.monotonic() + 0.8
while time.monotonic() < until: json.dumps([{"key": i} for i in range(2000)])'
folded "$tmp/python.bin" "$(basename "$python" | cut -c1-15)" >"$tmp/python.folded"
at_least "python3 is whole" 99 '^[^;]*;(_start|\[[^;]*python[^;]*\]);' "$tmp/python.folded"

# Without BPF
status "60 frames by plain perf" 0 cprof-record -F 499 --engine perf -o "$tmp/perf.bin" -- "$chain" deep 60 0.7
folded "$tmp/perf.bin" chain >"$tmp/perf.folded"
at_least "  whole" 99 "^chain;($start$(repeated dive 60);work|$between|$early) " "$tmp/perf.folded"
if command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	chmod 755 "$tmp"
	mkdir -m 777 "$tmp/nobody"
	cp "$chain" "$BIN/cprof-record" "$tmp/nobody"
	(cd "$tmp/nobody" && setpriv --reuid nobody --regid nogroup --clear-groups \
		./cprof-record -q -F 499 -o nobody.bin -- ./chain deep 60 0.7) 2>"$tmp/err"
	folded "$tmp/nobody/nobody.bin" chain >"$tmp/nobody.folded"
	at_least "  as nobody, too" 99 "^chain;($start$(repeated dive 60);work|$between|$early) " "$tmp/nobody.folded"
else
	skip "  as nobody, too" "setpriv or kernel.perf_event_paranoid"
fi

# Changes during the recording. A child has its parent's mappings.
cprof-record -q -F 999 -o "$tmp/forks.bin" -- "$chain" forks 30
folded "$tmp/forks.bin" chain >"$tmp/forks.folded"
at_least "children are whole from their first sample on" 99 "^chain;($start(;.*)?|$early|$gone) " "$tmp/forks.folded"
at_least "  and they are sampled" 30 ';child_side;work_for;work ' "$tmp/forks.folded"

# Two libraries, one after the other at the same addresses, and two programs likewise: of the same size, with
# different code. Rules of one must not be used for the other.
for i in 1 2; do
	room=$((i * 7 * 16))
	cat >"$tmp/lib$i.c" <<END
#include <stdint.h>
#include <string.h>
#define APART __attribute__((noinline, noclone, noipa))
uint64_t enter(uint64_t (*work)(uint64_t));
static APART uint64_t inner_$i(uint64_t (*work)(uint64_t), char *p) { char room[$room]; memcpy(room, p, 9); return work(room[3]) ^ room[5]; }
static APART uint64_t middle_$i(uint64_t (*work)(uint64_t), uint64_t a) { char room[$((room * 3))]; memset(room, (int)a, sizeof(room)); return inner_$i(work, room) + a; }
$([ $i = 1 ] || echo 'APART uint64_t other(uint64_t x); APART uint64_t other(uint64_t x) { return x * 77 % 5; }')
APART uint64_t enter(uint64_t (*work)(uint64_t)) { return middle_$i(work, 1) + middle_$i(work, 2); }
END
	cat "$tmp/lib$i.c" - >"$tmp/turn$i.c" <<END
#include <stdlib.h>
#include <unistd.h>
static APART uint64_t work(uint64_t x) { for (int i = 0; i < 1000000; i++) x = x * 6364136223846793005u + 1442695040888963407u; return x; }
int main(int argc, char **argv)
{
	char left[20], *next[] = { argv[2], left, argv[0], NULL };
	int n = atoi(argv[1]) - 1, i = argc;
	for (uint64_t sum = 0; i < 16; i++) sum += enter(work);
	for (i = 18, left[19] = 0, left[18] = '0'; n > 0; n /= 10) left[i--] = (char)('0' + n % 10);
	return atoi(argv[1]) > 1 ? execv(argv[2], next) : 0;
}
END
	${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fPIC -shared -o "$tmp/lib$i.so" "$tmp/lib$i.c" &&
		${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$tmp/turn$i" "$tmp/turn$i.c" || exit 1
done
cprof-record -q -F 999 -o "$tmp/load.bin" -- "$chain" load 15 "$tmp/lib1.so" "$tmp/lib2.so" >"$tmp/out"
like "libraries come where others were" "$(cat "$tmp/out")" '^[1-9]'
folded "$tmp/load.bin" chain >"$tmp/load.folded"
called="$start;call_in;enter;(middle_1;inner_1|middle_2;inner_2);work"
at_least "  whole, or cut where the code is not what it was" 99 \
	"^chain;($called|$start;.*|$early|$gone|\[truncated: no-mapping\]((;enter)?;middle_[12])?;inner_[12];work) " "$tmp/load.folded"
at_least "  some are whole" 5 "^chain;$called " "$tmp/load.folded"
is "  no stack is of both, or has a frame that is not" \
	"$(grep ';work ' "$tmp/load.folded" | grep -Ev "^chain;($called|\[truncated: [a-z-]*\](((;enter)?;middle_1)?;inner_1|((;enter)?;middle_2)?;inner_2)?;work) ")" ""

cprof-record -q -F 999 -o "$tmp/turns.bin" -- setarch -R "$tmp/turn1" 30 "$tmp/turn2"
cprof-sym "$tmp/turns.bin" 2>/dev/null | cprof-fold -U --truncated --match 'turn[12]' | grep '^turn' >"$tmp/turns.folded"
turn="$start;enter;(middle_1;inner_1|middle_2;inner_2);work"
at_least "programs that follow each other in a process, at the same addresses: whole" 85 "^turn[12];($turn|$early) " "$tmp/turns.folded"
is "  and as they are" \
	"$(grep ';work ' "$tmp/turns.folded" | grep -Ev "^turn1;($start;enter;middle_1;inner_1|\[truncated: [a-z-]*\]((((;enter)?;middle_1)?;inner_1)?));work |^turn2;($start;enter;middle_2;inner_2|\[truncated: [a-z-]*\]((((;enter)?;middle_2)?;inner_2)?));work ")" ""
like "  both are there" "$(cut -d';' -f1 "$tmp/turns.folded" | sort -u | tr '\n' ' ')" '^turn1 turn2 $'

# A file whose unwind information is noise
cp "$tmp/lib1.so" "$tmp/hostile.so"
readelf -SW "$tmp/hostile.so" | sed -n 's/.* \.eh_frame  *[A-Z_0-9]*  *[0-9a-f]*  *\([0-9a-f]*\)  *\([0-9a-f]*\) .*/\1 \2/p' |
	while read -r at n; do
		dd if=/dev/urandom of="$tmp/hostile.so" bs=1 conv=notrunc seek=$((0x$at)) count=$((0x$n)) 2>/dev/null
	done
ok "the noise is in the file" sh -c '! cmp -s "$1" "$2"' sh "$tmp/lib1.so" "$tmp/hostile.so"
"$chain" deep 30 1.5 &
"$chain" load 8 "$tmp/hostile.so" "$tmp/lib2.so" >/dev/null &
status "a library with noise for unwind information" 0 cprof-record -F 999 -a -o "$tmp/hostile.bin" 1.2
folded "$tmp/hostile.bin" chain >"$tmp/hostile.folded"
grep ';dive' "$tmp/hostile.folded" >"$tmp/others.folded"
at_least "  others are whole" 95 "^chain;$start$(repeated dive 30);work " "$tmp/others.folded"
at_least "  and those that do are sampled" 5 'inner_1' "$tmp/hostile.folded"

# The processes that build tables are killed: finished tables stay, and another one builds more.
cp "$chain" "$tmp/later"
cprof-record -F 499 -o "$tmp/killed.bin" -- sh -c '"$1" threads 60 & while [ ! -e "$2.now" ]; do sleep 0.05; done
	"$2" deep 5 0.4; "$2" deep 5 0.4; kill $!' sh "$chain" "$tmp/later" 2>"$tmp/killed.err" &
recorder=$!
tries=0
until folded "$tmp/killed.bin" chain 2>/dev/null | grep -q "^chain;$thread;" || [ $((tries = tries + 1)) -gt 100 ]; do sleep 0.1; done
worker=$(pgrep -P $recorder cprof-tables)
like "the processes that make tables: the second one with its first file" "$(echo $worker)" '^[0-9]+( [0-9]+)?$'
kill -9 $worker
: >"$tmp/later.now"
wait $recorder
is "is killed, and the recording goes on" $? 0
folded "$tmp/killed.bin" chain >"$tmp/killed.folded"
at_least "  with the tables that there are" 99 "^chain;$thread;(first|second);work_for(;.*)? " "$tmp/killed.folded"
like "  to its end" "$(cprof-dump "$tmp/killed.bin" | tail -n 2)" '^end .*reason=closed'
like "  a program that comes later has a table" "$(folded "$tmp/killed.bin" later)" "^later;$start(;dive){5};work "

# Tables that did not fit
wait $compile
wait $little
is "with 2 MiB for all tables" $? 0
is "  it is said once what does not fit" "$(grep -c 'does not fit into what --unwind-mem allows' "$tmp/little.err")" 1
like "  the summary has the number" "$(cat "$tmp/little.err")" 'tables found no room [0-9]+ times? \(--unwind-mem, --mem\)'
like "  refused tables are counted" "$(cost tables-refused "$tmp/little.bin")" '^[1-9]'
like "  and those that went for others" "$(cost tables-evicted "$tmp/little.bin")" '^[1-9]'
cprof-sym "$tmp/little.bin" 2>/dev/null | cprof-fold -U --truncated >"$tmp/little.folded"
like "  stacks that end for that are marked" "$(cat "$tmp/little.folded")" '^[^;]*;\[truncated: budget\];'
grep '^chain;' "$tmp/little.folded" >"$tmp/chain.folded"
at_least "  there are whole ones, too" 30 "^chain;(_start|$thread|\[truncated: depth\]);" "$tmp/chain.folded"
done_testing
