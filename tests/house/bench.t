#!/bin/sh
# make bench runs every benchmark, and fails at the end if one of them failed.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1
echo 'echo first; exit 3' >"$tmp/1.sh"
echo 'echo second' >"$tmp/2.sh"
echo 'echo third; exit 1' >"$tmp/3.sh"
# -o: do not rebuild existing targets.
bench() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s BUILD="$tmp/build" TEST_PROGRAMS= OFFLINE= RECORD= TOOLS= \
	-o "$tmp/build/frameless/victim" -o "$tmp/build/contrib/demo" -o all BENCHES="$*" bench 2>&1; }
said=$(bench "$tmp/1.sh" "$tmp/2.sh" "$tmp/3.sh")
is "it fails" "$(($? != 0))" 1
is "after all have run" "$(printf '%s\n' "$said" | grep -E '^(first|second|third)$' | tr '\n' ' ')" "first second third "
like "and names those that failed" "$said" "^bench: failed: $tmp/1.sh $tmp/3.sh\$"
bench "$tmp/2.sh" >"$tmp/out"
is "it succeeds if all do" $? 0
done_testing
