#!/bin/sh
# Files of one user whose unwind tables take as long as allowed: only their own tables are
# late, nobody else's.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/tables-lib.sh"
command -v setpriv >/dev/null || skip_all "no setpriv"
chain=$BUILD/frameless/chain
needs_tables chain
chmod 755 "$tmp"

# 60,000 overlapping functions of 61 rows each: 16 MB that take 70 ms of CPU time a MB on a fast machine, where a
# file may take 31
cat >"$tmp/slow.s" <<'END'
	.text
	.globl hot
	.type hot, @function
hot:	movl $1000000, %ecx
1:	imul $1664525, %eax, %eax
	decl %ecx
	jnz 1b
	ret
	.size hot, . - hot
many:	.skip 4000000, 0x90
	.section .eh_frame, "a", @progbits
cie:	.long cie_end - cie_begin
cie_begin:
	.long 0
	.byte 1
	.asciz "zR"
	.byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign 4
cie_end:
	.set i, 0
	.rept 60000
	.long 13 + 3 * 61
	.long . - cie
	.long many + (i * 7919 % 3999000) - .
	.long 900
	.byte 0
	.set j, 0
	.rept 61
	.byte 0x41, 0x0e, 8 + ((i + j) & 63)
	.set j, j + 1
	.endr
	.set i, i + 1
	.endr
	.long 0
END
cat >"$tmp/user.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	static void (*hot[1000])(void);
	for (int i = 1; i < argc; i++) {
		void *so = dlopen(argv[i], RTLD_NOW);
		hot[i] = so ? (void (*)(void))dlsym(so, "hot") : NULL;
		if (!hot[i])
			return fprintf(stderr, "%s\n", dlerror()), 1;
	}
	puts("running");
	fflush(stdout);
	for (;;)
		for (int i = 1; i < argc; i++)
			hot[i]();
}
END
${CC:-cc} -shared -nostdlib -Wl,--no-eh-frame-hdr -o "$tmp/slow.so" "$tmp/slow.s" && ${CC:-cc} -O1 -o "$tmp/user" "$tmp/user.c" -ldl || exit 1
mkdir "$tmp/theirs"
for i in $(seq 30); do cp "$tmp/slow.so" "$tmp/theirs/$i.so"; done
chown -R 4711:4711 "$tmp/theirs"
chmod 755 "$tmp/theirs"
setpriv --reuid 4711 --regid 4711 --clear-groups "$tmp/user" "$tmp"/theirs/*.so >"$tmp/running" 2>&1 &
user=$!
trap 'kill $user 2>/dev/null; rm -rf "$tmp"' EXIT
until [ -s "$tmp/running" ]; do sleep 0.1; done
is "a user's program with slow files" "$(cat "$tmp/running")" running

# Meanwhile programs start that nobody has seen before.
cprof-record -a -F 499 --metrics "$tmp/metrics" -o "$tmp/cap" 18 2>"$tmp/err" &
recorder=$!
until [ -s "$tmp/cap" ]; do sleep 0.1; done
sleep 5 # requests that wait for the user's files wait 2 s, once
for i in $(seq 10); do
	cp "$chain" "$tmp/cold"
	"$tmp/cold" deep 20 0.6
	rm "$tmp/cold"
done
wait $recorder
is "they are recorded together" $? 0
unlike "... with no sample lost" "$(cat "$tmp/err")" "[0-9]+ (ring-full|no-memory|throttled|failed)"
if sanitized; then
	skip "the slow files are said to be" "sanitized workers have no limit by a file's size"
else
	like "the slow files are said to be" "$(cat "$tmp/err")" \
		"theirs/.*\.so: no unwind table: used more CPU time than a file of its size may"
fi
like "stacks that were cut for them are counted" "$(cat "$tmp/err")" "[0-9]+ cut because a table was late"
like "... also as a metric" "$(cat "$tmp/metrics")" "^cprof_record_tables_late_total [1-9]"
cprof-sym "$tmp/cap" 2>/dev/null | cprof-fold -U --truncated --comm cold >"$tmp/folded"
whole=$(grep -v '\[truncated' "$tmp/folded" | awk '{ n += $NF } END { print n + 0 }')
all=$(awk '{ n += $NF } END { print n + 0 }' "$tmp/folded")
is "others' new programs are sampled" "$([ "$all" -gt 100 ] && echo yes || echo "$all")" yes
diag "$whole of $all"
is "... and at least half of their stacks are whole" "$([ $((100 * whole)) -ge $((50 * all)) ] && echo yes || echo "$whole of $all")" yes
done_testing
