#!/bin/sh
# Every command line of the pages' examples and of README's pipelines, run as it is written.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

command -v mandoc >/dev/null || skip_all "mandoc is not here"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"

# Find flamegraph.pl where Debian keeps it; sudo does nothing for root.
mkdir "$tmp/bin" "$tmp/w"
printf '#!/bin/sh\nexec "$@"\n' >"$tmp/bin/sudo"
chmod +x "$tmp/bin/sudo"
[ "$(id -u)" != 0 ] || PATH=$tmp/bin:$PATH
PATH=$PATH:/usr/sbin:/usr/share/perl5/Devel/NYTProf

# examples FILE: prints its command lines, a line that ends in a backslash joined with the next
examples() {
	case $1 in
	*.md) sed -n '/^```sh/,/^```/p' "$1" | sed -n 's/^\$ //p' ;;
	*) mandoc -T ascii "$1" | sed "s/.$(printf '\b')//g" | sed -e :a -e '/\\$/{N;s/\\\n *>* *//;ba' -e '}' | sed -n 's/^ *\$ //p' ;;
	esac
}

# The examples may assume these captures: s.bin, a.bin and b.bin.
export BUILD
cd "$tmp/w" || exit 1
make -s -C "$top" BUILD="$BUILD" "$BUILD/contrib/demo" >"$tmp/make" 2>&1 || diag "$(cat "$tmp/make")"
if [ "$(id -u)" = 0 ]; then
	sh "$top/contrib/workload" 8 >/dev/null 2>&1 &
	for f in s a b; do
		status "$f.bin is recorded" 0 cprof-record -o $f.bin -a 2
	done
	wait $!
else
	for f in s a b; do
		status "$f.bin is recorded" 0 cprof-record -o $f.bin -- sh "$top/contrib/workload" 2
	done
fi

# An example is good if it ends with 0 and without certain messages: no command of it is misused,
# missing or killed. Messages about processes that were not read, or about lines, come if other programs
# run on the machine.
run_example() {
	timeout 60 sh -c "$1" <"$2" >"$tmp/out" 2>"$tmp/err"
	st=$?
	grep -Ev ': [0-9]+ times? the mappings of a process not read|: no machine code has a line:' \
		"$tmp/err" >"$tmp/said"
	[ $st = 0 ] && ! grep -Eq '^usage:|--help lists the options|not found|No such file|cprof-[a-z]+: (block|standard input|standard output)' "$tmp/said"
}
bad() {
	fail "$1: $2"
	diag "status $st"
	diag "$(head -10 "$tmp/err")"
}

# Tests of the check itself: bad examples must fail.
run_example 'cprof-top --no-such-option s.bin | head -1' /dev/null && fail "a wrong option inside a pipeline is seen"
run_example 'cprof-fold gone.bin' /dev/null && fail "a failing example is seen"
run_example 'cprof-dump s.bin | head -1' /dev/null || fail "a good example is good"
is "examples are found" "$(printf '.Dd $Mdocdate$\n.Dt X 1\n.Os\n.Sh EXAMPLES\n.Bd -literal\n$ a "b" | c \\e\n  d\n.Ed\n' \
	>"$tmp/x.1"; examples "$tmp/x.1")" 'a "b" | c d'

# Activity for each recording: work, and a program that starts repeatedly
(while :; do :; done) &
load=$!
(while :; do /bin/sleep 0.2; done) &
begins=$!
trap 'kill $load $begins; rm -rf "$tmp"' EXIT

for page in "$top"/README.md "$top"/man/*.[1-9]; do
	[ -e "$page" ] || continue
	examples "$page" >"$tmp/examples"
	while IFS= read -r line; do
		case $line in
		*flamegraph.pl*) command -v flamegraph.pl >/dev/null || { skip "${page##*/}: $line" "no flamegraph.pl"; continue; } ;;
		esac
		case $line in
		*sudo* | *"cprof-record "*-a* | *zcat*) [ "$(id -u)" = 0 ] || { skip "${page##*/}: $line" "not root"; continue; } ;;
		esac
		if run_example "$line" /dev/null; then pass "${page##*/}: $line"; else bad "${page##*/}" "$line"; fi
	done <"$tmp/examples"
done
ok "README has five pipelines" test "$(examples "$top/README.md" | wc -l)" -ge 5
done_testing
