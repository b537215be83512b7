#!/bin/sh
# cprof-record --usdt-stacks: stacks of calls by call probes, and the cost.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
[ -e /sys/bus/event_source/devices/uprobe ] || skip_all "this kernel has no uprobes"
load=$BUILD/tests/calls

# record OPTION... -- COMMAND...: into $tmp/raw.bin
record() { cprof-record -F 1999 -U -o "$tmp/raw.bin" "$@" >"$tmp/out" 2>"$tmp/err"; }
# calls FILE [OPTION...]: prints the stacks of calls with at least 20 samples, without machine frames
calls() {
	file=$1
	shift
	cprof-fold --no-names --native none "$@" "$file" 2>/dev/null | sed 's/^[^;]*;//' |
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 !~ /^\[[^:]*[.+]/) sum[$0] += n }
			END { for (k in sum) if (sum[k] >= 20) print k }' | sort
}
# until_true COMMAND...: waits up to 20 seconds
until_true() { for i in $(seq 200); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }

if ! record --usdt-stacks python -- "$load" down 3; then
	grep -q 'requires Linux' "$tmp/err" && skip_all "$(cat "$tmp/err")"
fi
is "a stack of calls" "$(calls "$tmp/raw.bin")" "down;down;down"
is "  with files and lines" "$(calls "$tmp/raw.bin" -l)" \
	"down (calls.py:10);down (calls.py:10);down (calls.py:10)"
like "  above it is the machine's stack, from its root" \
	"$(cprof-sym <"$tmp/raw.bin" 2>/dev/null | cprof-fold --native all)" \
	'^calls;down;down;down;_start;.*;main;(down;)+spin'
like "  the summary has the calls that the program reports" "$(cat "$tmp/err")" \
	"--usdt-stacks python: probes at $(cat "$tmp/out") added 0\.[0-9]* s to the programs, which ran"
like "  before, the cost of a probe was printed" "$(head -n 1 "$tmp/err")" \
	"each call costs at least two probes of [0-9]+\.[0-9] us, in every process that has $load mapped"
record -q --usdt-stacks "python:$load" -- "$load" down 2
is "the file can be given; -q prints nothing" "$(calls "$tmp/raw.bin") $(cat "$tmp/err")" "down;down "

record --usdt-stacks python -- "$load" down 1000
is "beyond 446 calls, their stack ends in a mark, and is right again later" \
	"$(calls "$tmp/raw.bin" | sed 's/^\(down;\)*\[/N downs;[/' | sort)" "N downs;[python: depth]
down;after"
is "  446 are there" "$(calls "$tmp/raw.bin" | grep depth | grep -o down | wc -l)" 446
like "  the others are counted" "$(cat "$tmp/err")" '; 554 calls too deep for a frame'
record --usdt-stacks python -- "$load" unbalanced
is "a call without a return ends with its caller; a return without a call changes nothing" \
	"$(calls "$tmp/raw.bin")" "after
unbalanced;lost;inside"
like "  and is counted" "$(cat "$tmp/err")" '; 1 return without a call'
record --usdt-stacks python -- "$load" thread
is "a thread has a stack of its own" "$(calls "$tmp/raw.bin")" "thread;in_thread"
record --usdt-stacks python -- "$load" fork
is "a new process has its parent's" "$(calls "$tmp/raw.bin")" "alone
forks;in_child"
record --usdt-stacks python -- "$load" fiber
if calls "$tmp/raw.bin" | grep -q 'caller;fiber'; then
	skip "a fiber has a stack of its own" "this kernel has no bpf_find_vma"
else
	is "a fiber has a stack of its own" "$(calls "$tmp/raw.bin")" "caller;between
fiber;in_fiber
later"
fi
record --usdt-stacks python -- "$load" turns 20000
if grep -q 'probes\{0,1\} without a stack' "$tmp/err"; then
	like "calls that were missed on a machine stack leave a mark, or ended" "$(calls "$tmp/raw.bin")" \
		'^(\[python: not-yet\];)?after$'
	unlike "  and no caller that has returned" "$(calls "$tmp/raw.bin")" 'caller.*after'
else
	skip "calls that were missed on a machine stack" "all were found"
fi
record --usdt-stacks python -- sh -c "exec '$load' down 2" || true
like "a command without probes is refused" "$(cat "$tmp/err")" \
	'--usdt-stacks python is not available: the command, with the libraries that it names, has no call'
printf '#!%s\n' "$load" >"$tmp/script"
chmod +x "$tmp/script"
status "  but not a script of an interpreter with probes" 0 \
	cprof-record -q --usdt-stacks python -o "$tmp/raw.bin" -- "$tmp/script"
record --usdt-stacks python -- "$load" names 300
like "300 functions are named" "$(cat "$tmp/err")" 'at 301 calls and 301 returns'
unlike "  each" "$(cat "$tmp/err")" 'without a name'
record --usdt-stacks python --off-cpu -- "$load" sleep
like "waits have the calls" \
	"$(cprof-fold --native none --event off-cpu "$tmp/raw.bin" 2>/dev/null)" '^calls;sleeps'

# In the middle: the first call is not known; a thread that begins later is whole.
"$load" until "$tmp/there" >"$tmp/program" &
program=$!
until_true grep -q calls "/proc/$program/comm"
cprof-record -F 1999 -U --usdt-stacks "python:$load" -p $program -o "$tmp/middle.bin" 2>"$tmp/err" &
recorder=$!
# sampled: are there 60 samples by now?
sampled() { [ "$(cprof-dump "$tmp/middle.bin" 2>/dev/null | grep -c '^sample ')" -ge 60 ]; }
until_true sampled
sleep 0.3
touch "$tmp/there"
wait $recorder $program
is "with -p, a stack whose outer calls are not known has a mark" "$(calls "$tmp/middle.bin")" \
	"[python: not-yet];known
thread;in_thread"
like "  and is counted" "$(cat "$tmp/err")" '; 1 stack without its outer calls; [12] returns? without a call'

# shellcheck disable=SC2016 # for the other shell
sh -c 'until [ -e "$1" ]; do sleep 0.1; done; exec "$0" down 2' "$load" "$tmp/begin" >"$tmp/program" &
program=$!
cprof-record -q -F 1999 -U --usdt-stacks "python:$load" -p $program -o "$tmp/exec.bin" &
recorder=$!
until_true [ -s "$tmp/exec.bin" ]
touch "$tmp/begin"
wait $recorder $program
# Without the shell that waits: each of its programs has samples inside execve.
is "  a program that is executed later is whole" "$(calls "$tmp/exec.bin" --comm calls)" "down;down"

# Ruby reports methods once a program has enabled a TracePoint.
cat >"$tmp/known.rb" <<'END'
TracePoint.new(:call, :return) {}.enable
class Work
  def leaf(n)
    i = 0
    i += 1 while i < n
  end
  def middle(n)
    leaf(n)
  end
  def down(depth, n)
    return leaf(n) if depth == 0
    down(depth - 1, n)
  end
  def run
    k = 0
    while k < 60
      middle(200_000)
      down(5, 100_000)
      k += 1
    end
  end
end
Work.new.run
END
# shares FILE: prints "PERCENT STACK" of the stacks below Work#run that have at least 5 %
shares() {
	cprof-fold --native none "$1" 2>/dev/null | sed -n 's/^.*;\(Work#run;\)/\1/p' |
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n; all += n }
			END { for (k in sum) if (sum[k] >= all / 20) print int(100 * sum[k] / all), k }' |
		sort -k 2
}
ruby=${RUBY:-/usr/bin/ruby}
if [ -x "$ruby" ] && record --usdt-stacks ruby -- "$ruby" -e 1; then
	record --usdt-stacks ruby -- "$ruby" "$tmp/known.rb"
	shares "$tmp/raw.bin" >"$tmp/probes"
	err=$(cat "$tmp/err")
	is "Ruby's methods, with their classes" "$(sed 's/^[0-9]* //' "$tmp/probes")" \
		"Work#run;Work#down;Work#down;Work#down;Work#down;Work#down;Work#down;Work#leaf
Work#run;Work#middle;Work#leaf"
	record -- "$ruby" "$tmp/known.rb"
	shares "$tmp/raw.bin" >"$tmp/walk"
	is "  the same tree as that of the walk" "$(sed 's/^[0-9]* //' "$tmp/probes")" \
		"$(sed 's/^[0-9]* //' "$tmp/walk")"
	is "  with the same shares, within 5 points" \
		"$(paste -d ' ' "$tmp/probes" "$tmp/walk" |
			awk '{ d = $1 - $3; if (d > 5 || d < -5) print }')" ""
	like "  and the slow-down is printed" "$err" \
		'which ran at least [0-9]+\.[0-9] times as long \([0-9.]+ s\)'
else
	skip "Ruby's methods" "there is no $ruby with call probes"
fi

# PHP has them if its environment says so.
if [ -x /usr/bin/php ] && record --usdt-stacks php -- /usr/bin/php -r '1;'; then
	like "without the variable, a message says how to switch PHP's probes on" "$(cat "$tmp/err")" \
		'no call was reported: .*USE_ZEND_DTRACE=1'
	cat >"$tmp/known.php" <<-'END'
	<?php
	class Work {
	    static function leaf($n) { for ($i = 0; $i < $n; $i++); }
	    function down($depth) { return $depth ? $this->down($depth - 1) : self::leaf(10000000); }
	}
	function begin() { (new Work)->down(2); }
	begin();
	END
	USE_ZEND_DTRACE=1 record --usdt-stacks php -- /usr/bin/php "$tmp/known.php"
	is "PHP's functions, with their classes" "$(calls "$tmp/raw.bin")" \
		"main;begin;Work::down;Work::down;Work::down;Work::leaf"
else
	skip "PHP's functions" "there is no /usr/bin/php with call probes"
fi

# Refusals: options, the exit status, a part of the message
while IFS=: read -r options want text; do
	# shellcheck disable=SC2086 # several options
	status "$options" "$want" cprof-record -o "$tmp/none.bin" --usdt-stacks $options
	like "  with a reason" "$(cat "$tmp/err")" "$text"
done <<END
python -a:2:--usdt-stacks requires -p or a command
python --cgroup /:2:--usdt-stacks requires -p or a command
tcl -- $load:2:invalid --usdt-stacks "tcl" \(expected ruby, python, php or perl
python -K -- $load:2:mutually exclusive
python --max-cost 1% -- $load:2:mutually exclusive
python --engine perf -- $load:2:requires the BPF engine
python --unwind fp -- $load:2:requires unwinding by tables
ruby -- $load:1:has no call probes of ruby
ruby -p $$:1:with -p, name the file
END
status "a file that has none" 1 cprof-record --usdt-stacks python:/etc/passwd -o "$tmp/none.bin" -- "$load"
like "  with a reason" "$(cat "$tmp/err")" '/etc/passwd has no call probes of python'
is "nothing was written" "$([ -e "$tmp/none.bin" ] || echo nothing)" nothing
done_testing
