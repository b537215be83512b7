#!/bin/sh
# Folded text in the programs that people use: the genuine flamegraph.pl and the Firefox Profiler's importer;
# and a live recording in all formats, with the known shares of a known program.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/firefox-lib.sh"

python3 "$here/convert-made.py" 2 600 hostile | cprof-dump -r >"$tmp/h.bin" || exit 1
cprof-fold "$tmp/h.bin" >"$tmp/h.folded" 2>/dev/null
# Only ASCII: flamegraph.pl cuts names to their boxes between the bytes of a character.
grep -v '[^ -~]' "$tmp/h.folded" >"$tmp/ascii.folded"
cprof-fold -i -l -a -d --container "$tmp/h.bin" 2>/dev/null | grep -v '[^ -~]' >"$tmp/all.folded"
row='^ *\([0-9]*\) *[0-9.e-]*% *[0-9.e-]*% *\([0-9]*\) *[0-9.e-]*%  \(.*\)$'
ours() { cprof-top --by function -n 0 "$@" 2>/dev/null | sed -n "s/$row/\1 \2 \3/p" | sort; }

flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
draws() { # FOLDED
	total=$(awk '{ n += $NF } END { print n }' "$1")
	perl $flamegraph "$1" >"$tmp/a.svg" 2>"$tmp/err"
	is "flamegraph.pl draws every sample of ${1##*/}" "$(grep -o '<title>all ([0-9,]* samples' "$tmp/a.svg" | tr -d ,)" "<title>all ($total samples"
	is "  complains of nothing" "$(cat "$tmp/err")" ""
	! command -v xmllint >/dev/null || ok "  and xmllint neither" xmllint --noout "$tmp/a.svg"
}
if [ -e $flamegraph ]; then
	draws "$tmp/ascii.folded"
	draws "$tmp/all.folded"
else
	skip "flamegraph.pl draws it" "there is no flamegraph.pl"
fi

# firefox FOLDED OUT: "flat cum name" of each function
firefox() (
	firefox_begin "$1" "$tmp/functions" thread functions
	firefox_end
	python3 -c 'import json, sys
for f in json.load(open(sys.argv[1], encoding="utf-8"))["functions"]:
    sys.stdout.buffer.write(("%g %g %s\n" % (f["selfSamples"], f["totalSamples"], f["name"])).encode())' "$tmp/functions" | sort >"$2"
)
if ! command -v npm >/dev/null; then
	skip "the Firefox Profiler imports it" "there is no npm"
elif ! modules=$(sh "$tests/lib/npm.sh" @firefox-devtools/profiler-cli); then
	skip "the Firefox Profiler imports it" "$modules"
else
	firefox "$tmp/h.folded" "$tmp/got"
	sed -i '/ \(app\|sh\|work\|ThreadPool 1\)$/d' "$tmp/got"
	ours "$tmp/h.folded" | sed '/ \(app\|sh\|work\|ThreadPool 1\)$/d' >"$tmp/want"
	same "the Firefox Profiler imports it: each function's own samples and total" "$tmp/want" "$tmp/got" || diag "$(cat "$tmp/loaded")"
fi

# Live: half of the time is in hot_50, three tenths in hot_30, and a fifth in hot_20.
if [ ! -x "$BIN/cprof-record" ] || [ "$(id -u)" != 0 ]; then
	skip "a live recording" "only root records everything"
	done_testing
fi
make -s -C "$top" BUILD="$BUILD" "$BUILD/contrib/demo" >"$tmp/make" 2>&1 || diag "$(cat "$tmp/make")"
cprof-record -F 999 -o "$tmp/raw.bin" -- "$BUILD/contrib/demo" 2 >"$tmp/out" 2>"$tmp/err" || { skip "a live recording" "$(tail -1 "$tmp/err")"; done_testing; }
cprof-sym -i "$tmp/raw.bin" >"$tmp/live.bin" 2>/dev/null
cprof-fold "$tmp/live.bin" >"$tmp/live.folded" 2>/dev/null
[ ! -e $flamegraph ] || draws "$tmp/live.folded"
# near NAME SHARE GOT: within five points, because the machine may have other load
near() { if awk -v w="$2" -v g="$3" 'BEGIN { exit !(g != "" && g > w - 5 && g < w + 5) }'; then pass "$1"; else fail "$1"; diag "got $3, want about $2"; fi; }
shares() { # WHAT, lines "FLAT CUM NAME" on stdin
	awk '{ n += $1; if ($3 ~ /^hot_[0-9]+$/) c[$3] = $2 } END { for (k in c) print k, 100 * c[k] / n }' >"$tmp/shares"
	for s in 50 30 20; do near "$1: hot_$s has its share" $s "$(sed -n "s/^hot_$s //p" "$tmp/shares")"; done
}
ours "$tmp/live.bin" >"$tmp/want"
export HOME="$tmp" PPROF_TMPDIR="$tmp"
if command -v go >/dev/null && cprof-convert -t pprof "$tmp/live.bin" >"$tmp/live.pb" 2>"$tmp/err"; then
	go tool pprof -top -nodefraction=0 -sample_index=samples "$tmp/live.pb" 2>/dev/null | sed -n "s/$row/\1 \2 \3/p" | sort >"$tmp/got"
	same "go tool pprof -top is cprof-top" "$tmp/want" "$tmp/got"
	shares "go tool pprof" <"$tmp/got"
	# Without our names, pprof finds the program's own by address, mapping and build ID.
	cprof-convert -t pprof "$tmp/raw.bin" >"$tmp/raw.pb" 2>/dev/null
	go tool pprof -top -nodefraction=0 -sample_index=samples -symbolize=local "$tmp/raw.pb" 2>/dev/null | sed -n "s/$row/\1 \2 \3/p" >"$tmp/got"
	shares "go tool pprof, which looks for names itself" <"$tmp/got"
else
	skip "go tool pprof reads it" "there is no go, or no schema"
fi
if command -v callgrind_annotate >/dev/null; then
	cprof-convert -t callgrind "$tmp/live.bin" >"$tmp/live.cg" 2>/dev/null
	callgrind_annotate --threshold=100 --auto=no --inclusive=yes "$tmp/live.cg" | sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%) *[^:]*:\(hot_[0-9]*\).*/\1 \2/p' | tr -d , |
		awk -v n="$(awk '{ n += $1 } END { print n }' "$tmp/want")" '{ print 0, $1, $2 } END { print n, 0, "all" }' >"$tmp/got"
	shares "callgrind_annotate" <"$tmp/got"
else
	skip "callgrind_annotate reads it" "there is no callgrind_annotate"
fi
done_testing
