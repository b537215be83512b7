#!/bin/sh
# Pages, pictures and cprof-top have a title: command or host, date, length, rate, filters; one line in
# words; a caution if there are few samples.
. "$(dirname "$0")/../lib/lib.sh"
export TZ=UTC
flame() { cprof-flame "$@" 2>"$tmp/err"; }
head_of() { flame "$@" | "$here/flame-block.py" head /dev/stdin; }
texts() { head_of "$@" | sed -n 's,^texts|\(.*\)|samples|.*,\1,p'; }
words() { head_of "$@" | sed -n 's/^option summary = //p'; }
tab() { flame "$@" | sed -n 's/.*<title>\([^<]*\)<.*/\1/p' | head -1; }

# capture COMMAND START SAMPLES... FILTERED: four CPU seconds at 100 Hz; a sample is U, K or N for no name
capture() {
	printf 'segment major=1 minor=5 least=1\nmeta key="host" value="build7"\n'
	printf 'meta key="start-realtime-ns" value="%s"\nmeta key="start-monotonic-ns" value="0"\n' "$2"
	printf 'meta key="command-line" value="cprof-record -F 100 %s"\n' "$1"
	printf 'event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000\nflush\n'
	printf 'process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot\n'
	printf 'thread id=1 time=1 process=1 tid=42\ncomm time=1 thread=1 comm="make"\n'
	printf 'frame id=1 process=1 kind=exact address=0x1000\n'
	printf 'frame id=2 process=0 kind=exact address=0xffffffff81000000\n'
	printf 'frame id=3 process=1 kind=exact address=0x2000\n'
	printf 'node id=16 parent=0 frame=1\nnode id=17 parent=0 frame=2\nnode id=18 parent=0 frame=3\n'
	printf 'string id=1 text="work"\n'
	printf 'symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0\n'
	printf 'ksym time=1 address=0xffffffff81000000 size=0x10 name="vfs_read" module=""\n'
	awk -v which="$3" 'BEGIN {
		split(which, n, ",")
		for (kind = 1; kind <= 3; kind++)
			for (i = 0; i < n[kind]; i++)
				printf "sample time=%d event=1 cpu=0 thread=1 user=%d kernel=%d weight=%d\n",
					1e9 + at++ * 1e7, kind == 3 ? 18 : 16, kind == 2 ? 17 : 0, 1e7
		for (cpu = 1; cpu <= 2; cpu++)
			printf "ledger time=9000000000 cpu=%d outcome=expected count=200\n", cpu
		printf "ledger time=9000000000 cpu=1 outcome=emitted count=%d\n", n[1] + n[2] + n[3]
		printf "ledger time=9000000000 cpu=2 outcome=filtered count=%d\n", n[4]
		printf "end time=9000000000 reason=closed samples=%d\nflush\n", at }'
}
date=1795271000000000000
capture '-a' $date 204,68,40,0 | cprof-dump -r >"$tmp/all.bin" || exit 1
capture '-- make -j2; <all>' $date 60,30,10,150 | cprof-dump -r >"$tmp/make.bin"
capture '-- make -j2; <all>' $((date + 60000000000)) 10,10,3,150 | cprof-dump -r >"$tmp/few.bin"
capture '-a -- make' $date 204,68,40,0 | cprof-dump -r >"$tmp/during.bin"

when="2026-11-21 14:23:20 UTC"
is "a whole system is named by its host" "$(texts "$tmp/all.bin")" \
	"build7|$when, 8.00 s, cpu-clock at 100 Hz, 2 CPUs"
is "  the line in words: rounded parts add up" "$(words "$tmp/all.bin")" \
	"CPUs 78 % busy: 51 user, 17 kernel, 10 unnamed; 0 lost"
is "a command is a title" "$(texts "$tmp/make.bin")" \
	"make -j2; <all> on build7|$when, 8.00 s, cpu-clock at 100 Hz, 2 CPUs"
is "  its part of the CPUs" "$(words "$tmp/make.bin")" "25 % of 2 CPUs: 15 user, 8 kernel, 2 unnamed; 0 lost"
is "  the tab has the date and the length" "$(tab "$tmp/make.bin")" \
	"make -j2; &lt;all&gt; on build7, 2026-11-21 14:23 UTC, 8.00 s at 100 Hz"
is "  and so has the picture" "$(tab -o svg "$tmp/make.bin")" "$(tab "$tmp/make.bin")"
is "a system recorded while a command ran" "$(texts "$tmp/during.bin" | cut -d'|' -f1)" "build7 during make"
is "filters stand in the subtitle as given" \
	"$(texts --comm make --match 'w.*k' -U "$tmp/make.bin" | sed 's/.*CPUs; //')" \
	"--comm make --match w.*k -U"
is "  and a part is called one" "$(words -K "$tmp/make.bin")" "30 of 100 samples: 100 % kernel; 0 lost"
is "  also after --match" "$(words --match vfs "$tmp/make.bin" | sed 's/.*; //')" "30 % of this shown"
is "--title and --subtitle win" "$(texts --title T --subtitle S "$tmp/make.bin")" "T|S"
is "  in the tab too" "$(tab --title T "$tmp/make.bin")" T
is "two captures of one command" "$(texts "$tmp/make.bin" "$tmp/few.bin")" \
	"make -j2; <all> on build7|$when, 16.0 s, cpu-clock at 100 Hz, 2 CPUs"
flame "$tmp/make.bin" "$tmp/few.bin" >"$tmp/a.html"; flame "$tmp/few.bin" "$tmp/make.bin" >"$tmp/b.html"
same "  in any order" "$tmp/a.html" "$tmp/b.html"
is "  of different commands: the one that most samples are of" "$(texts "$tmp/make.bin" "$tmp/during.bin")" \
	"make on build7|$when, 16.0 s, cpu-clock at 100 Hz, 2 CPUs, several commands"
is "folded text is named by its command" "$(printf 'sh;main 500\nls;main 3\n' | head_of | grep '^[to]')" \
	"texts|sh||samples||
option summary = 503 samples from folded text; losses unknown
option samples = 503"
is "  of nanoseconds by its time" \
	"$(printf 'sh;main;[sleeping] 2500000000\n' | head_of --weight ns | grep '^option summary')" \
	'option summary = 2.50 s from folded text; losses unknown'

# Few samples
caution() { head_of "$@" | sed -n 's/^option caution = //p'; }
is "100 samples carry a picture" "$(caution "$tmp/make.bin")" ""
is "23 are few, and it is said how uncertain they are" "$(caution "$tmp/few.bin")" \
	"only 23 samples: shares may be off by 19 points (95 %)"
is "  in the picture" "$(flame -o svg "$tmp/few.bin" | grep -c 'class="caution".*only 23 samples')" 1
is "  in cprof-top" "$(cprof-top "$tmp/few.bin" | sed -n 's/^Caution: *//p')" "$(caution "$tmp/few.bin")"
is "  what a filter leaves may be few, too" "$(caution -K "$tmp/make.bin" | cut -d: -f1)" "only 30 samples"

# cprof-top has the same line.
cprof-top "$tmp/make.bin" | sed '/^Total/,$d' >"$tmp/got"
cat >"$tmp/want" <<'X'
make -j2; <all> on build7, 2026-11-21 14:23 UTC, 8.00 s at 100 Hz
25 % of 2 CPUs: 15 user, 8 kernel, 2 unnamed; 0 lost
X
same "cprof-top begins with two lines" "$tmp/want" "$tmp/got"
is "  -v has all others" \
	"$(cprof-top -v "$tmp/make.bin" | sed '/^Total/,$d; s/:.*//' | sed 1,2d | tr '\n' ,)" \
	"Samples,Ledger,Lost,Stacks,Unresolved,"
long=$(printf 'x%.0s' $(seq 300))
capture "-- $long" $date 204,68,40,0 | cprof-dump -r >"$tmp/long.bin"
is "  a long command is cut" "$(cprof-top "$tmp/long.bin" | head -1 | awk '{ print length }')" 80
like "  and that is said" "$(cprof-top "$tmp/long.bin" | head -1)" '^x+\.\.\., 2026'

# Differences
is "the same command on both sides" "$(texts --diff "$tmp/make.bin" "$tmp/few.bin" | cut -d'|' -f1)" \
	"Change of make -j2; <all> on build7"
is "  in order nothing is said of it" "$(grep -v ' changed, at a false' "$tmp/err")" ""
like "  both sides have their words" \
	"$(words --diff "$tmp/make.bin" "$tmp/few.bin")" '^Before: 25 % .* After: 5.8 %'
for c in cprof-diff 'cprof-flame --diff'; do
	$c "$tmp/few.bin" "$tmp/make.bin" 2>"$tmp/err" >/dev/null
	like "$c: a second side that is older" "$(cat "$tmp/err")" 'make.bin was recorded before .*few.bin'
done
status "one capture is not compared" 2 cprof-flame --diff "$tmp/make.bin"
like "  and two operands are asked for" "$(cat "$tmp/err")" '^cprof-flame: --diff: two operands are required'
status "three operands without -- are not, either" 2 \
	cprof-flame --diff "$tmp/make.bin" "$tmp/few.bin" "$tmp/few.bin"
is "several a side, as in cprof-diff" \
	"$(head_of --diff "$tmp/make.bin" "$tmp/all.bin" -- "$tmp/few.bin" "$tmp/few.bin" |
		sed -n 's/.*samples|//p')" \
	"$tmp/make.bin and 1 more|$tmp/few.bin and 1 more"
is "  all of them count" \
	"$(flame --diff "$tmp/make.bin" "$tmp/all.bin" -- "$tmp/few.bin" "$tmp/few.bin" |
		"$here/flame-block.py" boxes /dev/stdin | awk '$1 == "make" { print $4, $5 }')" "412 46"

# A renamed binary
capture '-- shop1' $date 100,50,0,0 | sed 's/comm="make"/comm="shop1"/' | cprof-dump -r >"$tmp/v1.bin"
capture '-- shop2' $((date + 60000000000)) 50,100,0,0 |
	sed 's/comm="make"/comm="shop2"/' | cprof-dump -r >"$tmp/v2.bin"
flame --diff "$tmp/v1.bin" "$tmp/v2.bin" | "$here/flame-block.py" boxes /dev/stdin >"$tmp/got"
is "renamed binaries have one root" "$(cut -d' ' -f1-3,6,7 "$tmp/got" | head -1)" "shop1 → shop2 150 150"
like "  and that is said" "$(cat "$tmp/err")" 'different commands, compared under one root: shop1 → shop2$'
like "  in folded text too" "$(cprof-diff --folded --no-normalize "$tmp/v1.bin" "$tmp/v2.bin" 2>/dev/null)" \
	'^shop1 → shop2;work 100 50$'
is "  the title has both" "$(texts --diff "$tmp/v1.bin" "$tmp/v2.bin" | cut -d'|' -f1)" \
	"shop1 on build7 → shop2 on build7"

# Intervals and verdicts: those without ~ exclude 0, the others do not.
for side in a b; do
	awk -v side=$side 'BEGIN { srand(side == "a" ? 7 : 8); for (i = 0; i < 200; i++)
		printf "app;f%d %d\n", i, 20 + rand() * 30 + (side == "b" && i % 10 == 0) * 25
		}' >"$tmp/$side.folded"
done
cprof-diff -n 0 "$tmp/a.folded" "$tmp/b.folded" >"$tmp/got"
marked=$(grep -c '~\[' "$tmp/got") all=$(grep -c ' f[0-9]*$' "$tmp/got")
ok "some rows are chance, some are not: $marked of $all" [ "$marked" -gt 10 -a "$marked" -lt "$all" ]
sed -n 's/.* ~\[\([-+.0-9]*\), \([-+.0-9]*\)\] .* f[0-9]*$/\1 \2/p' "$tmp/got" >"$tmp/chance"
is "an interval of what may be chance has 0" "$(awk '$1 > 0 || $2 < 0' "$tmp/chance")" ""
sed -n '/ f[0-9]*$/s/.*  \[\([-+.0-9]*\), \([-+.0-9]*\)\] *f[0-9]*$/\1 \2/p' "$tmp/got" >"$tmp/real"
is "  one of what is not has none" "$(awk '$1 < 0 && $2 > 0' "$tmp/real")" ""

# Options without data, and text of another kind
cprof-top --wall "$tmp/make.bin" 2>&1 >/dev/null | sed "s|$tmp/||" >"$tmp/got"
like "--wall of a capture without waits" "$(cat "$tmp/got")" \
	'make.bin: --wall is not available: no waiting .*: record with cprof-record --off-cpu$'
like "-l of names without lines" "$(cprof-top -l "$tmp/make.bin" 2>&1 >/dev/null)" \
	'no machine code has a line: run cprof-sym -l'
printf '// bursts: 300\nint main(void)\n{\n	return 0;\n}\n/* a */\n/* b */\n/* c */\n/* d */\n/* e */\n/* f */\n/* of 12 */\nx 12\n' >"$tmp/shop.c"
status "a source is no profile" 3 cprof-top "$tmp/shop.c"
like "  and it is refused with a sentence" "$(cat "$tmp/err")" \
	'of 13 lines are not folded text: nothing is shown$'
is "  without a table" "$(cat "$tmp/out")" ""

# Names of sides are cut between characters; the second one has another parity.
long=$(printf '\303\251%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
for name in x yy; do
	deep=$tmp/$name$long/$long/$long/$long
	mkdir -p "$deep"
	echo 'app;main 3' >"$deep/$long"
	cprof-flame --diff -o svg "$deep/$long" "$deep/$long" 2>/dev/null >"$tmp/cut.svg"
	ok "a long name of a side is cut between characters" iconv -f UTF-8 -t UTF-8 "$tmp/cut.svg"
done

# Waits
sed_waits() {
	awk '/^flush/ && !n++ { print "event id=2 name=\"off-cpu:sleep\" unit=\"ns\" period=0 millihertz=0" }
		{ print }
		/^ledger/ && !waited++ {
			print "sample time=2000000000 event=2 cpu=0 thread=1 user=16 kernel=17",
				"weight=3000000000"
		}'
}
capture '-- make' $date 60,30,10,150 | sed_waits | cprof-dump -r >"$tmp/w.bin" || exit 1
is "waits are mentioned" "$(words "$tmp/w.bin" | sed 's/.*; //')" "3.00 s waited (--wall)"
is "  with --wall they are parts of the time" "$(words --wall "$tmp/w.bin")" \
	"4.00 s: 25 % running (15 user, 8 kernel, 2 unnamed), 75 sleeping; 0 samples, 0 waits lost"
# 14 of 33 samples are below main, as in the interval of cprof-top --ci
printf 'app;main;work 14\napp;rest 19\n' >"$tmp/few.folded"
like "an SVG's tooltips have the intervals that cprof-top has" \
	"$(cprof-flame -o svg "$tmp/few.folded" | tr '\n' ' ')" \
	"<title>main [^<]* 95 % interval total $(cprof-top --ci "$tmp/few.folded" |
		sed -n 's/.*(\([0-9.]*\)-\([0-9.]*\)) *main$/\1 to \2/p') %</title>"
done_testing
