#!/bin/sh
# cprof-convert -t perf: an unmodified perf reads the pipe, and finds the same names as cprof-sym by itself.
. "$(dirname "$0")/../lib/lib.sh"
command -v perf >/dev/null || skip_all "no perf"
command -v gcc >/dev/null || skip_all "no gcc"

# as_perf FILE: perf script's output for the pipe. Inlined functions are left out.
as_perf() { perf script -i - --no-inline --max-stack 5000 -F +pid <"$1" 2>"$tmp/perf.err"; }
record() { cprof-dump -r "$1" >"$1.bin" && cprof-convert -t perf "$1.bin" >"$1.pipe"; }

# 1. Without a recorder: a program whose addresses are all known.
cat >"$tmp/two.c" <<'X1'
int called(int x) { return x + 1; }
void before(void) { for (;;) ; }
void behind(void) { }
int _start(void) { return called(1); }
X1
gcc -O0 -nostdlib -static -no-pie -Wl,--build-id -o "$tmp/two" "$tmp/two.c" 2>"$tmp/err" || { cat "$tmp/err"; skip_all "no static program can be linked"; }
id=$(readelf -n "$tmp/two" | sed -n 's/.*Build ID: //p')
at() { nm "$tmp/two" | awk -v s="$1" '$3 == s { print "0x" substr($1, 9) }'; }
# The segment of code: file offset and address
set -- $(readelf -lW "$tmp/two" | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
offset=$1 base=$2
# The process forks; the child maps nothing itself; its exec maps the program elsewhere. A late process has an
# early start.
cat >"$tmp/made" <<X1
segment major=1 minor=1 least=1
meta key="host" value="elsewhere"
meta key="arch" value="riscv64"
event id=1 name="cpu-clock" unit="ns" period=1000000 millihertz=1000000
event id=2 name="my:event" unit="" period=7 millihertz=0
flush
process id=1 time=1000 pid=42 nspid=0 parent=0 start=0 gen=0 via=snapshot
file id=1 major=8 minor=1 inode=77 generation=0 build-id=$id path="$tmp/two"
mapping time=1000 process=1 start=$base length=0x1000 offset=$offset prot=5 file=1
thread id=1 time=1000 process=1 tid=42
comm time=1000 thread=1 comm="a b/c [x]"
frame id=1 process=1 kind=return address=$(at behind)
frame id=2 process=1 kind=exact address=$(at called)
node id=16 parent=0 frame=1
node id=17 parent=16 frame=2
sample time=2000 event=1 cpu=3 thread=1 user=17 kernel=0 weight=1000000
sample time=2500 event=2 cpu=3 thread=1 user=17 kernel=0 weight=9
thread id=2 time=2600 process=1 tid=43
comm time=2600 thread=2 comm="second"
sample time=2700 event=1 cpu=0 thread=2 user=16 kernel=0 weight=1000000
process id=2 time=2800 pid=50 nspid=0 parent=1 start=2800 gen=0 via=fork
thread id=3 time=2800 process=2 tid=50
comm time=2800 thread=3 comm="child"
frame id=3 process=2 kind=exact address=$(at called)
node id=18 parent=0 frame=3
sample time=3000 event=1 cpu=0 thread=3 user=18 kernel=0 weight=1000000
process id=3 time=3100 pid=50 nspid=0 parent=2 start=2800 gen=1 via=exec
mapping time=3100 process=3 start=0x7000000 length=0x1000 offset=$offset prot=5 file=1
thread id=4 time=3100 process=3 tid=50
comm time=3100 thread=4 comm="execed"
frame id=4 process=3 kind=exact address=$(printf '0x%x' $(($(at before) - base + 0x7000000)))
frame id=5 process=3 kind=return address=$(at called)
node id=19 parent=0 frame=5
node id=20 parent=19 frame=4
sample time=3200 event=1 cpu=0 thread=4 user=20 kernel=0 weight=1000000
exit time=3300 thread=4
ksym time=3400 address=0xffffffffc0001000 size=0x100 name="mod_work" module="mod"
frame id=6 process=0 kind=exact address=0xffffffffc0001010
frame id=7 process=0 kind=return address=0xffffffffc0001100
node id=21 parent=0 frame=7
node id=22 parent=21 frame=6
sample time=3390 event=1 cpu=0 thread=1 user=17 kernel=22 weight=1000000
sample time=3500 event=1 cpu=0 thread=1 user=0 kernel=0 weight=1000000
ledger time=5000000000 cpu=1 outcome=ring-full count=3
ledger time=5000000000 cpu=1 outcome=no-space count=2
end time=5000000000 reason=closed samples=7
flush
X1
ok "a capture by hand" record "$tmp/made"
as_perf "$tmp/made.pipe" >"$tmp/made.txt"
is "perf script reads it, and tells what was lost" "$(grep . "$tmp/perf.err")" "Warning:
Processed 12 samples and lost 41.67%!"
is "it has every sample" "$(grep -c '^[^ 	].* [a-z:-]*: ' "$tmp/made.txt")" 7
# Checks heads, and names with their files; perf decides which addresses it prints.
sed 's/+0x[0-9a-f]*//; s,'"$tmp"',,; s/^	 *[0-9a-f]* /	/' "$tmp/made.txt" | awk '/^[^\t]/ { $1 = $1 } 1' | grep . >"$tmp/got"
cat >"$tmp/want" <<X1
a b/c [x] 42/42 [003] 0.000002: 1000000 cpu-clock:
	called (/two)
	before (/two)
a b/c [x] 42/42 [003] 0.000002: 9 my:event:
	called (/two)
	before (/two)
second 42/43 [000] 0.000002: 1000000 cpu-clock:
	before (/two)
child 50/50 [000] 0.000003: 1000000 cpu-clock:
	called (/two)
execed 50/50 [000] 0.000003: 1000000 cpu-clock:
	before (/two)
	[unknown] ([unknown])
a b/c [x] 42/42 [000] 0.000003: 1000000 cpu-clock:
	mod_work (mod_work)
	mod_work (mod_work)
	called (/two)
	before (/two)
X1
head -18 "$tmp/got" >"$tmp/got1"
same "commands, threads, events; return addresses in their callers; fork, exec, module" "$tmp/got1" "$tmp/want"
is "a sample without frames" "$(tail -n +19 "$tmp/got")" "a b/c [x] 42/42 [000] 0.000003: 1000000 cpu-clock:"
like "what was lost is told" "$(perf report -i - --stdio --stats <"$tmp/made.pipe" 2>/dev/null)" "LOST_SAMPLES events: +1"
sed '/^end /d' "$tmp/made" | cprof-dump -r | cprof-convert -t perf >"$tmp/cut.pipe" 2>/dev/null
like "  also of a segment that was cut" "$(perf report -i - --stdio --stats <"$tmp/cut.pipe" 2>/dev/null)" \
	"LOST_SAMPLES events: +1"
like "the host is told" "$(perf report -i - --header-only <"$tmp/made.pipe" 2>/dev/null)" "hostname : elsewhere"

# Filters are those of cprof-fold.
filtered() { cprof-convert -t perf "$@" "$tmp/made.bin" >"$tmp/f.pipe" && as_perf "$tmp/f.pipe" | "$tests/lib/collapse.py" | sed 's/;.*\( [0-9]*\)$/\1/'; }
is "--comm, --tid" "$(filtered --tid 43 --comm second)" "second 1"
is "--from" "$(filtered --from 0.000001 --pid 50)" "child 1
execed 1"

# 2. Segments, and captures one after the other: with times that go back, and processes with the same PID.
sed 's/comm="second"/comm="later"/; s/ time=\([0-9]\)/ time=9\1/; s/period=9\([0-9]\)/period=\1/' "$tmp/made" >"$tmp/later"
sed 's/closed/continues/' "$tmp/made" >"$tmp/goes-on"
record "$tmp/later"
record "$tmp/goes-on"
joined() { # DESCRIPTION FILE FILE
	cat "$tmp/$2.bin" "$tmp/$3.bin" | cprof-convert -t perf >"$tmp/both.pipe"
	as_perf "$tmp/both.pipe" | "$tests/lib/collapse.py" | sort >"$tmp/got"
	{ as_perf "$tmp/$2.pipe"; as_perf "$tmp/$3.pipe"; } | "$tests/lib/collapse.py" | sort >"$tmp/want"
	same "$1" "$tmp/got" "$tmp/want"
}
joined "one segment behind another" goes-on later
joined "a segment that goes on, and tells anew of what is older than the end before it" goes-on made
unlike "  without an event out of order" "$(as_perf "$tmp/both.pipe" >"$tmp/got"; cat "$tmp/perf.err")" "out of order"
joined "an older capture behind another" later made
cprof-convert -t perf "$tmp/later.bin" "$tmp/made.bin" | cmp -s - "$tmp/both.pipe" && pass "  as operands, too" || fail "  as operands, too"

# 3. A stack that is too deep for one of perf's records.
{
	sed -n 1,11p "$tmp/made"
	seq 1 10000 | awk '{ print "frame id=" $1 " process=1 kind=" ($1 == 10000 ? "exact" : "return") " address=" at }
		{ n = n "node id=" 15 + $1 " parent=" ($1 == 1 ? 0 : 14 + $1) " frame=" $1 "\n" } END { printf "%s", n }' at="$(at called)"
	echo "sample time=2000 event=1 cpu=3 thread=1 user=10015 kernel=0 weight=1000000"
	echo "end time=3000 reason=closed samples=1"
} >"$tmp/deep"
cprof-dump -r "$tmp/deep" >"$tmp/deep.bin"
status "a stack of 10,000 frames" 0 cprof-convert -t perf "$tmp/deep.bin"
is "  is told to be cut" "$(cat "$tmp/err")" "cprof-convert: 1 stack lost outer frames: perf has no room for more"
cp "$tmp/out" "$tmp/deep.pipe"
is "  at 8,000" "$(perf script -i - --max-stack 100000 <"$tmp/deep.pipe" 2>/dev/null | grep -c '^	')" 8000

# 4. Inputs that are not captures; outputs that cannot be written.
echo "a;b 1" >"$tmp/folded"
status "folded text has no addresses" 2 cprof-convert -t perf "$tmp/folded"
status "nothing" 3 cprof-convert -t perf /dev/null
status "--match is for names" 2 cprof-convert -t perf --match x "$tmp/made.bin"
for o in "--focus x" "--exclude x" --norm -l --full-paths "--weight ns" "--native all"; do
	status "  and $o" 2 cprof-convert -t perf $o "$tmp/made.bin"
done
status "a cut capture" 3 sh -c 'head -c -20 "$1" | cprof-convert -t perf' - "$tmp/made.bin"
cp "$tmp/out" "$tmp/cut.pipe"
ok "  gives what is good" sh -c 'perf script -i - <"$1"' - "$tmp/cut.pipe"
[ ! -c /dev/full ] || status "a full disk" 1 sh -c 'cprof-convert -t perf "$1" >/dev/full' - "$tmp/made.bin"

# 5. Live: perf's names are cprof-sym's, and so is its fold.
may_record_live() { [ -x "$BIN/cprof-record" ] && make -s -C "$top" BUILD="$BUILD" "$BUILD/contrib/demo" >"$tmp/make" 2>&1 && cprof-record -q -F 999 -o "$tmp/raw.bin" -- "$BUILD/contrib/demo" 1 2>"$tmp/err"; }
if ! may_record_live; then
	skip "a live capture" "nothing can be recorded here: $(head -1 "$tmp/err" 2>/dev/null)"
	done_testing
fi
cprof-sym "$tmp/raw.bin" >"$tmp/sym.bin" 2>/dev/null
cprof-convert -t perf "$tmp/raw.bin" >"$tmp/raw.pipe"
cprof-convert -t perf "$tmp/sym.bin" | cmp -s - "$tmp/raw.pipe" && pass "names or no names, the pipe is the same" || fail "names or no names, the pipe is the same"
as_perf "$tmp/raw.pipe" >"$tmp/perf.txt"
is "perf script reads a live capture without a word" "$(cat "$tmp/perf.err")" ""
cprof-convert -t perfscript "$tmp/sym.bin" >"$tmp/cprof.txt"
"$tests/lib/collapse.py" -c "$tmp/cprof.txt" "$tmp/perf.txt" >"$tmp/classes"
diag "$(cat "$tmp/classes")"
n=$(cprof-fold "$tmp/sym.bin" | awk '{ n += $NF } END { print n }')
is "every sample is there" "$(head -1 "$tmp/classes")" "$n and $n samples"
# In perf 6.1 a PLT entry of a library has no name, or that of the function without @plt: seen now and then.
is "each frame has the same name, but for versions, aliases and PLT entries" "$(grep 'other:\|no name' "$tmp/classes" | grep -v ' has \([^ ]*\)@plt, perf \(\1\)\{0,1\} *$')" ""
# Aliases and PLT entries apart, the folds are the same.
"$tests/lib/collapse.py" -u "$tmp/perf.txt" >"$tmp/perf.folded"
cprof-fold "$tmp/sym.bin" >"$tmp/cprof.folded"
if grep -q "two names\|@plt" "$tmp/classes"; then
	cut -d' ' -f2- "$tmp/perf.folded" | awk '{ n += $NF } END { print n }' >"$tmp/got"
	is "perf script's fold has as many samples" "$(cat "$tmp/got")" "$n"
else
	same "perf script's fold is cprof-fold's" "$tmp/perf.folded" "$tmp/cprof.folded"
fi
perf report -i - --stdio --no-children --no-inline --max-stack 5000 -g folded,0,caller,count -F overhead,comm,sym <"$tmp/raw.pipe" 2>"$tmp/err" |
	awk '/^ +[0-9.]+%/ { comm = $2 } /^[0-9]+ / { n = $1; sub(/^[0-9]+ /, ""); print comm ";" $0 " " n }' |
	sed 's/;\([; ]\)/;[unknown]\1/g' | sed 's/@@*[A-Za-z_0-9.]*\([; ]\)/\1/g' | cprof-fold >"$tmp/report.folded"
sed 's/@@*[A-Za-z_0-9.]*\([; ]\)/\1/g' "$tmp/perf.folded" | cprof-fold | grep ';' >"$tmp/want"
same "perf report's callchains are perf script's fold" "$tmp/report.folded" "$tmp/want"
done_testing
