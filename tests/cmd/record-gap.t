#!/bin/sh
# Assembly that a file's unwind table leaves out. Functions are unwound by rules made from their
# code; in the rest the frame pointer is followed if a call proves that it is one, and only then is a stack
# called complete.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ "$(uname -m)" = x86_64 ] || { skip "stacks through assembly" "unwind tables are followed on x86-64 only"; done_testing; }

# ends FILE: counts the ends of burn_with's stacks: "NUMBER ROOT" a line, most first
ends() {
	cprof-sym <"$1" 2>/dev/null | cprof-dump | awk '
		/^string / { id = substr($2, 4); text = $0; sub(/.* text=/, "", text); string[id] = text }
		/^symbol / && $4 == "level=0" { name[substr($2, 7)] = string[substr($6, 6)] }
		/^node / { parent[substr($2, 4)] = substr($3, 8); frame[substr($2, 4)] = substr($4, 7) }
		/^sample / { for (i = 2; i <= NF; i++) if ($i ~ /^user=/) stack[n++] = substr($i, 6) }
		END { for (i = 0; i < n; i++) { u = stack[i]; leaf = name[frame[u]]; while (u + 0 >= 16) u = parent[u]
			if (leaf == "\"burn_with\"") count[u]++ } for (u in count) print count[u], u }' | sort -rn
}
# chains FILE: the names of each stack whose leaf is burn_inner or burn_outer, and how it ends: "NUMBER NAMES ROOT"
chains() {
	cprof-sym <"$1" 2>/dev/null | cprof-dump | awk '
		/^string / { id = substr($2, 4); text = $0; sub(/.* text=/, "", text); gsub(/"/, "", text); string[id] = text }
		/^symbol / && $4 == "level=0" { name[substr($2, 7)] = string[substr($6, 6)] }
		/^node / { parent[substr($2, 4)] = substr($3, 8); frame[substr($2, 4)] = substr($4, 7) }
		/^sample / { for (i = 2; i <= NF; i++) if ($i ~ /^user=/) stack[n++] = substr($i, 6) }
		END { for (i = 0; i < n; i++) { u = stack[i]; if (name[frame[u]] !~ /^burn_/) continue
			for (names = ""; u + 0 >= 16; u = parent[u]) names = names name[frame[u]] " "; count[names u]++ }
			for (s in count) print count[s], s }' | sort -rn
}
for mode in zero data frame; do
	cprof-record -q -F 499 -o "$tmp/$mode.bin" -- "$BUILD/tests/gap" $mode 2
	ends "$tmp/$mode.bin" >"$tmp/$mode"
	diag "$mode: $(tr '\n' ',' <"$tmp/$mode")"
done
complete() { awk '$2 == 0 { n += $1 } { all += $1 } END { print all ? int(n * 100 / all) : -1 }' "$1"; }
is "rbp is 0 in assembly: percent of the stacks that are called complete" "$(complete "$tmp/zero")" 0
is "rbp leads to what no call pushed" "$(complete "$tmp/data")" 0
# Before the table is there, stacks are walked from copies, without code to check.
if [ "$(complete "$tmp/frame")" -ge 40 ]; then pass "rbp is a frame pointer"; else fail "rbp is a frame pointer"; fi

cprof-record -q -F 499 -o "$tmp/code.bin" -- "$BUILD/tests/gap" code 2
chains "$tmp/code.bin" >"$tmp/code"
diag "code: $(head -5 "$tmp/code" | tr '\n' ',')"
# Stacks that were taken before the table was there end otherwise: their calls are not checked.
good=$(awk '/ burn_inner [^ ]* burn_outer main .*_start 0$/ { n += $1 } { all += $1 } END { print all ? int(n * 100 / all) : -1 }' "$tmp/code")
if [ "$good" -ge 80 ]; then pass "rules from code: whole stacks"; else fail "rules from code: whole stacks"; diag "$good %"; fi
is "  and no caller is missing or wrong" "$(sed 's/^[0-9]* //' "$tmp/code" | grep -Ev '^((burn_inner )?[^ ]* )?burn_outer main ')" ""

# A whole C library without tables and symbols. Its start does not return, and its sort has loops after calls.
command -v musl-gcc >/dev/null || {
	skip "a stripped static program" "musl-gcc is not installed"
	done_testing
}
cat >"$tmp/sort.c" <<'X'
#include <stdlib.h>
#include <string.h>
#include <time.h>
struct item { unsigned int key; char rest[500]; };
static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}
int main(void)
{
	static struct item items[500];
	unsigned int x = 1;
	while (clock() < 2 * CLOCKS_PER_SEC) {
		for (int i = 0; i < 500; i++)
			items[i].key = x = x * 1664525 + 1013904223;
		qsort(items, 500, sizeof(*items), compare);
	}
	return x == 0;
}
X
musl-gcc -O2 -s -static -o "$tmp/sort" "$tmp/sort.c"
cprof-record -q -F 499 -o "$tmp/sort.bin" -- "$tmp/sort"
whole=$(cprof-dump "$tmp/sort.bin" | awk '
	/^node / { parent[substr($2, 4)] = substr($3, 8) }
	/^sample / { for (i = 2; i <= NF; i++) if ($i ~ /^user=/) stack[n++] = substr($i, 6) }
	END { for (i = 0; i < n; i++) { for (u = stack[i]; u + 0 >= 16; u = parent[u]); whole += u < 2 }
		print n ? int(100 * whole / n) : -1 }')
diag "$whole % whole"
ok "a stripped static program: at least 80 % whole" [ "$whole" -ge 80 ]
done_testing
