#!/bin/sh
# Mistakes that users of other profilers make, each answered with what to type instead.
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" || exit 1
printf '%s\n' 'app;main;work 6' 'app;main 3' >a.folded

# said COMMAND...: the first line of its answer
said() { "$@" 2>&1 >/dev/null </dev/null | head -n 1; }
if [ -x "$BIN/cprof-record" ]; then
	is "a command without --" "$(said cprof-record sleep 1)" \
		"cprof-record: a command comes after --: cprof-record -- sleep 1"
	is "  whose option is one of ours" "$(said cprof-record perl -e 'sleep 1')" \
		"cprof-record: a command comes after --: cprof-record -- perl -e 'sleep 1'"
	is "  after a duration" "$(said cprof-record 5 make -j2)" \
		"cprof-record: a command comes after --: cprof-record 5 -- make -j2"
	is "  after options" "$(said cprof-record -o x.bin ./prog -a)" \
		"cprof-record: a command comes after --: cprof-record -- ./prog -a"
	is "  after -a" "$(said cprof-record -a make)" \
		"cprof-record: a command comes after --: cprof-record -- make"
	unlike "an option's argument is no command" "$(said cprof-record -o x.bin -p 1,a 1)" 'comes after --'
	is "a duration in minutes" "$(said cprof-record -a 5m 6)" \
		'cprof-record: invalid duration "6" (expected one, and "5m" is given)'
	is "no duration" "$(said cprof-record -a 5x)" \
		'cprof-record: invalid duration "5x" (expected seconds, like 60 or 0.5, or a time like 500ms or 5m)'
	is "two durations" "$(said cprof-record -a 5 6)" \
		'cprof-record: invalid duration "6" (expected one, and "5" is given)'
	is "  of which one was for --off-cpu" "$(said cprof-record -a --off-cpu 1ms 6)" \
		'cprof-record: invalid duration "6" (expected --off-cpu=1ms, or one duration)'
	is "the name of a process" "$(said cprof-record -p nginx 1)" \
		'cprof-record: invalid -p "nginx" (expected a number, as from pgrep nginx)'
	like "an event, nearly" "$(said cprof-record -e pagefaults 1)" '; did you mean page-faults\?'
	like "-g" "$(said cprof-record -g -o x.bin -- true)" \
		'^cprof-record: -g is not needed: stacks are always recorded$'
	like "--call-graph dwarf" "$(said cprof-record --call-graph dwarf -o x.bin -- true)" \
		'^cprof-record: --call-graph is not needed: stacks are always recorded$'
fi

# perf's files, as perf writes them and as a text editor might
{ printf 'PERFILE2'; head -c 96 /dev/zero; } >perf.data
how="perf script -i FILE | cprof-convert -t stream"
for c in cprof-top cprof-fold cprof-sym cprof-flame cprof-annotate 'cprof-convert -t pprof'; do
	is "$c of perf.data" "$(said $c perf.data)" "${c%% *}: perf.data: a perf.data file, not a cprof stream: $how"
done

echo '{ "version": 1 }' >a.json
is "JSON" "$(said cprof-top a.json)" \
	"cprof-top: a.json: this is JSON, neither a capture nor folded text"
is "two functions" "$(said cprof-annotate work main a.folded)" \
	'cprof-annotate: "work" and "main" are not files (expected one function, and captures)'
printf 'x\0y\n' >a.bin
is "a capture for cprof-dump -r" "$(said cprof-dump -r a.bin)" \
	"cprof-dump: a.bin: line 1: a NUL byte; -r takes text, not a capture"

# Words of other programs
for pair in dso=module sym=function pid=process tid=thread cgroup=container command=comm; do
	is "--by ${pair%=*}" "$(said cprof-top --by ${pair%=*} a.folded)" \
		"cprof-top: invalid --by \"${pair%=*}\" (did you mean ${pair#*=}?)"
done
like "--by comn" "$(said cprof-top --by comn a.folded)" 'did you mean comm\?'
is "-g of perf report" "$(said cprof-top -g a.folded)" \
	'cprof-top: invalid option "-g" (expected --tree for the call tree, --peek for callers and callees)'
is "--sort cum" "$(cprof-top --sort cum a.folded)" "$(cprof-top --cum a.folded)"
is "-s flat" "$(cprof-top -s flat a.folded)" "$(cprof-top a.folded)"
is "  nothing else" "$(said cprof-top -s name a.folded)" \
	'cprof-top: invalid --sort "name" (expected flat or cum)'
is "--pid NAME" "$(said cprof-top --pid shop a.folded)" \
	'cprof-top: invalid --pid "shop" (expected numbers; --comm selects by command name)'
touch x.sym
like "an abbreviation before a file" "$(said cprof-top --com x.sym)" \
	'did you mean --comm NAME\? "x.sym" is a file'
like "cprof tpo" "$(said cprof tpo)" 'did you mean top\?'

# Texts that are no profiles
for f in README.md cmd/shared/cli.c contrib/HACKING.md; do
	status "$f is no profile" 3 cprof-top "$top/$f"
	is "  and shows nothing" "$(cat out)" ""
	like "  but says why" "$(cat err)" 'lines are not folded text: nothing is shown$'
done
done_testing
