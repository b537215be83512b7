#!/bin/sh
# The fuzz targets over changed copies of a small capture: as bytes, as payloads with checksums, as text
. "$(dirname "$0")/../lib/lib.sh"

cprof-dump -r "$tests/data/small.txt" >"$tmp/small.bin"
{ printf '\0'; cat "$tmp/small.bin"; } >"$tmp/bytes"

# Payloads for the target's other form, which begins with a header: only record blocks, with their lengths.
{
	printf '\1'
	at=0
	size=$(wc -c <"$tmp/small.bin")
	while [ "$at" -lt "$size" ]; do
		set -- $(od -A n -t u1 -j "$at" -N 12 "$tmp/small.bin")
		n=$(($9 + ${10} * 256))
		printf "$(printf '\\%03o\\%03o' $((n % 256)) $((n / 256 + ($5 == 1 ? 128 : 0))))"
		dd if="$tmp/small.bin" bs=1 skip=$((at + 32)) count="$n" 2>/dev/null
		at=$((at + 32 + n))
	done
} >"$tmp/payloads"

ok "bytes" "$BUILD/tests/fuzz-stream" -m 5000 "$tmp/bytes"
ok "payloads with the right checksums" "$BUILD/tests/fuzz-stream" -m 20000 "$tmp/payloads"
ok "text" "$BUILD/tests/fuzz-text" -m 2000 "$tests/data/small.txt"
ok "frames of languages" "$BUILD/tests/fuzz-text" -m 2000 "$here/corpus/profile-languages"
ok "numbers of running threads" "$BUILD/tests/fuzz-text" -m 2000 "$here/corpus/profile-parallel"
ok "ends of waits, locks, samples of others" "$BUILD/tests/fuzz-text" -m 2000 "$here/corpus/blame-waits"
cprof-dump -r "$here/corpus/blame-waits" >"$tmp/waits.bin"
{ printf '\0'; cat "$tmp/waits.bin"; } >"$tmp/waits"
ok "  as bytes" "$BUILD/tests/fuzz-stream" -m 5000 "$tmp/waits"
cprof-dump -r "$here/corpus/profile-languages" >"$tmp/languages.bin"
{ printf '\0'; cat "$tmp/languages.bin"; } >"$tmp/languages"
ok "  as bytes" "$BUILD/tests/fuzz-stream" -m 5000 "$tmp/languages"
for f in "$here"/corpus/stream-*; do
	[ ! -e "$f" ] || ok "what was found once: ${f##*/}" "$BUILD/tests/fuzz-stream" "$f"
done
for f in "$here"/corpus/text-*; do
	[ ! -e "$f" ] || ok "what was found once: ${f##*/}" "$BUILD/tests/fuzz-text" "$f"
done
done_testing
