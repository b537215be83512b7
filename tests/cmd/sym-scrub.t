#!/bin/sh
# --scrub: a capture that does not reveal its origin, and still has its names
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

# Everything that may hold a secret does: each has "hush" in it, or is the number 0x5ec... in an address
# of the kernel.
prog=$tmp/hush-program
echo '.globl hidden_work; .type hidden_work, @function; hidden_work: .skip 64, 0x90; .size hidden_work, 64' | as -o "$tmp/o.o" - &&
	ld -e hidden_work --build-id=0x6875736868757368 -o "$prog" "$tmp/o.o"
address=0x$(nm "$prog" | awk '$3 == "hidden_work" { print $1 }')
capture() {
	cat <<'T'
segment major=1 minor=0 least=1
meta key="host" value="hush-host"
meta key="boot-id" value="hush-boot"
meta key="machine-id" value="hush-machine"
meta key="kernel-release" value="6.1.0"
meta key="kernel-stext" value="ffffffff9ec00000"
meta key="command-line" value="cprof-record -- hush-command --password=hush"
meta key="label.service" value="hush-shop"
meta key="of-tomorrow" value="hush-future"
event id=1 name="cpu-clock" unit="ns" period=10101010 millihertz=99000
flush
process id=1 time=1 pid=101 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=101
comm time=1 thread=1 comm="hush-comm"
process id=2 time=1 pid=102 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=2 time=1 process=2 tid=102
comm time=1 thread=2 comm="hush-comm"
cgroup id=7 path="/hush.slice/hush-app.service"
cgroup id=8 path="/hush.slice/hush-db.service"
member time=1 process=1 cgroup=7
member time=1 process=2 cgroup=8
T
	echo "file id=1 major=8 minor=1 inode=666 generation=4 build-id=$(build_id "$prog") path=\"$prog\""
	cat <<'T'
file id=2 major=8 minor=1 inode=667 generation=4 build-id=0a0b path="/usr/lib/libpublic.so"
file id=3 major=0 minor=1 inode=668 generation=4 build-id= path="/memfd:hush-memfd (deleted)"
file id=4 major=0 minor=0 inode=0 generation=0 build-id= path="[vdso]"
file id=5 major=8 minor=1 inode=669 generation=4 build-id=0c0d path="/usr/local/bin/hush-own"
file id=6 major=8 minor=1 inode=670 generation=4 build-id=0c0e path="/usr/../home/hush-dots"
file id=7 major=0 minor=0 inode=0 generation=0 build-id= path="[anon:hush-heap]"
image name="[vdso]" build-id=ff data=00ff7f
image name="/hush-image" build-id=ff data=687573682d6279746573
T
	loads 1 1 "$prog"
	cat <<'T'
mapping time=1 process=1 start=0x10000 length=0x1000 offset=0x0 prot=5 file=0
jitmap time=2 process=1 generation=1 data="10000 10 LazyCompile:~draw /home/hush/app.js:3:7\nhush, a line of another form\n10010 10 py::draw:/home/hush/app.py\n10020 10 /hush\n10030 10 sum /usr/share/public.js:1\n10040 10 a/b\n"
jitcode time=2 process=2 kind=load address=0x20000 size=0x10 old=0x0 name="jitted file:///srv/hush/x.js:1"
T
	echo "frame id=1 process=1 kind=exact address=$address"
	cat <<'T'
frame id=2 process=0 kind=exact address=0xffffffff9ec00123
frame id=3 process=0 kind=return address=0xffffffff9ed00200
frame id=4 process=0 kind=exact address=0xffffffffc0a5e123
frame id=5 process=0 kind=exact address=0xffffffffc0a5e323
frame id=6 process=1 kind=exact address=0x10004
frame id=7 process=1 kind=exact address=0x10044
node id=16 parent=0 frame=1
node id=17 parent=0 frame=3
node id=18 parent=17 frame=2
node id=19 parent=0 frame=4
node id=20 parent=19 frame=5
node id=21 parent=0 frame=6
node id=22 parent=0 frame=7
sample time=1000 event=1 cpu=0 thread=1 user=16 kernel=18 weight=10101010
sample time=1001 event=1 cpu=1 thread=1 user=16 kernel=20 weight=10101010
sample time=1002 event=1 cpu=1 thread=1 user=21 kernel=0 weight=5
sample time=1003 event=1 cpu=1 thread=1 user=22 kernel=0 weight=10101010
sample time=1004 event=1 cpu=1 thread=2 user=0 kernel=18 weight=10101010
ksym time=1000 address=0xffffffff9ec00100 size=0x100 name="work_in_kernel" module=""
ksym time=1000 address=0xffffffff9ed00100 size=0x200 name="calls_in_kernel" module=""
ksym time=1000 address=0xffffffffc0a5e100 size=0x100 name="work_in_module" module="nf_tables"
ksym time=1000 address=0xffffffffc0a5e300 size=0x100 name="work_in_module_too" module="nf_tables"
string id=9 text="/home/hush/source.c"
string id=5 text="known_before"
symbol frame=1 from=0 level=0 source=dynsym name=5 offset=3 file=9 line=77
string id=11 text="[hush-program+0x1230]"
string id=12 text="[libpublic.so+0x40]"
symbol frame=7 from=0 level=0 source=bounds name=11 offset=3 file=0 line=0
symbol frame=6 from=0 level=0 source=bounds name=12 offset=3 file=0 line=0
source file=5 status=no-file kind=none path="/usr/local/bin/hush-own"
source file=1 status=ok kind=debug path="/usr/lib/debug/.build-id/68/75736868757368.debug"
source file=6 status=ok kind=debug path="/usr/lib/debug/opt/hush-program.debug"
script id=1 language=python process=1 path="/home/hush/app.py" units=0 file=0 offset=0x0 width=0
script id=2 language=python process=1 path="/usr/lib/python3.11/json/decoder.py"
script id=3 language=ruby process=1 path="hush.rb" units=0 file=0 offset=0x0 width=0
script id=4 language=python process=1 path="<string>" units=0 file=0 offset=0x0 width=0
function id=1 script=1 name="App.work" line=3 flags=0 start=0
function id=2 script=2 name="made from /srv/hush/x.py" line=3 flags=0 start=0
function id=3 script=3 name="top" line=3 flags=0 start=0
function id=4 script=4 name="<module>" line=1 flags=1 start=0
lang-frame id=8 process=1 language=python function=1 line=4 state=ok tier=none inlined=0 position=0
node id=23 parent=16 frame=8
sample time=1005 event=1 cpu=1 thread=1 user=23 kernel=0 weight=10101010
damage offset=1 bytes=2 blocks=0 what="hush-what"
record-60 tail=68757368
ledger time=1004 cpu=1 outcome=emitted count=5
flush
end time=900000 reason=closed samples=5
flush
T
}
capture | cprof-dump -r >"$tmp/raw.bin" 2>"$tmp/err"
head -c 32 /dev/zero | tr '\0' k >"$tmp/key"
cprof-sym --scrub --scrub-key "$tmp/key" "$tmp/raw.bin" >"$tmp/scrubbed.bin" 2>"$tmp/err"
cprof-sym "$tmp/raw.bin" >"$tmp/open.bin" 2>/dev/null
cprof-dump "$tmp/scrubbed.bin" >"$tmp/scrubbed.txt" 2>/dev/null

is 'the capture is full of secrets' "$(cprof-dump "$tmp/raw.bin" 2>/dev/null | grep -c hush)" 26
is 'none is left' "$(grep -a -e hush -e 68757368 -e 75736868757368 -e password "$tmp/scrubbed.txt")" ''
is '  in the bytes either' "$(grep -a -c -e hush -e password "$tmp/scrubbed.bin")" 0
is '  nor where the kernel was' "$(grep -E '9e[cd]0|c0a5e' "$tmp/scrubbed.txt")" ''
is '  nor what tells files apart' "$(sed -n 's/^file id=[0-9]* \(major.*\) build-id.*/\1/p' "$tmp/scrubbed.txt" | sort -u)" \
	'major=0 minor=0 inode=0 generation=0'
for key in host boot-id machine-id command-line of-tomorrow; do
	is "  no $key" "$(grep -c "^meta key=\"$key\"" "$tmp/scrubbed.txt")" 0
done
is 'paths of a distribution stay, with their build IDs' "$(sed -n 's/^file id=2.*build-id/build-id/p' "$tmp/scrubbed.txt")" \
	'build-id=0a0b path="/usr/lib/libpublic.so"'
is '  others are hashes without' "$(sed -n 's/^file id=[1567] .*build-id=\([0-9a-f]*\) path="\/scrubbed\/[0-9a-f]\{16\}"$/<\1>/p' "$tmp/scrubbed.txt" | tr '\n' ' ')" \
	'<> <> <> <> '
like '  names by the start of a function keep a file that is shown' "$(cat "$tmp/scrubbed.txt")" \
	'^string id=[0-9]+ text="\[libpublic.so\+0x40\]"$'
like '  and hide others' "$(cat "$tmp/scrubbed.txt")" '^string id=[0-9]+ text="\[[0-9a-f]{16}\+0x1230\]"$'
like '  a memfd is still one' "$(grep '^file id=3' "$tmp/scrubbed.txt")" 'path="/memfd:[0-9a-f]{16} \(deleted\)"$'
like 'commands are hashes' "$(grep '^comm' "$tmp/scrubbed.txt" | sed -n 1p)" 'comm="[0-9a-f]{16}"$'
is '  the same for the same' "$(sed -n 's/^comm.*comm=//p' "$tmp/scrubbed.txt" | uniq -d | wc -l)" 1
is 'groups keep their order' "$(sed -n 's/^cgroup.*path="\(.*\)"/\1/p' "$tmp/scrubbed.txt" | cut -d / -f 2 | uniq -c | awk '{ print $1 }')" 2
hash() { printf '"/scrubbed/%.16s"' "$(printf %s "$1" | "$BUILD/tests/base-sha256" hmac "$(od -An -v -tx1 "$tmp/key" | tr -d ' \n')")"; }
is '  a hash is the HMAC by the key' "$(sed -n 's/^file id=5.*path=//p' "$tmp/scrubbed.txt")" "$(hash /usr/local/bin/hush-own)"

# The time is spent in the same places.
folded() { cprof-fold "$@" 2>/dev/null | sed 's/^[^;]*;//' | sort; }
folded "$tmp/open.bin" | sed 's,/home/hush/app.js,PATH,' >"$tmp/want"
folded "$tmp/scrubbed.bin" | sed 's,/scrubbed/[0-9a-f]*,PATH,' >"$tmp/got"
same 'stacks and their names are the same' "$tmp/got" "$tmp/want"
for name in hidden_work work_in_kernel calls_in_kernel work_in_module LazyCompile:~draw a/b; do
	like "  $name is there" "$(cat "$tmp/got")" "$name"
done
is '  and so are modules of the kernel' "$(cprof-fold -o tsv "$tmp/scrubbed.bin" 2>/dev/null | grep -c nf_tables)" \
	"$(cprof-fold -o tsv "$tmp/open.bin" 2>/dev/null | grep -c nf_tables)"
is '  the kernel is where it was linked' "$(grep '^meta key="kernel-stext"' "$tmp/scrubbed.txt") $(grep -c 'address=0xffffffff81000123' "$tmp/scrubbed.txt")" \
	'meta key="kernel-stext" value="ffffffff81000000" 1'
is '  what is told of JIT code has its ranges' "$(sed -n 's/^jitmap.*data=//p' "$tmp/scrubbed.txt" | sed 's,/scrubbed/[0-9a-f]\{16\},P,g')" \
	'"10000 10 LazyCompile:~draw P:3:7\n10010 10 py::draw:P\n10020 10 P\n10030 10 sum /usr/share/public.js:1\n10040 10 a/b\n"'

like '  names that were there before stay, with their lines' "$(grep -A 9 'text="known_before"' "$tmp/scrubbed.txt")" 'source=dynsym .* line=77$'
like '  of hidden files' "$(cat "$tmp/scrubbed.txt")" '^string id=[0-9]* text="/scrubbed/[0-9a-f]{16}"$'

is 'scripts are hashes, unless a distribution installs them' \
	"$(sed -n 's/^script id=\(.\).*path=\(.*\) units=.*/\1 \2/p' "$tmp/scrubbed.txt" |
		sed 's,"/scrubbed/[0-9a-f]\{16\}",P,' | tr '\n' ' ')" \
	'1 P 2 "/usr/lib/python3.11/json/decoder.py" 3 P 4 "<string>" '
is '  functions keep their names, but no paths in them' \
	"$(sed -n 's/^function.*name=\(".*"\).*/\1/p' "$tmp/scrubbed.txt" |
		sed 's,/scrubbed/[0-9a-f]\{16\},P,' | tr '\n' ' ')" \
	'"App.work" "made from P" "top" "<module>" '
is '  frames of languages stay as they are' \
	"$(grep '^lang-frame' "$tmp/scrubbed.txt")" \
	'lang-frame id=8 process=1 language=python function=1 line=4 state=ok tier=none inlined=0 position=0'

# Keys
cprof-sym --scrub --scrub-key "$tmp/key" "$tmp/raw.bin" 2>/dev/null | cmp -s - "$tmp/scrubbed.bin"
is 'the same key gives the same capture' $? 0
comms() { cprof-sym --scrub "$@" "$tmp/raw.bin" 2>/dev/null | cprof-dump 2>/dev/null | sed -n 's/^comm.*comm=//p' | sort -u; }
is '  without one each run has its own' "$({ comms; comms; comms --scrub-key "$tmp/key"; } | sort -u | wc -l)" 3
head -c 15 "$tmp/key" >"$tmp/short"
status 'a short key is refused' 1 cprof-sym --scrub --scrub-key "$tmp/short" "$tmp/raw.bin"
like '  with what is expected' "$(cat "$tmp/err")" 'invalid key .*short \(expected 16 to 4096 bytes\)'
status '  and one without --scrub' 2 cprof-sym --scrub-key "$tmp/key" "$tmp/raw.bin"
like '  says so' "$(cat "$tmp/err")" 'scrub-key requires --scrub'

# Without kernel-stext the first address hides the others.
capture | grep -v kernel-stext | cprof-dump -r 2>/dev/null | cprof-sym --scrub --scrub-key "$tmp/key" 2>/dev/null | cprof-dump >"$tmp/less.txt" 2>/dev/null
is 'without kernel-stext, too' "$(grep -cE '9e[cd]0|c0a5e' "$tmp/less.txt") $(grep -c 'process=0 kind=[a-z]* address=0xffffa' "$tmp/less.txt")" '0 4'

ok '3,000 changes of records to be scrubbed' timeout 120 "$BUILD/tests/fuzz-scrub" -m 3000 "$tests/fuzz/corpus/scrub-made.txt"

# A real recording
if [ -x "$BIN/cprof-record" ]; then
	cp "$prog" "$tmp/hush-run"
	cat >"$tmp/hush-script" <<'T'
i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done
T
	(cd "$tmp" && cprof-record -q -F 997 -l service=hush-shop -o "$tmp/live.bin" -- sh "$tmp/hush-script" --password=hush) 2>"$tmp/err"
	if [ -s "$tmp/live.bin" ]; then
		cprof-sym --scrub "$tmp/live.bin" 2>/dev/null | cprof-dump >"$tmp/live.txt"
		cprof-dump "$tmp/live.bin" >"$tmp/before.txt"
		is 'a recording: nothing of the command line' "$(grep -c -e hush "$tmp/live.txt")" 0
		is '  nor of the host' "$(grep -cF -e "\"$(uname -n)\"" -e "$(cat /proc/sys/kernel/random/boot_id)" "$tmp/live.txt")" 0
		is '  nor a command' "$(sed -n 's/^comm.*comm=//p' "$tmp/before.txt" | sort -u | grep -cxFf - "$tmp/live.txt")" 0
		is '  nor a group' "$(sed -n 's/^cgroup.* path=//p' "$tmp/before.txt" | grep -v '^"/"$' >"$tmp/groups"
			[ ! -s "$tmp/groups" ] || grep -Ff "$tmp/groups" "$tmp/live.txt")" ''
		sed -n 's/^ksym.* address=\([^ ]*\) .*/address=\1 /p' "$tmp/before.txt" >"$tmp/addresses"
		if [ -s "$tmp/addresses" ] && ! grep -q '^meta key="kernel-stext" value="ffffffff81000000"' "$tmp/before.txt"; then
			is '  nor an address of the kernel' "$(grep -Ff "$tmp/addresses" "$tmp/live.txt")" ''
		else
			skip '  nor an address of the kernel' 'it lies where it was linked, or none was sampled'
		fi
		is '  as many samples' "$(grep -c '^sample' "$tmp/live.txt")" "$(grep -c '^sample' "$tmp/before.txt")"
	else
		skip 'a recording' "$(cat "$tmp/err")"
	fi
else
	skip 'a recording' 'the recorder is not built'
fi
done_testing
