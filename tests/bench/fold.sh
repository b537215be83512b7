#!/bin/sh
# The speed of cprof-fold, beside other programs for the same job, all in one run: prints times and ratios.
#
#	BIN=build/bin tests/bench/fold.sh [SCALE]	# SCALE 1: about 70 MB of text, two minutes
#
# 1. Samples to folded text. The same samples as perf script's text, collapsed by twenty lines of perl (a
# stand-in for stackcollapse-perf.pl, which no package ships, and which does more for each line), and as a
# stream for cprof-fold. Both must give the same text.
# 2. The same against perf's own stackcollapse.py, on a real recording, if perf may record. perf also resolves
# addresses in that time; the time of perf script alone is printed beside it.
# 3. Folded text to folded text, against sort and a group-by in mawk.
. "$(dirname "$0")/../lib/lib.sh"
scale=${1:-1}

# seconds COMMAND: the best of three, wall clock
seconds() {
	best=
	for _ in 1 2 3; do
		a=$(date +%s%N); sh -c "$1" || exit 1; b=$(date +%s%N)
		t=$((b - a)); [ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	awk "BEGIN { printf \"%.3f\", $best / 1e9 }"
}
ratio() { awk "BEGIN { printf \"%.1f\", $1 / $2 }"; }
mb() { wc -c <"$1" | awk '{ printf "%.1f", $1 / 1e6 }'; }
row() { printf '%-52s %8s s  %s\n' "$1" "$2" "${3:-}"; }

# The same samples as the text of a stream: one process for each command, every name known.
cat >"$tmp/stream.awk" <<'X'
BEGIN {
	print "segment major=1 minor=0 least=1"
	print "event id=1 name=\"cpu-clock\" unit=\"ns\" period=1001001 millihertz=999000"
	print "flush"
	nodes = 15
}
function node_of(parent, frame, kind) {
	if (!((parent, frame) in node)) {
		node[parent, frame] = ++nodes
		print "node id=" nodes " parent=" parent " frame=" frame
	}
	return node[parent, frame]
}
function frame_of(who, address, name) {
	if (!((who, address, name) in frame)) {
		frame[who, address, name] = ++frames
		print "frame id=" frames " process=" who " kind=exact address=0x" address
		if (!(name in string)) {
			string[name] = ++strings
			print "string id=" strings " text=\"" name "\""
		}
		print "symbol frame=" frames " from=0 level=0 source=symtab name=" string[name] " offset=0 file=0 line=0"
	}
	return frame[who, address, name]
}
NF == 0 && comm != "" {
	user = kernel = 0
	for (i = n; i > 0; i--) {
		if (address[i] ~ /^ffffffff/)
			kernel = node_of(kernel, frame_of(0, address[i], name[i]))
		else
			user = node_of(user, frame_of(process[comm], address[i], name[i]))
	}
	print "sample time=" ++taken "000000 event=1 cpu=0 thread=" process[comm] " user=" user " kernel=" kernel " weight=1001001"
	comm = ""
	next
}
/^[ \t]+[0-9a-f]+ / {
	line = $0
	sub(/^[ \t]+/, "", line)
	at = index(line, " ")
	address[++n] = substr(line, 1, at - 1)
	line = substr(line, at + 1)
	sub(/ \([^()]*(\([^()]*\))?[^()]*\)$/, "", line)
	sub(/\+0x[0-9a-f]+$/, "", line)
	gsub(/\\/, "\\\\", line)
	gsub(/"/, "\\\"", line)
	name[n] = line
	next
}
NF {
	comm = $0
	sub(/[ \t]+[0-9]+(\/[0-9]+)? .*/, "", comm)
	if (!(comm in process)) {
		process[comm] = ++processes
		print "process id=" processes " time=1 pid=" processes " nspid=0 parent=0 start=0 gen=0 via=snapshot"
		print "thread id=" processes " time=1 process=" processes " tid=" processes
		print "comm time=1 thread=" processes " comm=\"" comm "\""
	}
	n = 0
}
END { print "end time=1 reason=closed samples=1"; print "flush" }
X

echo "== samples to folded text (generated: 2,000 functions, stacks of 10 to 40 frames)"
awk -v samples=$((40000 * scale)) 'BEGIN {
	srand(1)
	for (i = 0; i < 2000; i++) { l = 6 + int(rand() * 40); s = "fn"; while (length(s) < l) s = s sprintf("%c", 97 + int(rand() * 26)); f[i] = s i }
	for (s = 0; s < samples; s++) {
		c = int(rand() * 6)
		printf "comm%d  %d/%d [000] %d.%06d:    1001001 cpu-clock: \n", c, c + 100, c + 100, s / 999, s % 999
		d = 10 + int(rand() * 30); x = c; stack = ""
		for (k = 0; k < d; k++) { x = (x * 7 + k + int(rand() * rand() * 3)) % 2000; stack = sprintf("\t%16x %s+0x%x (/usr/bin/comm%d)\n", 4198400 + x * 64 + 16, f[x], 16, c) stack }
		printf "%s\n", stack
	} }' >"$tmp/perf.txt"
awk -f "$tmp/stream.awk" "$tmp/perf.txt" | cprof-dump -r >"$tmp/s.bin"
perl "$tests/lib/collapse.pl" <"$tmp/perf.txt" >"$tmp/want"
cprof-fold "$tmp/s.bin" >"$tmp/got"
cmp "$tmp/want" "$tmp/got" || { echo "the two do not agree"; exit 1; }
a=$(seconds "perl $tests/lib/collapse.pl <$tmp/perf.txt >$tmp/out")
b=$(seconds "cprof-fold $tmp/s.bin >$tmp/out")
row "stackcollapse stand-in (perl), $(mb "$tmp/perf.txt") MB of perf script" "$a"
row "cprof-fold, the same samples in $(mb "$tmp/s.bin") MB of stream" "$b" "$(ratio "$a" "$b") times faster"

echo "== samples to folded text (recorded: perf record -g of a shell, sort and awk at work)"
script=$(ls /usr/lib/perf-core/scripts/python/stackcollapse.py /usr/libexec/perf-core/scripts/python/stackcollapse.py 2>/dev/null | head -1)
if [ -n "$script" ] && perf record -q -B -N -F 4999 -g -e cpu-clock -o "$tmp/perf.data" -- \
	sh -c "for i in 1 2 3; do sort -r $tmp/perf.txt | awk '{ n[\$2]++ } END { for (k in n) print k, n[k] }' | sort | tail -1; done" >/dev/null 2>"$tmp/err" &&
	perf script -i "$tmp/perf.data" 2>/dev/null >"$tmp/real.txt" && [ -s "$tmp/real.txt" ]; then
	awk -f "$tmp/stream.awk" "$tmp/real.txt" | cprof-dump -r >"$tmp/r.bin"
	n=$(cprof-fold "$tmp/r.bin" | awk '{ n += $NF } END { print n }')
	a=$(seconds "perf script -i $tmp/perf.data -s $script >$tmp/out 2>/dev/null")
	p=$(seconds "perf script -i $tmp/perf.data >$tmp/out 2>/dev/null")
	c=$(seconds "perl $tests/lib/collapse.pl <$tmp/real.txt >$tmp/out")
	b=$(seconds "cprof-fold $tmp/r.bin >$tmp/out")
	row "perf script -s stackcollapse.py, $n samples" "$a"
	row "perf script alone" "$p"
	row "stackcollapse stand-in (perl) on its text" "$c"
	row "cprof-fold" "$b" "$(ratio "$a" "$b"), $(ratio "$c" "$b") times faster than the first and the third"
else
	echo "perf cannot record here, or has no stackcollapse.py: left out"
fi

# Throughput of one core: MB a second of CPU time, user and system; best of five.
peak=$BUILD/tests/peak
[ -x "$peak" ] || make -s -C "$top" BUILD="$BUILD" "$peak"
spent() {
	best='' kib=''
	for _ in 1 2 3 4 5; do
		a=$(date +%s%N); "$peak" "$tmp/spent" sh -c "exec $1 >$tmp/out" || exit 1; b=$(date +%s%N)
		read -r k us <"$tmp/spent"
		[ -n "$best" ] && [ "$best" -le "$us" ] || best=$us wall=$((b - a)) kib=$k
	done
	awk -v us="$best" -v wall="$wall" -v kib="$kib" -v mb="$2" \
		'BEGIN { printf "%7.3f s CPU %7.3f s wall %6.1f MB %6.0f MB/s", us / 1e6, wall / 1e9, kib / 1e3, mb * 1e6 / us }'
}

echo "== folded text to folded text (generated: 5,000 functions, $((100000 * scale)) stacks, all distinct)"
awk -v stacks=$((100000 * scale)) 'BEGIN {
	srand(7)
	for (i = 0; i < 5000; i++) { l = 8 + int(rand() * 46); s = "fn"; while (length(s) < l) s = s sprintf("%c", 97 + int(rand() * 26)); f[i] = s "_" i }
	for (s = 0; s < stacks; s++) {
		d = 12 + int(rand() * 17); line = "comm" int(rand() * 5); x = int(rand() * 7)
		for (k = 0; k < d; k++) { x = (x * 31 + int(rand() * rand() * 5) + k) % 5000; line = line ";" f[x] }
		print line ";leaf_" s, 1 + int(rand() * 60)
	} }' >"$tmp/u.folded"
cprof-fold "$tmp/u.folded" >"$tmp/s.folded"
cat "$tmp/s.folded" "$tmp/s.folded" >"$tmp/m.folded"
LC_ALL=C sort "$tmp/u.folded" | cmp -s - "$tmp/s.folded" || { echo "cprof-fold and sort do not agree"; exit 1; }
group='{ n = $NF; sub(/ [0-9]+$/, ""); c[$0] += n } END { for (k in c) print k " " c[k] }'
measure() { printf '%-34s %s\n' "$1" "$(spent "$2 $tmp/$3.folded" "$(mb "$tmp/$3.folded")")"; }
for f in u s m; do
	case $f in
	u) echo "-- $(mb "$tmp/$f.folded") MB in no order" ;;
	s) echo "-- the same, sorted" ;;
	m) echo "-- $(mb "$tmp/$f.folded") MB, the sorted file twice" ;;
	esac
	measure "LC_ALL=C sort" sort $f
	measure "mawk, grouped" "mawk '$group'" $f
	measure cprof-fold cprof-fold $f
	measure "cprof-fold --max-mem 16M" "cprof-fold --max-mem 16M" $f
	[ $f = m ] || measure "cprof-fold --collapse-recursion" "cprof-fold --collapse-recursion" $f
	[ $f != s ] || measure "cprof-fold --sorted" "cprof-fold --sorted" $f
done
