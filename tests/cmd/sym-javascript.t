#!/bin/sh
# Lines of JavaScript: from positions, by the script's text, if it is the one that ran.
. "$(dirname "$0")/../lib/lib.sh"

app=$tmp/app
mkdir "$app" || exit 1
# units: 6 each line, up to the fourth
printf 'line1\nline2\nline3\nline4\n' >"$app/a.js"
printf 'l\303\244ne1\nli\360\237\230\200\nline3\n' >"$app/wide.js"	# the face is two units
# a mark; four kinds of line ends
printf '\357\273\277one\r\ntwo\rthree\342\200\250four\n' >"$app/ends.js"
printf 'x\ny\n' >"$app/a b.js"

# capture: a capture with the scripts on stdin, "ID PATH UNITS FILE OFFSET WIDTH", and at each position of $at
# a frame of a nameless function that begins there
capture() {
	cat <<END
segment major=1 minor=5 least=1
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
flush
process id=1 time=1 pid=101 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=101
comm time=1 thread=1 comm="node"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=${id:-0c} path="$app/node"
END
	n=0
	while read -r script path units file offset width; do
		path=$(echo "$path" | tr '|' ' ')
		echo "script id=$script language=javascript process=0 path=\"$path\"" \
			"units=$units file=$file offset=$offset width=$width"
		for position in $at; do
			n=$((n + 1))
			echo "function id=$n script=$script name=\"\" line=0 flags=0 start=$((position + 1))"
			echo "lang-frame id=$n process=1 language=javascript function=$n line=0" \
				"state=ok tier=none inlined=0 position=$((position + 1))"
			echo "node id=$((n + 15)) parent=0 frame=$n"
			echo "sample time=$((n + 10)) event=1 cpu=0 thread=1" \
				"user=$((n + 15)) kernel=0 weight=1"
		done
	done
	echo flush
	echo "end time=900 reason=closed samples=$n"
}
# sym OPTIONS: names stdin's capture; lines: those of its frames
sym() { cprof-dump -r | cprof-sym "$@" >"$tmp/c" 2>"$tmp/err"; }
lines() { cprof-dump "$tmp/c" | sed -n 's/^lang-line frame=[1-9][0-9]* function=0 line=//p' | tr '\n' ' '; }
status_of() { cprof-dump "$tmp/c" | sed -n 's/^script-source script=1 status=\([a-z-]*\).*/\1/p'; }

at='0 4 5 6 23'
echo "1 $app/a.js 24 0 0x0 0" | capture | sym
is "lines by the script's file" "$(lines)" "1 1 1 2 4 "
is "  the file was read" "$(status_of)" ok
cprof-sym "$tmp/c" 2>"$tmp/err" >"$tmp/again" && same "  named twice, nothing is new" "$tmp/c" "$tmp/again"
is "  a function without a name is a place" "$(cprof-fold -l "$tmp/c" | tail -n 2 | head -n 1)" \
	"node;(anonymous) a.js:2 (a.js:2) 1"
is "  there is no complaint" "$(grep -c 'lines of' "$tmp/err")" 0

echo "1 $app/a.js 24 0 0x0 0" | capture | sed 's/ position=24$/ position=0/' | sym
is "a frame without a position has no line" "$(lines)$(cprof-fold -l "$tmp/c" | grep 'a.js:4 ')" \
	"1 1 1 2 node;(anonymous) a.js:4 (a.js) 1"
like "  the summary counts it" "$(cat "$tmp/err")" \
	'lines of 4 of 5 frames of scripts found; none: 1 in .*a.js \(no-position\)$'

echo "1 $app/a.js 25 0 0x0 0" | capture | sym
is "a text of another length has no lines" "$(lines)" ""
is "  and says so" "$(status_of)" changed
like "  in the summary, too" "$(cat "$tmp/err")" \
	'lines of 0 of 5 frames of scripts found; none: 5 in .*a.js \(changed\)$'
is "  its functions keep their positions" "$(cprof-fold -l "$tmp/c" | tail -n 1)" \
	"node;(anonymous) a.js@6 (a.js) 1"
echo "1 $app/none.js 24 0 0x0 0" | capture | sym
is "nor has one that is gone" "$(lines)$(status_of)" no-file
for path in '' evalmachine.anonymous node:fs; do
	echo "1 ${path:-|} 24 0 0x0 0" | sed 's/ | / /' | capture >"$tmp/text"
	[ -n "$path" ] || echo "1 X 24 0 0x0 0" | capture | sed 's/path="X"/path=""/' >"$tmp/text"
	sym <"$tmp/text"
	is "nor \"$path\", which is no path" "$(lines)$(status_of)" not-a-file
done

at='0 4 5 6 10 11'
echo "1 $app/wide.js 17 0 0x0 0" | capture | sym
is "positions count UTF-16 units" "$(lines)" "1 1 1 2 2 3 "
at='0 3 4 5 8 9 14 15'
echo "1 $app/ends.js 20 0 0x0 0" | capture | sym
is "V8's ends of lines, and a mark at the start" "$(lines)" "1 1 1 2 2 3 3 4 "
at='0 2'
echo "1 file://$app/a%20b.js 4 0 0x0 0" | capture | sym
is "a path as an address" "$(lines)" "1 2 "

mkdir -p "$tmp/tree$app"
printf 'line1\nline2\n' >"$tmp/tree$app/gone.js"
at='0 6'
echo "1 $app/gone.js 12 0 0x0 0" | capture >"$tmp/text"
sym <"$tmp/text"
is "without --symfs there is no file" "$(lines)$(status_of)" no-file
sym --symfs "$tmp/tree" <"$tmp/text"
is "  with it there is" "$(lines)" "1 2 "
printf 'line1\nline2\n' >"$app/gone.js"
sym --symfs "$tmp/app" <"$tmp/text"
is "  and nowhere else" "$(lines)$(status_of)" no-file

# Scripts that are built into the interpreter's file
cat >"$tmp/node.c" <<'END'
const char latin[] __attribute__((used)) = "a\nb\nc\n";
const unsigned short wide[] __attribute__((used)) = { 'a', '\n', 0x2028, 'b', '\n', 'c' };
const char _ZN4node8builtinsL19internal_timers_rawE[6] = "x\ny\nz\n";
int main(void) { return 0; }
END
if ${CC:-cc} -no-pie -Wl,--build-id=0x0d0d0d0d0d0d0d0d -o "$app/node" "$tmp/node.c" 2>"$tmp/err"; then
	address() { nm "$app/node" | sed -n "s/^\\([0-9a-f]*\\) . $1\$/0x\\1/p"; }
	id=0d0d0d0d0d0d0d0d at='0 2 4'
	echo "1 node:fs 6 1 $(address latin) 1" | capture >"$tmp/text"
	sym <"$tmp/text"
	is "lines by the interpreter's file" "$(lines)" "1 2 3 "
	like "  which is the source" "$(cprof-dump "$tmp/c" | grep '^script-source')" \
		"status=ok path=\"$app/node\"\$"
	is "  the name is a place" "$(cprof-fold "$tmp/c" | tail -n 1)" "node;(anonymous) node:fs:3 1"
	echo "1 node:fs 6 1 $(address wide) 2" | capture | sym
	is "with units of two bytes" "$(lines)" "1 2 3 "
	echo "1 node:internal/timers 6 1 0x0 0" | capture | sym
	is "by the symbol, if the address is not known" "$(lines)" "1 2 3 "
	echo "1 node:internal/timers 7 1 0x0 0" | capture | sym
	is "  which has another length" "$(lines)$(status_of)" stripped
	echo "1 node:fs 6 1 0x7fffffff0000 1" | capture | sym
	is "an address outside of the file" "$(lines)$(status_of)" damaged
	echo "1 node:fs 60000000 1 $(address latin) 1" | capture | sym
	is "a length beyond its end" "$(lines)$(status_of)" damaged
	id=0e0e0e0e0e0e0e0e
	echo "1 node:fs 6 1 $(address latin) 1" | capture | sym
	is "another build of the interpreter" "$(lines)$(status_of)" build-id-mismatch
else
	skip "scripts of the interpreter's file" "there is no compiler: $(tail -1 "$tmp/err")"
fi
done_testing
