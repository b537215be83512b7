#!/bin/sh
# The cost of frames of interpreted languages. For each language two busy programs with stacks of two depths
# are recorded in turns with --lang none and with the language; then two programs without an interpreter, with
# --lang none and with all languages. Requires root. About ten minutes:
#
#	[BENCH_HERTZ='99 999'] [BENCH_ROUNDS=3] [BENCH_LANGUAGES='python ruby php perl javascript java'] \
#		BIN=build/bin BUILD=build tests/bench/lang.sh
#
# Prints the BPF program's time per sample in ns, as the lowest of the rounds: other load on the machine only
# adds to it. The difference of the two depths is the time of a frame, the rest that of a sample. The
# percentages are the median cost of the recorder and its program in percent of a CPU per CPU, in recordings
# of 2 s: most of it is for files and programs that are read and loaded at the beginning. Recordings of
# JavaScript and Java take 6 s, and the time per sample is that from the third second on: by then the
# compilers are done, and the recorder knows the JVM. The last lines have the cost without the first 3 s.
#
# Fails if a frame of Python costs more than 150 ns, or a sample more than 1.5 us beyond its frames; if a
# frame of JavaScript costs more than 500 ns, or one of Java more than 400, and from 999 Hz on more than 200.
# Fails also if two Python programs at 99 Hz, once started, cost more than 0.1 % of a CPU per CPU beyond
# --lang none, or two of JavaScript or Java more than 0.12 %. Prints the CPU time of py-spy if it is
# installed. Only the differences between rows of one run say something: the machine's own noise is in each.
# shellcheck disable=SC2154 # lib.sh sets here, top and tmp
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/spent-lib.sh"
python=${PYTHON:-/usr/bin/python3} ruby=${RUBY:-ruby} php=${PHP:-php} perl=${PERL:-perl}
javascript=${NODE:-node} java=${JAVA:-java}
languages=${BENCH_LANGUAGES:-python ruby php perl javascript java}
[ "$(id -u)" = 0 ] || { echo "root only" >&2; exit 1; }
rounds=${BENCH_ROUNDS:-3} few=5 many=65

cat >"$tmp/deep.python" <<'END'
import sys, time
def down(n):
    if n:
        return down(n - 1)
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        for i in range(1000):
            pass
down(int(sys.argv[1]))
END
cat >"$tmp/deep.ruby" <<'END'
def down(n)
  return down(n - 1) if n > 0
  till = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[1].to_f
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < till
    i = 0
    i += 1 while i < 1000
  end
end
down(ARGV[0].to_i)
END
cat >"$tmp/deep.php" <<'END'
<?php
function down($n) {
	if ($n) { down($n - 1); return; }
	$end = microtime(true) + $GLOBALS['argv'][2];
	while (microtime(true) < $end) { for ($i = 0; $i < 1000; $i++) { } }
}
down((int) $argv[1]);
END
cat >"$tmp/deep.perl" <<'END'
use Time::HiRes 'time';
no warnings 'recursion';
sub down {
	my ($n) = @_;
	if ($n) { down($n - 1); return; }
	my $end = time + $ARGV[1];
	while (time < $end) { for my $i (1 .. 1000) { } }
}
down($ARGV[0]);
END
# Compilers want many calls.
cat >"$tmp/deep.javascript" <<'END'
function down(n) {
	if (n) return down(n - 1) + 1;
	let x = 0;
	for (const end = process.hrtime.bigint() + 1000000n; process.hrtime.bigint() < end;)
		for (let i = 0; i < 1000; i++) x = (x * 31 + i) % 1000003;
	return x;
}
for (const end = Date.now() + 1000 * process.argv[3]; Date.now() < end;) down(+process.argv[2]);
END
cat >"$tmp/Deep.java" <<'END'
class Deep {
	static int down(int n) {
		if (n > 0)
			return down(n - 1) + 1;
		int x = 0;
		for (long end = System.nanoTime() + 1000000; System.nanoTime() < end;)
			for (int i = 0; i < 1000; i++)
				x = x * 31 + (x >>> 7) + i % 7;
		return x;
	}
	public static void main(String[] args) {
		long end = System.nanoTime() + Long.parseLong(args[1]) * 1000000000;
		int n = Integer.parseInt(args[0]), x = 0;
		while (System.nanoTime() < end)
			x += down(n);
		System.exit(x == 7 ? 0 : 0);
	}
}
END
echo "-cp $tmp Deep" >"$tmp/deep.java" # a file of arguments
cat >"$tmp/deep.none" <<'END'
end=$(($(date +%s) + $2))
while [ "$(date +%s)" -le $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done
END

# costs LANG HERTZ FILE DEPTH INTERPRETER: prints ns a sample, and the cost in percent
costs() {
	case $3 in *java*) seconds=6 from=3 ;; *) seconds=2 from=0 ;; esac
	# shellcheck disable=SC2016 # the inner shell's
	cprof-record --lang "$1" -F "$2" -o "$tmp/x.bin" -- \
		sh -c '"$0" "$1" "$2" "$3" & "$0" "$1" "$2" "$3"; wait' "$5" "$3" "$4" "$seconds" \
		2>"$tmp/summary"
	cprof-dump "$tmp/x.bin" | spent $from |
		awk '{ of[$1] = $2 } END { printf "%.0f ", of["bpf-ns"] / of["bpf-runs"] }'
	sed -n 's/.* in BPF between = \([0-9.]*\) %.*/\1/p' "$tmp/summary"
}

# file_of LANGUAGE: the argument that makes its interpreter run the program
file_of() {
	case $1 in java) printf @ ;; esac
	echo "$tmp/deep.$1"
}

lowest() { cut -d' ' -f1 "$1" | sort -n | head -n 1; }
median() { cut -d' ' -f2 "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# row NAME HERTZ LANG FILE INTERPRETER: a line of the table; also in $tmp/rows
row() {
	for depth in $few $many; do
		: >"$tmp/none.$depth"
		: >"$tmp/lang.$depth"
	done
	for round in $(seq "$rounds"); do
		for depth in $few $many; do
			costs none "$2" "$4" "$depth" "$5" >>"$tmp/none.$depth"
			costs "$3" "$2" "$4" "$depth" "$5" >>"$tmp/lang.$depth"
		done
	done
	echo "$1 $2 $(lowest "$tmp/none.$few") $(lowest "$tmp/lang.$few") $(lowest "$tmp/none.$many")" \
		"$(lowest "$tmp/lang.$many") $(median "$tmp/none.$many") $(median "$tmp/lang.$many")" |
		awk -v few=$few -v many=$many '{
			frame = ($6 - $5 - ($4 - $3)) / (many - few)
			printf "%-8s %5d %9d %9d %9d %9d %9.0f %10.0f %8s %8s\n",
				$1, $2, $3, $4, $5, $6, frame, $4 - $3 - few * frame, $7, $8
		}' | tee -a "$tmp/rows"
}

echo "load: $(cat /proc/loadavg)"
printf '%-8s %5s %9s %9s %9s %9s %9s %10s %8s %8s\n' language hertz "none $few" "lang $few" "none $many" \
	"lang $many" ns/frame ns/sample "none %" "lang %"
for hertz in ${BENCH_HERTZ:-99 999}; do
	for language in $languages; do
		eval "interpreter=\$$language"
		command -v "$interpreter" >/dev/null || { echo "$language: no $interpreter"; continue; }
		[ "$language" != java ] || javac -d "$tmp" "$tmp/Deep.java" || continue
		row "$language" "$hertz" "$language" "$(file_of "$language")" "$interpreter"
	done
	row nothing "$hertz" python,ruby,php,perl,javascript,java "$tmp/deep.none" sh
done
echo "load: $(cat /proc/loadavg)"

# started LANG LANGUAGE: prints the cost of a recording at 99 Hz from its fourth second on, in percent of a
# CPU per CPU. LANG: for --lang
started() {
	eval "interpreter=\$$2"
	# shellcheck disable=SC2016 # the inner shell's
	cprof-record -q --lang "$1" -F 99 -o "$tmp/x.bin" -- \
		sh -c '"$0" "$1" 30 12 & "$0" "$1" 30 12; wait' "$interpreter" "$(file_of "$2")"
	cprof-dump "$tmp/x.bin" | spent 3 | awk -v cpus="$(nproc)" '
		$1 == "time" { time = $2 }
		$1 ~ /^[a-z]*-ns$/ { sum += $2 }
		END { printf "%.3f\n", 100 * sum / time / cpus }'
}
: >>"$tmp/rows"
: >"$tmp/over"
for language in $languages; do
	case $language in python) most=0.1 ;; java*) most=0.12 ;; *) continue ;; esac
	for lang in none "$language"; do : >"$tmp/started.$lang"; done
	for round in $(seq "$rounds"); do
		for lang in none "$language"; do started "$lang" "$language" >>"$tmp/started.$lang"; done
	done
	none=$(sort -n "$tmp/started.none" | head -n 1) own=$(sort -n "$tmp/started.$language" | head -n 1)
	echo "two programs of $language at 99 Hz, once started: $own %; with --lang none: $none %"
	awk -v none="$none" -v own="$own" -v most="$most" 'BEGIN { exit own - none > most }' ||
		echo "$language at 99 Hz: more than $most % of a CPU per CPU" >>"$tmp/over"
done
echo "load: $(cat /proc/loadavg)"

if command -v py-spy >/dev/null; then
	for i in 1 2; do "$python" "$tmp/deep.python" "$many" 10 & done
	for p in $(pgrep -f "$tmp/deep.python"); do
		bash -c 'TIMEFORMAT="py-spy at 99 Hz: %U s user, %S s system in 5 s"
			time "$@" >/dev/null 2>&1' - \
			py-spy record -r 99 -d 5 -f raw -o /dev/null -p "$p"
	done
	wait
else
	echo "py-spy is not installed"
fi
awk '{ most = $1 == "python" ? 150 : $1 !~ /^java/ ? 1e9 : $2 > 900 ? 200 : $1 == "java" ? 400 : 500 }
	$7 > most { print $1 " at " $2 " Hz: " $7 " ns a frame, more than " most }
	$1 == "python" && $8 > 1500 { print "Python: more than 1.5 us a sample" }' "$tmp/rows" >>"$tmp/over"
cat "$tmp/over"
[ ! -s "$tmp/over" ]
