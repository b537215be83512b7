#!/bin/sh
# Parts of one recording as the sides of cprof-diff and cprof-flame --diff, and a time window for each side.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/made-captures.sh"
export TZ=UTC
cd "$tmp" || exit 1
run() { "$@" 2>err; }
said() { cat "$tmp/err"; }

# 30 seconds at 100 Hz from 12:00:00 on: load in the first two; old runs 7 of 10 times until 12 s, then 3.
python3 - <<'E' | cprof-dump -r >one.bin || exit 1
print('segment major=1 minor=0 least=1\nmeta key="host" value="h"\nmeta key="clock" value="monotonic"')
print('meta key="start-realtime-ns" value="1795694400000000000"')
print('meta key="start-monotonic-ns" value="1000000000"')
print('event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000\nflush')
print('process id=1 time=1 pid=7 nspid=0 parent=0 start=5 gen=0 via=snapshot')
print('thread id=1 time=1 process=1 tid=7\ncomm time=1 thread=1 comm="app"')
for i, name in enumerate(('main', 'load', 'old', 'new')):
    print(f'string id={i + 1} text="{name}"\nframe id={i + 1} process=1 kind=exact address=0x{i + 1}000')
    print(f'symbol frame={i + 1} from=0 level=0 source=symtab name={i + 1} offset=0 file=0 line=0')
    print(f'node id={i + 21} parent={0 if i == 0 else 21} frame={i + 1}')
for i in range(3000):
    node = 22 if i < 200 else 23 if (i * 7) % 10 < (7 if i < 1200 else 3) else 24
    print(f'sample time={1000000000 + i * 10000000} event=1 cpu=0 thread=1 user={node} kernel=0 '
          'weight=10000000')
print('end time=31000000000 reason=closed samples=3000\nflush')
E
cp one.bin two.bin

# compare OPTIONS_A OPTIONS_B FILE: writes the weights that cprof-fold has for two windows
weights() { awk -F '\t' 'NR > 1 { print $1, $3, $4, $13, $14 }' | sort; }
compare() {
	cprof-fold $1 $3 >a.folded && cprof-fold $2 $3 >b.folded || return 1
	cprof-diff -o tsv a.folded b.folded | weights >want
	[ -s want ]
}
# equals DESCRIPTION OPTIONS...: cprof-diff has these weights
equals() {
	what=$1
	shift
	run cprof-diff -o tsv "$@" | weights >got
	same "$what" got want
	is "  without a word" "$(said)" ""
}

ok "cprof-fold knows two windows" compare '--to 12s' '--from 12s' one.bin
equals "--split: before a time, and from then on" --split 12s one.bin
equals "  by the clock" --split 2026-11-26T12:00:12Z one.bin
equals "  by a time of day" --split 12:00:12 one.bin
equals "  as bounds" --before-to 12s --after-from 12s one.bin
equals "  as windows of two operands, of one file" --before-to 12s --after-from 12s one.bin one.bin
gzip <one.bin >one.gz
equals "  of a compressed capture" --split 12s one.gz
equals "  of operands with --before and --after" \
	--before-to 12s --after-from 12s --before one.bin --after one.bin
ok "windows with a time between them" compare '--from 2s --to 12s' '--from 14s --to 20s' one.bin
equals "  of one capture" --before-from 2s --before-to 12s --after-from 14s --after-to 20s one.bin
equals "  of two" --before-from 2s --before-to 12s --after-from 14s --after-to 20s one.bin two.bin
ok "--from and --to" compare '--from 2s --to 12s' '--from 12s --to 20s' one.bin
equals "  are for both sides" --from 2s --split 12s --to 20s one.bin
ok "  and for a side" compare '--from 2s --to 9s' '--from 15s --to 20s' one.bin
equals "  without bounds of its own" --from 2s --to 20s --before-to 9s --after-from 15s one.bin
mkdir archive
for i in 0 60 120 180; do made_capture $i one two three | cprof-dump -r >archive/$i.cprof; done
ok "a directory" compare '--to 12:02' '--from 12:02' archive
equals "  is one recording" --split 12:02 archive
equals "  and so are its files" --split 12:02 archive/0.cprof archive/60.cprof archive/1[28]0.cprof

# The table, and its verdicts
cprof-diff --split 12s one.bin >out
like "the table says what A is" "$(sed -n 1p out)" '^A: one.bin until 12s, 1200 samples$'
like "  and B" "$(sed -n 2p out)" '^B: one.bin from 12s, 1800 samples$'
like "what changed is found" "$(sed 's/  */ /g' out)" '^ 25.00% 70.00% \+45.00 \[.*new$'
like "  from blocks of time" "$(cat out)" '^chance is estimated .* between blocks of time: [0-9]+ of'
cprof-diff --before-from 2s --before-to 7s --after-from 7s --after-to 12s one.bin >out
like "what did not is not" "$(cat out)" '^0 of 3 functions changed'
like "  with windows in the titles" "$(cat out)" '^B: one.bin from 7s to 12s, 500 samples$'
status "a gate on a deployment" 5 cprof-diff --fail-above 20 --split 12:00:12 one.bin
like "the brief has the windows" "$(cprof-diff -o md --split 12s one.bin)" '`cprof-diff --split 12s one.bin`'

# Mistakes
bad() { what=$1 want=$2; shift 2; status "$what" 2 "$@"; like "  is refused" "$(said)" "$want"; }
bad "standard input" 'require a file: a pipe cannot be read twice' cprof-diff --split 12s -
bad "no operand" 'two operands are required' cprof-diff --split 12s
mkfifo pipe
bad "a pipe" 'require a file: a pipe cannot be read twice' cprof-diff --split 12s pipe
bad "--split of two sides" 'takes the captures of one recording' cprof-diff --split 12s one.bin -- two.bin
bad "  with --before" 'takes the captures of one recording' \
	cprof-diff --split 12s --before one.bin --after two.bin
bad "--split beside a bound" '--split and --before-to are mutually exclusive' \
	cprof-diff --split 12s --before-to 11s one.bin
bad "an empty window" '--before-from is not before --split' cprof-diff --before-from 20s --split 12s one.bin
bad "  by --to" '--after-from is not before --to' cprof-diff --to 5s --after-from 12s one.bin
bad "no time" 'invalid --after-from "noon"' cprof-diff --after-from noon one.bin
bad "folded text" '--split requires a capture' cprof-diff --split 12s a.folded
bad "cprof-flame without --diff" '--split requires --diff' cprof-flame --split 12s one.bin
run cprof-diff --before-to 12s --after-from 10s one.bin >out
like "windows that overlap are reported" "$(said)" 'the windows of the two sides overlap'
run cprof-diff --after-from 10s one.bin >out
like "  and a window in all of the time" "$(said)" 'the windows of the two sides overlap'
run cprof-diff --before-from 12s --after-to 12s one.bin >out
like "the wrong order is reported" "$(said)" 'the window of the second side is before that of the first'
run cprof-diff --split 40s one.bin >out
like "a side without samples is reported, and the time there is" "$(said)" \
	'^cprof-diff: 0 samples of one.bin from 40s are compared: .* all that it has; recorded: 0 to 30 s$'

# The page
run cprof-flame --diff --split 12:00:12 one.bin >split.html
is "the page, without a word" "$(said)" ""
"$here/flame-block.py" boxes split.html | awk '{ print $1, $(NF - 2), $(NF - 1) }' | sort >got
printf '%s\n' 'app 1200 1800' 'app;main 1200 1800' 'app;main;load 200 0' 'app;main;new 300 1260' \
	'app;main;old 700 540' >want
same "  has the totals of both" got want
like "  its title" "$(grep '<title>' split.html)" '<title>Change of h<'
like "  and the time" "$(grep 'id="subtitle"' split.html)" \
	'subtitle">2026-11-26 12:00:00 UTC, 30(\.0)? s, [^;]*; --split 12:00:12<'
run cprof-flame --diff --split 40s one.bin >split.html
like "  says what has no samples" "$(said)" '0 samples of one.bin from 40s are compared'
done_testing
