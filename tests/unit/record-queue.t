#!/bin/sh
# Records from the kernel in order of time: against sort
. "$(dirname "$0")/../lib/lib.sh"
queue=$BUILD/tests/record-queue

# expected: the right output: the records so far, up to each given time, ordered by time, then
# kind, then arrival
expected() {
	: >"$tmp/left"
	while read -r line; do
		case $line in
		until*)
			sort -s -n -k1,1 -k2,2 "$tmp/left" >"$tmp/sorted"
			awk -v t="${line#until }" '$1 <= t' "$tmp/sorted"
			awk -v t="${line#until }" '$1 > t' "$tmp/sorted" >"$tmp/left"
			echo "$line: $(grep -c . "$tmp/left") left"
			;;
		*) echo "$line" >>"$tmp/left" ;;
		esac
	done
}
same() { # DESCRIPTION: $tmp/in
	"$queue" items <"$tmp/in" >"$tmp/out" 2>&1
	expected <"$tmp/in" >"$tmp/want"
	ok "$1" cmp "$tmp/want" "$tmp/out"
}

printf 'until 5\n' >"$tmp/in"
same "nothing"
printf '7 2 a\nuntil 6\nuntil 7\nuntil 8\n' >"$tmp/in"
same "one"
printf '7 2 a\n7 2 b\n7 0 c\n7 1 d\n7 0 e\nuntil 7\n' >"$tmp/in"
same "at the same time by kind, then as they came"
# Per-CPU rings one after the other, each in order, with overlapping times; each keeps some records for
# the next turn.
for cpus in 1 2 3 8; do
	awk -v cpus=$cpus 'BEGIN {
		srand(cpus)
		for (turn = 1; turn <= 6; turn++) {
			for (c = 0; c < cpus; c++)
				for (i = 0; i < 40; i++)
					print int((turn * 40 + i + rand() * 3) / 3), int(rand() * 3), "cpu" c "." turn "." i
			print "until", int((turn * 40 + 25) / 3)
		}
		print "until 1000"
	}' >"$tmp/in"
	same "$cpus CPUs, nearly in order"
	is "  all of them came" "$(grep -c cpu "$tmp/out")" $((cpus * 240))
done
awk 'BEGIN { srand(9); for (i = 0; i < 3000; i++) print int(rand() * 700), int(rand() * 3), "any" i; print "until 350"; print "until 700" }' >"$tmp/in"
same "in no order"
awk 'BEGIN { for (i = 3000; i > 0; i--) print i, 2, "back" i; print "until 1500"; print "until 3000" }' >"$tmp/in"
same "from the last to the first"
# The sanitizers end programs that ask for too much memory, unless told not to.
is "items without memory are counted by kind" \
	"$(ASAN_OPTIONS=allocator_may_return_null=1 "$queue" lost)" "1 2 3, 1 left"
is "a ring of whole records" "$("$queue" ring 16 8 64)" "record of 16 on 3
record of 8 on 3
record of 64 on 3
whole, 0 left"
is "a damaged record is reported, and none is read after it" "$("$queue" ring 16 0 64)" "record of 16 on 3
damaged, 0 left"
is "so is one that is shorter than its head" "$("$queue" ring 16 7)" "record of 16 on 3
damaged, 0 left"
done_testing
