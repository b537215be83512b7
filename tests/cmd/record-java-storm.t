#!/bin/sh
# cprof-record: methods of Java have their own names while classes are unloaded, objects are moved, compiled
# code is thrown away and the code cache is flushed.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
jdk=$(dirname "$(readlink -f "$(command -v "${JAVA:-java}")" 2>/dev/null)")
[ -x "$jdk/java" ] && [ -x "$jdk/javac" ] || skip_all "there is no JDK"
"$jdk/javac" -d "$tmp" "$tests/loads/Churn.java" 2>"$tmp/err" || skip_all "javac: $(head -n 1 "$tmp/err")"

# judge: reads folded stacks. Prints "right wrong states all": samples in numbered classes whose numbers are
# the same, or not; samples of the program with a state for a frame; all of the program. Then wrong stacks. It
# leaves out those from before the recorder knew the JVM.
cat >"$tmp/judge.awk" <<'X'
!/Churn\.main;/ || /\[java: not-yet\]/ { next }
{
	n = $NF
	all += n
	if (/\[java: /)
		states += n
	line = $0
	number = ""
	same = 1
	while (match(line, /(Made|outer|inner)[0-9][0-9][0-9][0-9][0-9][0-9][0-9]/)) {
		this = substr(line, RSTART + 4 + (substr(line, RSTART, 4) != "Made"), 7)
		if (number != "" && this != number)
			same = 0
		number = this
		line = substr(line, RSTART + RLENGTH)
	}
	if (number == "")
		next
	if (same)
		right += n
	else {
		wrong += n
		why[$0]
	}
}
END {
	print right + 0, wrong + 0, states + 0, all + 0
	for (w in why)
		print "#", w
}
X

judge() { awk -f "$tmp/judge.awk"; }
is "the judge sees another number" \
	"$(echo 'java;Churn.main;Made0000001.outer0000001;Made0000001.inner0000002 3' | judge | head -n 1)" \
	"0 3 0 3"

# storm TEXT OPTIONS: records the program with these options of the JVM
storm() {
	text=$1
	shift
	if ! "$jdk/java" "$@" -version >"$tmp/out" 2>&1; then
		skip "$text" "$(head -n 1 "$tmp/out")"
		return
	fi
	cprof-record -q -F 999 -o "$tmp/bin" -- "$jdk/java" "$@" -cp "$tmp" Churn 500 >"$tmp/out" 2>&1
	cprof-sym "$tmp/bin" 2>/dev/null | cprof-fold >"$tmp/folded"
	judge <"$tmp/folded" >"$tmp/judged"
	read -r right wrong states all <"$tmp/judged"
	ok "$text: $right stacks are right" [ "$right" -ge 100 ]
	is "  and none is wrong" "$wrong" 0
	[ "$wrong" = 0 ] || diag "$(grep '^#' "$tmp/judged" | head -n 3)"
	ok "  few have a frame without a name ($states of $all)" [ $((states * 100)) -le "$all" ]
}

storm "classes that are unloaded" -XX:+IgnoreUnrecognizedVMOptions
storm "objects that are moved, in a small heap" -XX:+UseSerialGC -Xmx24m
storm "a small code cache that is flushed" -XX:ReservedCodeCacheSize=3m -XX:+UseCodeCacheFlushing
storm "code that is thrown away at once" -XX:-TieredCompilation -XX:PerMethodRecompilationCutoff=-1 \
	-XX:CompileThreshold=200
storm "the interpreter and the first compiler" -XX:TieredStopAtLevel=1
storm "the interpreter alone" -Xint
done_testing
