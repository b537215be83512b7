#!/bin/sh
# cprof-record: methods, files and lines of Ruby programs, in the stacks of the C code around them.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/python-lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
ruby=${RUBY:-/usr/bin/ruby}
[ -x "$ruby" ] || skip_all "there is no $ruby"
version=$("$ruby" -e 'puts RUBY_VERSION.split(".").first(2).join(".")')
case $version in
2.7 | 3.[0-4] | 4.0) ;;
*) skip_all "$ruby is $version" ;;
esac
known=$tests/loads/known.rb

# classless: in 3.2 the class of a method is not known
classless() {
	if [ "$version" = 3.2 ]; then
		sed 's/\(^\| \)\([A-Z][A-Za-z]*::\)*[A-Z][A-Za-z]*[#.]/\1/'
	else
		cat
	fi
}
name() { echo "$1" | classless; }

# known TEXT OPTION...: checks a recording of the known program
known() {
	text=$1
	shift
	status "a program of known shares$text" 0 \
		sh -c 'cprof-record -q -F 999 -o "$0/known.bin" -- "$@" >"$0/program"' \
		"$tmp" "$ruby" "$@" "$known" 0.4
	cprof-sym <"$tmp/known.bin" 2>/dev/null >"$tmp/sym.bin"
	cprof-fold --native none "$tmp/sym.bin" >"$tmp/folded"
	classless <"$tmp/program" >"$tmp/want"
	shares_of "$tmp/folded" "$tmp/want" >"$tmp/shares"
	like "  each kind of call has its share, within 2 points" "$(cat "$tmp/shares")" '^all 23$'
	is "  and none another" "$(grep -vc '^all' "$tmp/shares")" 0
	# The first samples are from before the interpreter's file was read.
	is "  no method is unknown once the interpreter is known" \
		"$(grep '\[ruby: ' "$tmp/folded" | grep -vc 'not-yet')" 0
	recursion=$(name 'Known#recursion')
	is "  recursion has each of its frames" \
		"$(grep "$recursion;.*spin" "$tmp/folded" | grep -o "$recursion;" | wc -l)" \
		"$((21 * $(grep -c "$recursion;.*spin" "$tmp/folded")))"
	is "  the root is the program's code" \
		"$(grep -v -e by_thread -e by_fiber -e '\[' "$tmp/folded" |
			grep 'measured;' | cut -d';' -f2 | sort -u)" "<main>"
	is "  a thread's is its block" \
		"$(grep 'block in [^;]*by_thread;' "$tmp/folded" | cut -d';' -f2 | sort -u)" \
		"block in $(name 'Known#by_thread')"
	is "  and a fiber's is its" "$(grep 'block in [^;]*by_fiber;' "$tmp/folded" | cut -d';' -f2 | sort -u)" \
		"block in $(name 'Known#by_fiber')"
	like "  blocks are between the C functions that call them" \
		"$(cprof-fold --native all "$tmp/sym.bin" | grep by_sort |
			awk '$NF > most { most = $NF; line = $0 } END { print line }')" \
		";$(name 'Known#by_sort');.*[;\\[].*;block in $(name 'Known#by_sort');"
}
known ""
cprof-fold -l --native none "$tmp/sym.bin" >"$tmp/lines"
line() { grep -n "$1" "$known" | head -n 1 | cut -d: -f1; }
# lines NAME: the lines of the frames of this name
lines() {
	grep -F ";$(name "$1") (" "$tmp/lines" | sed "s/.*;$(name "$1") (\\([^:]*:[0-9]*\\)).*/\\1/" |
		sort | uniq -c | sort -rn | awk '{ print $2; exit }'
}
recursion=$(name 'Known#recursion')
is "a caller has the line of its call" \
	"$(sed "s/.*;$recursion (known.rb:\\([0-9]*\\));$recursion .*/\\1/;t;d" "$tmp/lines" | sort -u)" \
	"$(line 'recursion(depth - 1')"
is "  also one that was rescued" "$(lines 'rescue in Known#by_rescue')" \
	"known.rb:$(($(line 'rescue RuntimeError') + 1))"
is "  or is in a block" "$(lines 'block (2 levels) in Known#blocks')" "known.rb:$(line '1..each { .1..each')"
like "  or in a text" "$(grep -m 1 -F "$(name 'Object#from_text')" "$tmp/lines")" 'from_text \(<made>:2\);'
like "  evaluated there" "$(grep -m 1 'by_eval .*by_eval ' "$tmp/lines")" \
	"by_eval \\(known.rb:[0-9]*\\);$(name 'Known#by_eval') \\(.*:2\\);"

if "$ruby" --yjit -e 'exit RubyVM::YJIT.enabled?' 2>/dev/null; then
	known ", compiled by YJIT" --yjit --yjit-call-threshold=1
else
	skip "compiled by YJIT" "$ruby has no YJIT"
fi

# The library of the interpreter is found in each process at its first sample, once it was met. The first
# process lasts until then.
cat >"$tmp/short.rb" <<'END'
till = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < till
END
cprof-record -q -F 999 -o "$tmp/short.bin" -- sh -c '"$0" "$1" 1.5; i=0
	while [ $i -lt 20 ]; do "$0" "$1" 0.03; i=$((i + 1)); done' "$ruby" "$tmp/short.rb"
cprof-fold --native all -p --from 1.5 "$tmp/short.bin" 2>/dev/null | grep '^[^;]*ruby' >"$tmp/short"
named=$(awk '/<main>|\[ruby: / { n = $NF; all += n; if ($0 !~ /\[ruby: /) good += n }
	END { printf "%d %d", all ? 1000 * good / all : 0, all }' "$tmp/short")
text="98 % of the interpreter's samples have frames (${named% *} of 1000, ${named#* } samples)"
ok "20 short processes: $text" [ "${named% *}" -ge 980 ]
like "  all of them" "$(cut -d ';' -f 1 "$tmp/short" | sort -u | wc -l)" '^(19|2[0-9])$'

# The label <main> is a text of the library, in a page that the child does not use.
cat >"$tmp/fork.rb" <<'END'
def spin(seconds)
  till = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < till
end
def in_child
  spin 0.3
end
spin 0.5
fork { in_child; exit! }
Process.wait
END
cprof-record -q -F 999 -o "$tmp/fork.bin" -- "$ruby" "$tmp/fork.rb"
in_child=$(name 'Object#in_child')
is "a forked child has its parent's frames" \
	"$(cprof-fold --native none "$tmp/fork.bin" 2>/dev/null |
		grep "$in_child;" | cut -d';' -f 2-4 | sort -u)" \
	"<main>;block in <main>;$in_child"

# Methods that are made, called and dropped, so that others take their addresses.
cat >"$tmp/made.rb" <<'END'
def spin
  till = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.002
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < till
end
600.times do |i|
  m = Module.new
  m.module_eval("def self.outer_#{i}\n inner_#{i}\nend\ndef self.inner_#{i}\n  spin\nend\n", "made_#{i}")
  m.send("outer_#{i}")
  GC.start if i % 50 == 0
end
END
cprof-record -q -F 1999 -o "$tmp/made.bin" -- "$ruby" "$tmp/made.rb"
cprof-fold -l --native none "$tmp/made.bin" 2>/dev/null >"$tmp/made"
inner='inner_\([0-9]*\) (made_\([0-9]*\):5)'
pairs=$(sed 's/.*outer_\([0-9]*\) (made_\([0-9]*\):2);'"$inner"'.*/\1 \2 \3 \4/;t;d' "$tmp/made" |
	awk '$1 == $2 && $2 == $3 && $3 == $4 { good++; next } { bad++ } END { print good + 0, bad + 0 }')
like "methods of short life have their own names ($pairs)" "$pairs" '^[1-9][0-9]+ 0$'
is "  with their lines" "$(grep -c 'outer_.*inner_' "$tmp/made")" "${pairs% *}"

# A program that is not Ruby: nothing but names and states that are counted, and nothing lost.
if gcc -O1 -rdynamic -o "$tmp/hostile" "$tests/loads/hostile-ruby.c" 2>/dev/null; then
	status "a program that only looks like Ruby" 0 \
		cprof-record -F 1999 -o "$tmp/hostile.bin" -- "$tmp/hostile" 3
	like "  is recorded whole" "$(cat "$tmp/err")" '; nothing lost'
	like "  its frames are unreadable" \
		"$(cprof-dump "$tmp/hostile.bin" | grep -c '^lang-frame.* state=unreadable')" '^[1-9]'
else
	skip "a program that only looks like Ruby" "there is no gcc"
fi

cprof-record -q --lang python -F 999 -o "$tmp/none.bin" -- "$ruby" "$known" 0.01 >"$tmp/program"
is "--lang of another language has none" "$(cprof-dump "$tmp/none.bin" | grep -c lang-frame)" 0
done_testing
