#!/bin/sh
# Ruby in files: images of made files and of this machine's, damaged files, and lines as the interpreter has
# them.
. "$(dirname "$0")/../lib/lib.sh"
ruby=$BUILD/tests/lang-ruby
[ "$(uname -m)" = x86_64 ] || skip_all "for x86-64"

# write_source VERSION LABELS: a program with a version, thread-local words, and a function with this many
# labels
write_source() {
	printf 'const char ruby_version[] = "%s";\n' "$1"
	cat <<-END
		__attribute__((visibility("hidden"))) __thread void *first, *second;
		void *words(void) { return first ? &second : &first; }
		void *ruby_current_execution_context_ptr;
		int run(const int *code)
		{
			static const void *const labels[] = {
	END
	i=0
	while [ $i -lt "$2" ]; do echo "&&l$i,"; i=$((i + 1)); done
	printf '};\nint x = 0;\ngoto *labels[*code];\n'
	i=0
	while [ $i -lt "$2" ]; do
		echo "l$i: x = x * $((i + 3)) + $i; goto *labels[*++code];"
		i=$((i + 1))
	done
	printf 'return x;\n}\n'
}
# make VERSION LABELS OPTION...: builds it as $tmp/made, and as $tmp/stripped
make() {
	write_source "$1" "$2" >"$tmp/made.c"
	[ "$3" = -shared ] || echo 'int main(void) { return words() == 0; }' >>"$tmp/made.c"
	shift 2
	gcc -O1 -w -fno-crossjumping -o "$tmp/made" "$@" "$tmp/made.c" 2>"$tmp/err" || cat "$tmp/err" >&2
	cp "$tmp/made" "$tmp/stripped"
	strip "$tmp/stripped"
}
image() { "$ruby" identify "$1"; }

make 3.3.8 200 -shared -fPIC
like "a library: the words of its block, and the function with many labels" "$(image "$tmp/made")" \
	'^version 030308 usable 1 valid 1 context 1 first 0 words 2 frame 56 class 1 loops [1-9][0-9]{3}$'
is "  stripped" "$(image "$tmp/stripped")" "$(image "$tmp/made")"
ok "  damaged copies" "$ruby" broken "$tmp/stripped"
make 3.3.8 149 -shared -fPIC
like "  with few labels it has no loop" "$(image "$tmp/made")" ' usable 1 valid 1 .* loops$'
make 3.4.1 200 -shared -fPIC -mtls-dialect=gnu2
like "a library with descriptors" "$(image "$tmp/stripped")" \
	'^version 030401 usable 1 valid 1 context 2 first 0 words 2 .* loops [1-9]'
make 3.1.2 200 -pie -fPIE -rdynamic
like "a program: below the thread pointer" "$(image "$tmp/stripped")" \
	'^version 030102 usable 1 valid 1 context 3 first 16 words 2 frame 64 class 2 loops [1-9]'
make 3.1.2 200 -no-pie -rdynamic
like "  at a fixed address" "$(image "$tmp/stripped")" \
	' usable 1 valid 1 context 3 first 16 words 2 .* loops [1-9]'
make 2.7.8 200 -shared -fPIC
like "2.7: one word for all threads" "$(image "$tmp/stripped")" \
	'^version 020708 usable 1 valid 1 context 0 .* frame 56 class 2'
for v in 2.6.10 3.5.0 4.1.0 5.0.0; do
	make $v 200 -shared -fPIC
	like "$v is not known, but its loop is" "$(image "$tmp/stripped")" \
		'^version .* usable 0 .* loops [1-9]'
done
for v in 3.3 3.3.8.1 3.300.1 3.x.1; do
	make $v 200 -shared -fPIC
	is "\"$v\" is not a version" "$(image "$tmp/stripped")" "no interpreter"
done
is "no file of Ruby" "$(image "$ruby")" "no interpreter"

n=0
for f in /usr/lib/x86_64-linux-gnu/libruby*.so.*.*.*; do
	[ -f "$f" ] || continue
	n=$((n + 1))
	like "${f##*/}" "$(image "$f")" '^version 0[234]0[0-9a-f]{3} usable 1 valid 1 .* loops 1[0-9]{4} '\
'|^version .* loops 2[0-9]{4} '
	ok "  damaged copies" "$ruby" broken "$f"
done
[ $n -gt 0 ] || skip "the machine's own" "there is no libruby"

if ruby -e 'require "fiddle"' 2>/dev/null; then
	# shellcheck disable=SC2016,SC2046 # Ruby; words
	ruby "$tests/data/lang/lines.rb" $(ruby -e 'puts %w[set optparse delegate forwardable erb].map { |f|
		"#{RbConfig::CONFIG["rubylibdir"]}/#{f}.rb" }') >"$tmp/lines"
	like "each position of five libraries has the interpreter's line" "$("$ruby" lines <"$tmp/lines")" \
		'^[1-9][0-9]{2} sequences, [1-9][0-9]{3,} positions, [0-9]{1,2} without a line, 0 wrong$'
	sed 's/ 0:\([0-9]*\)/ 0:1\1/' "$tmp/lines" | "$ruby" lines >"$tmp/got"
	unlike "  and the check sees another line" "$(tail -n 1 "$tmp/got")" ', 0 wrong'
else
	skip "lines" "there is no ruby with fiddle"
fi
done_testing
