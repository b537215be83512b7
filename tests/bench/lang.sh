#!/bin/sh
# The cost of frames of interpreted languages. For each language two busy programs with stacks of two depths
# are recorded in turns with --lang none and with the language; then two programs without an interpreter, with
# --lang none and with all languages. Requires root. About five minutes:
#
#	[BENCH_HERTZ='99 999'] [BENCH_ROUNDS=3] [BENCH_LANGUAGES='python ruby php perl'] \
#		BIN=build/bin BUILD=build tests/bench/lang.sh
#
# Prints the BPF program's time per sample in ns, as the lowest of the rounds: other load on the machine only
# adds to it. The difference of the two depths is the time of a frame, the rest that of a sample. The
# percentages are the median cost of the recorder and its program in percent of a CPU per CPU, in recordings
# of 2 s: most of it is for files and programs that are read and loaded at the beginning. The last lines have
# the cost without the first 3 s.
#
# Fails if a frame of Python costs more than 150 ns, or a sample more than 1.5 us beyond its frames. Fails
# also if two Python programs at 99 Hz, once started, cost more than 0.1 % of a CPU per CPU beyond --lang
# none. Prints the CPU time of py-spy if it is installed. Only the differences between rows of one run say
# something: the machine's own noise is in each.
# shellcheck disable=SC2154 # lib.sh sets here, top and tmp
. "$(dirname "$0")/../lib/lib.sh"
python=${PYTHON:-/usr/bin/python3} ruby=${RUBY:-ruby} php=${PHP:-php} perl=${PERL:-perl}
[ "$(id -u)" = 0 ] || { echo "root only" >&2; exit 1; }
rounds=${BENCH_ROUNDS:-3} few=5 many=65 seconds=2

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
cat >"$tmp/deep.none" <<'END'
end=$(($(date +%s) + $2))
while [ "$(date +%s)" -le $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done
END

# costs LANG HERTZ FILE DEPTH INTERPRETER: prints ns a sample, and the cost in percent
costs() {
	# shellcheck disable=SC2016 # the inner shell's
	cprof-record --lang "$1" -F "$2" -o "$tmp/x.bin" -- \
		sh -c '"$0" "$1" "$2" "$3" & "$0" "$1" "$2" "$3"; wait' "$5" "$3" "$4" "$seconds" \
		2>"$tmp/summary"
	cprof-dump "$tmp/x.bin" | sed -n 's/^cost .*what=\(bpf-[nr][a-z]*\) count=\([0-9]*\).*/\1 \2/p' |
		awk '{ last[$1] = $2 } END { printf "%.0f ", last["bpf-ns"] / last["bpf-runs"] }'
	sed -n 's/.* in BPF between = \([0-9.]*\) %.*/\1/p' "$tmp/summary"
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
	for language in ${BENCH_LANGUAGES:-python ruby php perl}; do
		eval "interpreter=\$$language"
		command -v "$interpreter" >/dev/null || { echo "$language: no $interpreter"; continue; }
		row "$language" "$hertz" "$language" "$tmp/deep.$language" "$interpreter"
	done
	row nothing "$hertz" python,ruby,php,perl "$tmp/deep.none" sh
done
echo "load: $(cat /proc/loadavg)"

# started LANG: prints the cost of a recording at 99 Hz from its fourth second on, in percent of a CPU per CPU
started() {
	# shellcheck disable=SC2016 # the inner shell's
	cprof-record -q --lang "$1" -F 99 -o "$tmp/x.bin" -- \
		sh -c '"$0" "$1" 30 12 & "$0" "$1" 30 12; wait' "$python" "$tmp/deep.python"
	cprof-dump "$tmp/x.bin" |
		sed -n 's/^cost time=\([0-9]*\) what=\([a-z]*-ns\) count=\([0-9]*\).*/\1 \2 \3/p' |
		awk -v cpus="$(nproc)" '
		$1 != time && time { at() }
		{ time = $1; ns[$2] = $3 }
		function at(  sum, w) {
			for (w in ns) sum += ns[w]
			if (!first) first = time
			if (!since && time >= first + 3e9) { since = time; base = sum }
			last = time; end = sum
		}
		END { at(); printf "%.3f\n", 100 * (end - base) / (last - since) / cpus }'
}
: >>"$tmp/rows"
: >"$tmp/started.none"
: >"$tmp/started.python"
for round in $(seq "$rounds"); do
	started none >>"$tmp/started.none"
	started python >>"$tmp/started.python"
done
for lang in none python; do
	echo "two Python programs at 99 Hz, once started, --lang $lang:" \
		"$(sort -n "$tmp/started.$lang" | head -n 1) %"
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
awk '$1 == "python" && ($7 > 150 || $8 > 1500) {
		print "Python: more than 150 ns a frame or 1.5 us a sample"
		bad = 1
	}
	END { exit bad }' "$tmp/rows" &&
	awk 'NR == FNR { if (none == "" || $1 < none) none = $1; next } lang == "" || $1 < lang { lang = $1 }
		END {
			if (lang - none > 0.1) {
				print "Python at 99 Hz: more than 0.1 % of a CPU per CPU"
				exit 1
			}
		}' \
		"$tmp/started.none" "$tmp/started.python"
