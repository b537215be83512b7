#!/bin/sh
# Views of a capture without names: one of this machine is read through cprof-sym; for others they advise it.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
cd "$tmp" || exit 1
cprof-record -q -o raw.bin -- "$BUILD/tests/burn" brief 500 2>err ||
	skip_all "commands cannot be recorded here"
cprof-sym -o named.bin raw.bin 2>err
cprof-dump raw.bin | sed -E 's/^(meta key="(machine|boot)-id" value=").*/\10"/' | cprof-dump -r >other.bin
advice() { echo "$1: $2: no names: run cprof-sym"; }
note() { echo "$1: $2: no names: read through cprof-sym (--no-names prevents it)"; }

cprof-top --by process -n 0 raw.bin >out 2>err
like "a view of processes needs no names, and misses none" "$(cat out)" ' of [0-9]+ CPUs: [0-9.]+ user'
unlike "  in its summary" "$(cat out)" 'unnamed'
is "  and looks none up" "$(cat err)" ""
for view in "cprof-top -n 0" cprof-fold "cprof-flame -o svg"; do
	name=${view%% *}
	$view named.bin >want 2>err
	is "$view: a capture with names has no message" "$(cat err)" ""
	like "  and names" "$(cat want)" 'brief_work'
	status "  one without names" 0 $view raw.bin
	is "  a message says how it is read" "$(cat "$tmp/err")" "$(note $name raw.bin)"
	same "  and the output is the same" "$tmp/out" want
	status "  --no-names" 0 $view --no-names raw.bin
	is "  has no message" "$(cat "$tmp/err")" ""
	unlike "  and no names" "$(cat "$tmp/out")" 'brief_work'
	cp "$tmp/out" want
	status "  a capture of another machine" 0 $view other.bin
	is "  gets advice" "$(cat "$tmp/err")" "$(advice $name other.bin)"
	unlike "  and no names" "$(cat "$tmp/out")" 'brief_work'
	$view <raw.bin >out 2>err
	is "  a pipe gets advice" "$(cat err)" "$(advice $name 'standard input')"
	cprof-fold --no-names raw.bin >folded 2>err
	status "  folded text" 0 $view folded
	is "  has no message" "$(cat "$tmp/err")" ""
done
cprof-diff raw.bin named.bin >out 2>err
is "cprof-diff: one of the sides" "$(grep 'no names' err)" "$(note cprof-diff raw.bin)"
unlike "  both have names then" "$(cat err)" 'no names yet'
unlike "  and no function comes or goes" "$(cprof-diff -o tsv raw.bin named.bin 2>err)" '\+0x'
cprof-diff --no-names raw.bin named.bin >out 2>err
like "  --no-names: the warning remains" "$(cat err)" 'raw.bin has no names yet: run cprof-sym first'
cprof-top --by process raw.bin >out 2>err
is "names do not matter to --by process" "$(cat err)" ""

for format in speedscope firefox callgrind tsv perfscript; do
	status "cprof-convert -t $format: one without names" 0 cprof-convert -t $format raw.bin
	is "  a message says how it is read" "$(cat "$tmp/err")" "$(note cprof-convert raw.bin)"
	like "  and it has names" "$(cat "$tmp/out")" 'brief_work'
	cprof-convert --no-names -t $format raw.bin >out 2>err
	unlike "  --no-names" "$(cat out)" 'brief_work'
done
cprof-convert -t perf raw.bin >out 2>err
is "cprof-convert -t perf: perf looks names up itself" "$(cat err)" ""
cprof-convert -t tsv other.bin >out 2>err
is "a capture of another machine gets advice" "$(cat err)" "$(advice cprof-convert other.bin)"
cprof-top -w 1 -n 0 raw.bin >out 2>err
like "cprof-top -w reads a file through cprof-sym" "$(cat out)" 'brief_work'
is "  and says so" "$(cat err)" "$(note cprof-top raw.bin)"
cprof-annotate raw.bin >out 2>err
is "cprof-annotate" "$(cat err)" "$(note cprof-annotate raw.bin)"

# Many captures have one message.
mkdir many
for i in 1 2 3; do
	cprof-dump raw.bin | sed "s/^\(meta key=\"command-line\" value=\"\).*/\1$i\"/" >text
	cprof-dump -r text >many/$i
done
for view in cprof-top cprof-fold "cprof-flame -o svg" "cprof-convert -t tsv" cprof-annotate; do
	$view many >out 2>err
	is "$view: three captures" "$(cat err)" \
		"${view%% *}: 3 captures have no names: read through cprof-sym (--no-names prevents it)"
done
cprof-diff --split 0.2s raw.bin >out 2>err
is "cprof-diff: one capture that is read twice" "$(grep 'no names' err)" "$(note cprof-diff raw.bin)"

# The program has been replaced since, or is gone.
cp "$BUILD/tests/burn" prog
cprof-record -q -o replaced.bin -- ./prog brief 500 2>err
cp "$BIN/cprof-dump" prog.new && mv prog.new prog
for view in cprof-top cprof-fold "cprof-flame -o svg" "cprof-convert -t speedscope"; do
	$view replaced.bin >out 2>err
	like "$view: the reason for missing names" "$(cat err)" \
		"^${view%% *}: names are missing: .*/prog \(build-id-mismatch\)"
done
status "cprof-annotate: a function without a name" 1 cprof-annotate brief_work replaced.bin
like "  the reason" "$(cat "$tmp/err")" 'cannot find.*names are missing: .*/prog \(build-id-mismatch\)'
rm prog
cprof-top replaced.bin >out 2>err
like "a file that is gone" "$(cat err)" 'names are missing: .*/prog \(no-file\)'

# Without cprof-sym, and with a capture that is cut
mkdir bin
cp "$BIN/cprof-top" bin/
(PATH=$tmp/bin; cprof-top -n 0 raw.bin) >out 2>err
is "without cprof-sym there is advice" "$(cat err)" "$(advice cprof-top raw.bin)"
head -c "$(($(wc -c <raw.bin) - 40))" raw.bin >cut.bin
status "a cut capture" 3 cprof-fold cut.bin
like "  has names" "$(cat "$tmp/out")" 'brief_work'
done_testing
