#!/bin/sh
# Parts of functions that the compiler moved away: branches show those that symbols name, and no others.
. "$(dirname "$0")/../lib/lib.sh"
parts=$BUILD/tests/unwind-parts

# Each function has a part that is seldom run, and that returns to the function's middle.
awk 'BEGIN {
	print "__attribute__((cold)) void rare(int);"
	print "int often(int);"
	for (i = 0; i < 40; i++)
		printf "int f%d(int x) { if (x == %d) rare(x); " \
			"while (x > %d) x -= often(x); return x; }\n", i, i, i + 3
}' >"$tmp/cold.c"
cat >"$tmp/main.c" <<'END'
void rare(int x) { __asm__ volatile("" ::"r"(x)); }
int often(int x) { __asm__ volatile("" : "+r"(x)); return x; }
int main(void) { return 0; }
END
for cc in gcc clang; do
	command -v $cc >/dev/null || { skip "$cc" "there is no $cc"; continue; }
	for option in -fpie -shared\ -fPIC -fno-pic\ -no-pie; do
		# shellcheck disable=SC2086 # words
		$cc -O2 $option -o "$tmp/program" "$tmp/cold.c" "$tmp/main.c" || {
			skip "$cc $option" "it cannot be built"
			continue
		}
		"$parts" "$tmp/program" >"$tmp/got"
		case $cc in
		gcc) is "$cc $option: each part" "$(cat "$tmp/got")" \
			"40 functions with .cold, 40 found, 0 wrong" ;;
		*) like "$cc $option: no part that is none" "$(cat "$tmp/got")" ', 0 wrong$' ;;
		esac
	done
done
like "this build: no part that is none" "$("$parts" "$BIN/cprof-top" | tail -n 1)" ', 0 wrong$'
done_testing
