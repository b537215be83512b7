#!/bin/sh
# Progress on a terminal of programs that read for over a second: only there, and erased at the end.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"

# The operand is a pipe, which the test fills once it has seen the line.
cat >"$tmp/c.txt" <<X
segment major=1 minor=0 least=1
event id=1 name="c" unit="ns" period=9 millihertz=9
process id=1 time=1 pid=7 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=7
comm time=1 thread=1 comm="sh"
sample time=5 event=1 cpu=0 thread=1 user=0 kernel=0 weight=9
end time=99 reason=closed samples=1
flush
X
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1
mkfifo "$tmp/slow"
for c in sym fold flame top archive annotate 'convert -t pprof'; do
	python3 "$here/progress.py" "$tmp" "cprof-$c" "$tmp/c.bin" "$tmp/slow" >"$tmp/out" 2>"$tmp/err"
	is "cprof-$c: a line after a second, which is erased" "$(cat "$tmp/out" "$tmp/err")" \
		"cprof-${c%% *}: slow: N s, erased"
done
python3 "$here/progress.py" "$tmp" quick "$tmp/c.bin" "$tmp/slow" >"$tmp/out" 2>&1
is "nothing otherwise" "$(cat "$tmp/out")" "quick: nothing
no terminal: nothing
percent: 0 to 100, in steps that do not fall"
done_testing
