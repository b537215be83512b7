#!/bin/sh
# perf script's text, as cprof-convert writes it, in the Firefox Profiler and in speedscope.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/firefox-lib.sh"

# "flat cum name" of each function; the command is not one.
ours() {
	cprof-fold "$@" 2>/dev/null | sed "${left_out:-}" | awk '{
		n = $NF; sub(/ [0-9]*$/, ""); depth = split($0, f, ";"); split("", seen)
		for (i = 2; i <= depth; i++) {
			if (!(f[i] in seen)) cum[f[i]] += n
			seen[f[i]]
		}
		if (depth > 1) flat[f[depth]] += n
	} END { for (name in cum) print flat[name] + 0, cum[name], name }' | sort
}
python3 "$here/convert-made.py" 1 | cprof-dump -r >"$tmp/a.bin" || exit 1
cprof-convert -t perfscript "$tmp/a.bin" >"$tmp/a.txt"

# firefox TEXT OUT: "flat cum name" of each function, over all threads
firefox() (
	firefox_begin "$1" "$tmp/info" profile info --all
	for t in $(grep -o '"threadHandle": "[^"]*"' "$tmp/info" | cut -d'"' -f4); do
		"$cli" thread functions --thread "$t" --include-idle --limit 0 --session s --json
	done >"$tmp/functions"
	firefox_end
	python3 - "$tmp/functions" <<'END' | sort >"$2"
import collections, json, sys
text, at, flat, cum = open(sys.argv[1], encoding="utf-8").read(), 0, collections.Counter(), collections.Counter()
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    d, at = json.JSONDecoder().raw_decode(text, at)
    for f in d["functions"]:
        flat[f["name"]] += f["selfSamples"]
        cum[f["name"]] += f["totalSamples"]
for n in cum:
    sys.stdout.buffer.write(("%d %d %s\n" % (flat[n], cum[n], n)).encode())
END
)
if ! command -v npm >/dev/null; then
	skip "the Firefox Profiler imports it" "there is no npm"
elif ! modules=$(sh "$tests/lib/npm.sh" @firefox-devtools/profiler-cli); then
	skip "the Firefox Profiler imports it" "$modules"
else
	firefox "$tmp/a.txt" "$tmp/got"
	# The viewer keeps functions of different files apart, so totals are the same only for names in one
	# file. As stackcollapse-perf.pl does, it does not take names that begin with a bracket as functions.
	left_out=":again; s/;(anonymous namespace)::[a-z]*//; t again"
	ours -i "$tmp/a.bin" >"$tmp/all"
	left_out=
	cut -d' ' -f1,3- "$tmp/all" | sort >"$tmp/want"
	cut -d' ' -f1,3- "$tmp/got" | sort >"$tmp/self"
	same "the Firefox Profiler imports it: each function's own samples" "$tmp/want" "$tmp/self"
	sed -n 's/^	 *[0-9a-f]* \(.*\)+0x[0-9a-f]* (\(.*\))$/\1	\2/p' "$tmp/a.txt" | sort -u | cut -f1 | uniq -u >"$tmp/once"
	for f in all got; do
		awk -v once="$tmp/once" 'BEGIN { while ((getline n < once) > 0) in_one[n] } { n = $0; sub(/^[^ ]* [^ ]* /, "", n) } n in in_one' "$tmp/$f" >"$tmp/$f.once"
	done
	same "  and totals" "$tmp/all.once" "$tmp/got.once"
	is "  of some at least" "$([ -s "$tmp/all.once" ] && echo some)" some
fi

# speedscope weighs samples by the time between them: only names and stacks can be the same.
if ! command -v chromium >/dev/null; then
	skip "speedscope opens it" "there is no chromium"
elif ! modules=$(sh "$tests/lib/npm.sh" speedscope@1.25); then
	skip "speedscope opens it" "$modules"
else
	tid=$(sed -n 's/^.*[0-9]\/\([0-9]*\) \[.*/\1/p' "$tmp/a.txt" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	cprof-convert -t perfscript --tid "$tid" "$tmp/a.bin" >"$tmp/one.txt"
	ok "speedscope opens it, and complains of nothing" sh -c "python3 '$here/convert-speedscope.py' \
		'$modules/speedscope/dist/release/index.html' '$tmp/one.txt' >'$tmp/seen'"
	sed -n 's/^one.txt: [0-9.,a-zµ]* [0-9.,a-zµ]* //p' "$tmp/seen" | sort -u >"$tmp/got"
	ours -i --tid "$tid" "$tmp/a.bin" | cut -d' ' -f3- | sort -u >"$tmp/want"
	same "  and has each function" "$tmp/want" "$tmp/got"
fi
done_testing
