#!/bin/sh
# Inlined functions and lines in folded text: only on request, marked, with exact weights and names
# that still fit
. "$(dirname "$0")/../lib/lib.sh"

# main calls work, into which step is inlined, and mul into that; mul exists as a function of its own, too,
# which step calls elsewhere; and in one place step is inlined into itself. 11 samples: 3 in mul inlined into
# step, 2 in step, 1 in work itself, 4 in mul called by step, 1 in step inlined into step.
inlined() { cat "$tests/fuzz/corpus/profile-inlined"; }
fold() { cprof-fold "$@" 2>"$tmp/err"; }
inlined | cprof-dump -r >"$tmp/a.bin" || exit 1

# folds DESCRIPTION OPTION...: the wanted text is on stdin
folds() {
	d=$1; shift
	cat >"$tmp/want"
	fold "$@" "$tmp/a.bin" >"$tmp/got"
	same "$d" "$tmp/want" "$tmp/got"
}
folds "nobody asked: the functions that the code belongs to" <<'X'
app;main;work 7
app;main;work;mul 4
X
folds "-i: what is inlined is a frame of its own, the outer one first" -i <<'X'
app;main;work 1
app;main;work;step 2
app;main;work;step;mul 7
app;main;work;step;step 1
X
folds "  marked with -a, and apart from the same function called" -i -a <<'X'
app;main;work 1
app;main;work;step_[i] 2
app;main;work;step_[i];mul 4
app;main;work;step_[i];mul_[i] 3
app;main;work;step_[i];step_[i] 1
X
folds "-a alone adds no frame" -a <<'X'
app;main;work 7
app;main;work;mul 4
X
folds "-l: the line of the function itself, where it calls what is inlined" -l <<'X'
app;main (main.c:40);work (work.c:12) 5
app;main (main.c:40);work (work.c:13) 1
app;main (main.c:40);work (work.c:15) 1
app;main (main.c:40);work (work.c:20);mul (mul.h:3) 4
X
folds "-i -l: each at its own line" -il <<'X'
app;main (main.c:40);work (work.c:12);step (step.h:7);mul (mul.h:3) 3
app;main (main.c:40);work (work.c:12);step (step.h:8) 2
app;main (main.c:40);work (work.c:13);step (step.h:9);step (step.h:7) 1
app;main (main.c:40);work (work.c:15) 1
app;main (main.c:40);work (work.c:20);step (step.h:9);mul (mul.h:3) 4
X
folds "--full-paths, with marks, which stand last" --full-paths -ia --match 'mul[.]h:3' <<'X'
app;main (/src/main.c:40);work (/src/work.c:12);step (/src/inc/step.h:7)_[i];mul (/src/inc/mul.h:3)_[i] 3
app;main (/src/main.c:40);work (/src/work.c:20);step (/src/inc/step.h:9)_[i];mul (/src/inc/mul.h:3) 4
X
folds "--match looks at what is shown" --match '^step$' </dev/null
like "  and that is said" "$(cat "$tmp/err")" \
	'^cprof-fold: no samples selected, nothing is written; no name matches --match "\^step\$"'
total() { awk '{ n += $NF } END { print n + 0 }'; }
is "--weight ns is conserved" "$(fold -il --weight ns "$tmp/a.bin" | total)" 11000
fold -il "$tmp/a.bin" >"$tmp/one"
cat "$tmp/one" "$tmp/one" | cprof-fold >"$tmp/want"
cat "$tmp/a.bin" "$tmp/a.bin" | cprof-fold -il >"$tmp/got"
same "over segments" "$tmp/want" "$tmp/got"
cprof-fold -i -l --full-paths "$tmp/one" >"$tmp/got"
same "folded text stays what it is, whatever is asked for" "$tmp/one" "$tmp/got"

# The genuine flamegraph.pl takes lines and marks, and colours inlined functions as inlined.
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
if [ -e $flamegraph ]; then
	fold -ila "$tmp/a.bin" | perl $flamegraph --color=java >"$tmp/a.svg" 2>"$tmp/err"
	is "flamegraph.pl draws every sample" "$(grep -o '<title>all ([0-9]* samples' "$tmp/a.svg")" "<title>all (11 samples"
	is "  complains of nothing" "$(cat "$tmp/err")" ""
	like "  and shows lines" "$(grep '<title>mul' "$tmp/a.svg")" '<title>mul \(mul.h:3\)(_\[i\])? \(3 samples'
else
	skip "flamegraph.pl takes it" "there is no flamegraph.pl"
fi

# Missing and odd values: no file, no line, a path that ends in a slash, names that would break a line
odd() { # NAME FILE LINE: the function inlined at level 1 of frame 3
	inlined | sed "s|text=\"step\"|text=\"$1\"|; s|text=\"/src/inc/step.h\"|text=\"$2\"|; /frame=3.*level=1/s/line=8/line=$3/" |
		cprof-dump -r | fold -il | grep -v 'mul\|work.c:13\|work.c:15' | sed 's/.*;//'
}
is "no file: the name alone" "$(odd step '' 8)" "step 2"
is "no line: the file alone" "$(odd step /a/gen.c 0)" "step (gen.c) 2"
is "a file without a directory" "$(odd step gen.c 4294967295)" "step (gen.c:4294967295) 2"
is "a directory" "$(odd step /a/b/ 8)" "step (b/:8) 2"
is "a slash" "$(odd step / 8)" "step (/:8) 2"
is "names of C++" "$(odd 'ns::f(int, char*)' '/a/x y.cc' 8)" "ns::f(int, char*) (x y.cc:8) 2"
is "; and control characters, in names and paths" "$(odd ' a;b\\n ' '/a/x;y\\n.c' 8)" "a:b? (x:y?.c:8) 2"
is "an empty name" "$(odd '' x.c 8)" "[unknown] (x.c:8) 2"
long=$(printf '%020000d' 0)
is "a long path loses its middle" "$(odd step "$long" 8 | sed 's/00*/0/g')" "step (0[...]0:8) 2"
is "  and is a name like any other" "$(odd step "$long" 8 | wc -c)" $((16384 + 3))

# If one frame has lists from different sources, the whole list of the best source counts.
{
	inlined | sed '/^end/,$d'
	echo 'symbol frame=2 from=0 level=0 source=dynsym name=4 offset=0 file=0 line=0'
	echo 'symbol frame=2 from=0 level=1 source=dynsym name=1 offset=0 file=0 line=0'
	echo 'symbol frame=3 from=0 level=0 source=debug name=2 offset=0 file=12 line=99'
	echo 'symbol frame=4 from=0 level=0 source=bounds name=1 offset=0 file=0 line=0'
	inlined | sed -n '/^end/,$p'
} | cprof-dump -r | fold -il >"$tmp/got"
sed 's/work (work.c:12);step (step.h:8) 2/work (work.c:99) 2/' "$tmp/one" | sort >"$tmp/want"
same "of two lists the better source counts, for all levels" "$tmp/want" "$tmp/got"
# two_names BETTER WORSE
two_names() {
	inlined | sed '/^end/,$d; /^symbol frame=5/d'
	echo "symbol frame=5 from=0 level=0 source=$1 name=4 offset=0 file=0 line=0"
	echo "symbol frame=5 from=0 level=0 source=$2 name=1 offset=0 file=0 line=0"
	inlined | sed -n '/^end/,$p'
}
for pair in 'symtab go' 'go minidebug' 'dynsym bounds' 'symtab jitdump' 'jitdump perfmap' 'bounds none'; do
	is "  ${pair% *} before ${pair#* }" "$(two_names $pair | cprof-dump -r | fold | tail -1)" "app;main;work;mul 4"
done

# Far more levels than any compiler makes: the outer and the inner ones are shown, and memory stays bounded.
levels() { # N: frame 4 is f0 with f1, f2, ... inlined
	inlined | awk -v n="$1" '/^symbol frame=4/ { for (i = 0; i < n; i++) { print "string id=" 100 + i " text=\"f" i "\""
		print "symbol frame=4 from=0 level=" i " source=symtab name=" 100 + i " offset=0 file=0 line=0" } next } { print }' | cprof-dump -r
}
chain() { # N
	awk -v n="$1" 'BEGIN { printf "app;main"
		for (i = 0; i < n; i++) { if (n <= 256 || i < 128 || i >= n - 128) printf ";f%d", i; else if (i == 128) printf ";[...]" }
		print " 1" }'
}
for n in 1 2 256 257 3000; do
	levels $n | fold -i | grep 'f0' >"$tmp/got"
	chain $n >"$tmp/want"
	same "$n levels" "$tmp/want" "$tmp/got"
done

# Random stacks of random lists, against the same stacks expanded by awk
awk 'BEGIN { srand(11); print "segment major=1 minor=1 least=1"; print "event id=1 name=\"c\" unit=\"ns\" period=1 millihertz=1"; print "flush"
	print "process id=1 time=1 pid=1 nspid=0 parent=0 start=1 gen=0 via=snapshot"; print "thread id=1 time=1 process=1 tid=1"
	print "comm time=1 thread=1 comm=\"r\""
	for (i = 1; i <= 30; i++) { print "string id=" i " text=\"n" i "\""; print "string id=" i + 100 " text=\"/d/s" i % 5 ".c\"" }
	for (f = 1; f <= 80; f++) {
		print "frame id=" f " process=1 kind=exact address=" f * 16
		d = 1 + int(rand() * rand() * 5)
		for (k = 0; k < d; k++) { n = 1 + int(rand() * 30); p = 1 + int(rand() * 30); l = 1 + int(rand() * 3)
			late = late "symbol frame=" f " from=0 level=" k " source=symtab name=" n " offset=0 file=" p + 100 " line=" l "\n"
			text[f] = text[f] ";n" n " (s" p % 5 ".c:" l ")" }
	}
	for (i = 16; i < 600; i++) { up = i < 24 ? 0 : 16 + int(rand() * (i - 16)); f = 1 + int(rand() * 80)
		print "node id=" i " parent=" up " frame=" f; stack[i] = stack[up] text[f] }
	for (s = 0; s < 3000; s++) { i = 16 + int(rand() * 584); print "sample time=" s + 5 " event=1 cpu=0 thread=1 user=" i " kernel=0 weight=1"
		print "r" stack[i] >"/dev/stderr" }
	printf "%s", late; print "end time=9999 reason=closed samples=3000"; print "flush" }' >"$tmp/r.txt" 2>"$tmp/stacks"
cprof-dump -r "$tmp/r.txt" >"$tmp/r.bin"
awk '{ n[$0]++ } END { for (s in n) print s, n[s] }' "$tmp/stacks" | sort >"$tmp/want"
fold -il "$tmp/r.bin" | sort >"$tmp/got"
same "3,000 samples of random lists, as they are expanded by hand" "$tmp/want" "$tmp/got"
ok "  and there were many stacks" test "$(wc -l <"$tmp/got")" -gt 400
sed 's/ ([^()]*)//g' "$tmp/stacks" | awk '{ n[$0]++ } END { for (s in n) print s, n[s] }' | sort >"$tmp/want"
fold -i "$tmp/r.bin" | sort >"$tmp/got"
same "  without lines" "$tmp/want" "$tmp/got"
done_testing
