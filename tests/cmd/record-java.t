#!/bin/sh
# cprof-record: methods, inlined ones too, and lines of Java programs, in whole stacks of the JVM.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
jdk=$(dirname "$(readlink -f "$(command -v "${JAVA:-java}")" 2>/dev/null)")
[ -x "$jdk/java" ] && [ -x "$jdk/javac" ] && [ -x "$jdk/javap" ] || skip_all "there is no JDK"
command -v python3 >/dev/null || skip_all "there is no python3"
version=$("$jdk/javac" -version 2>&1 | sed 's/javac \(1\.\)*\([0-9]*\).*/\2/')
"$jdk/javac" -d "$tmp" "$tests/loads/Known.java" 2>"$tmp/err" || skip_all "javac: $(head -n 1 "$tmp/err")"

# record NAME HERTZ ARGUMENTS: leaves NAME.bin, NAME.dump and NAME.folded
record() {
	name=$1 hertz=$2
	shift 2
	cprof-record -q -F "$hertz" -o "$tmp/$name.bin" -- "$jdk/java" -cp "$tmp" "$@" >"$tmp/$name.out"
	cprof-dump "$tmp/$name.bin" >"$tmp/$name.dump"
	cprof-sym <"$tmp/$name.bin" 2>/dev/null | cprof-fold >"$tmp/$name.folded"
}
# judge NAME OPTIONS: the first second is left out, in which the recorder gets to know the process
judge() {
	name=$1
	shift
	python3 "$tests/lib/java-pairs.py" -f 1 -o Known "$@" "$jdk/javap" -cp "$tmp" \
		<"$tmp/$name.dump" >"$tmp/$name.judged"
}
count() { sed -n "s/^$2 //p" "$tmp/$1.judged"; }

for ms in 3000 12000 48000; do # longer if others have the CPUs
	record all 499 -XX:CompileCommand=dontinline,Known.bottom \
		-Dsun.reflect.inflationThreshold=2147483647 -Djdk.reflect.useNativeAccessorOnly=true Known $ms
	judge all -r Known.bottom/Known.descend=61
	[ "$(count all stacks)" -lt 500 ] || break
done
ok "there are pairs of caller and callee ($(count all pairs))" [ "$(count all pairs)" -ge 300 ]
ok "  of which at most 0.05 % contradict the bytecode ($(count all bad))" \
	[ $(($(count all bad) * 2000)) -le "$(count all pairs)" ]
grep '^#' "$tmp/all.judged"
ok "  99 % of stacks are whole ($(count all whole) of $(count all stacks))" \
	[ $(($(count all whole) * 100)) -ge $(($(count all stacks) * 99)) ]
ok "  99.9 % of frames have a name ($(count all named) of 1000)" [ "$(count all named)" -ge 999 ]
judge all -w
ok "the judge notices wrong lines ($(count all bad))" \
	[ $(($(count all bad) * 2)) -ge "$(count all pairs)" ]

f=$tmp/all.folded
# or without symbols
start='(_*clone3*;start_thread|start_thread|\[libc[^;]*);.*;(JavaCalls::call_virtual|\[libjvm[^;]*)'
like "a thread begins in native code and in Thread.run" "$(grep -m 1 '^recursion;.*descend' "$f")" \
	"^recursion;$start;.*;java\.lang\.Thread\.run;.*Known\.repeat;"
# A sample between the instructions that set up a frame can have it twice.
grep '^recursion;.*descend;Known.bottom;Known.spin ' "$f" |
	awk '{ n = gsub(/Known.descend;/, ""); s[n] += $NF } END { for (n in s) print n, s[n] }' >"$tmp/depths"
ok "recursion has each of its frames ($(tr '\n' ',' <"$tmp/depths"))" \
	awk '{ all += $2; if ($1 == 61) right = $2 } END { exit !(right && right >= 0.95 * all) }' "$tmp/depths"
# The first calls are in the JVM's stubs that look the method up.
is "lambdas have a name that the next run has too" \
	"$(grep '^lambdas;' "$f" | grep -o 'Known\.lambda;[A-Z][^;]*;' | sort -u)" \
	'Known.lambda;Known$$Lambda.applyAsInt;'
like "an inherited method is that of its class" "$(grep -m 1 'Known\.area;' "$f")" \
	'Known\.interfaces;Known\.area;Known\$(Square|Circle|Line|Point)\.area'
like "native code is called by its method" "$(grep -m 1 'Deflater\.deflateBytes.*;Java_' "$f")" \
	'Known\.deflate;.*Deflater\.deflateBytes(Bytes)?;Java_java_util_zip_Deflater_deflateBytes'
invoke='java\.lang\.reflect\.Method\.invoke;.*invoke0;.*(Reflection::invoke_method|JVM_InvokeMethod)'
like "  and calls Java" "$(grep -m 1 '^reflection;.*Known.target;Known.spin' "$f")" \
	"Known\.reflection;$invoke;.*;Known\.target;Known\.spin"
unlike "no name has an address" "$(cat "$f")" '[+/]0x0*[1-9a-f]+[0-9a-f]*\.'

# Again if others kept it from its work. --from: the interpreter's rounds are slow
for _ in 1 2 3; do
	record shares 499 Known 2500 shares
	cprof-sym <"$tmp/shares.bin" 2>/dev/null | cprof-fold --from 1 >"$tmp/shares.folded"
	awk '
		FILENAME ~ /out$/ { want[$1] = $2; all += $2; next }
		/Known\.(fifty|thirty|twenty)/ { match($0, /Known\.(fifty|thirty|twenty)/)
			got[substr($0, RSTART + 6, RLENGTH - 6)] += $NF; total += $NF }
		END { for (m in want) { d = 100 * got[m] / total - 100 * want[m] / all; d = d < 0 ? -d : d
			if (d > most) most = d }; printf "%.1f\n", most }' \
		"$tmp/shares.out" "$tmp/shares.folded" >"$tmp/most"
	awk '{ exit $1 > 6 }' "$tmp/most" && break
	diag "shares are off by $(cat "$tmp/most") points"
done
ok "methods have their shares of counted work, within 6 points ($(cat "$tmp/most"))" \
	awk '{ exit $1 > 6 }' "$tmp/most"
cprof-sym <"$tmp/shares.bin" 2>/dev/null | cprof-fold -l >"$tmp/lines"
is "a method that is inlined has the line of its loop" \
	"$(grep -o 'Known\.fifty (Known\.java:[0-9]*)' "$tmp/lines" | sort -u)" \
	"Known.fifty (Known.java:$(grep -n 'int fifty()' "$tests/loads/Known.java" | cut -d: -f1))"

# A place has room for 32 methods. A longer chain keeps the inner ones and the outermost one.
{
	echo 'class Deep {'
	for i in $(seq 0 39); do echo "	static int f$i(int n) { return f$((i + 1))(n) + 1; }"; done
	cat <<-'END'
		static int f40(int n) {
			int x = n;
			for (int i = 0; i < 3000; i++)
				x = x * 31 + (x >>> 7) + i % 7;
			return x;
		}
		public static void main(String[] arguments) {
			long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1000000, x = 0;
			while (System.nanoTime() < end)
				x += f0((int)x);
			System.out.println(x);
		}
		}
	END
} >"$tmp/Deep.java"
"$jdk/javac" -d "$tmp" "$tmp/Deep.java"
for ms in 3000 12000; do # longer if others have the CPUs
	record deep 499 -XX:MaxInlineLevel=100 Deep $ms
	grep -q '\[java: depth\]' "$tmp/deep.folded" && break
done
inner=$(seq -s ';' -f 'Deep.f%g' 11 40)
like "methods that have no room leave a mark" "$(grep 'depth\]' "$tmp/deep.folded" | head -n 1)" \
	"Deep\.main;(Deep\.f0;)?\[java: depth\];$inner "

if [ "$version" -ge 21 ] && "$jdk/javac" -d "$tmp" "$tests/loads/KnownVirtual.java"; then
	record virtual 499 KnownVirtual 2000
	judge virtual
	ok "virtual threads are whole ($(count virtual whole) of $(count virtual stacks))" \
		[ $(($(count virtual whole) * 100)) -ge $(($(count virtual stacks) * 98)) ]
	like "  from the carrier on, with a frame for those in the heap" \
		"$(grep -m 1 'heap\];KnownVirtual\.descend' "$tmp/virtual.folded")" \
		'Thread\.run.*Continuation\.run;\[frames in the heap\];KnownVirtual\.descend'
fi
done_testing
