#!/bin/sh
# cprof-convert -t pprof, as go tool pprof and protoc read it: equals the table of cprof-top, line by line.
. "$(dirname "$0")/../lib/lib.sh"

printf 'a;f 1\n' >"$tmp/one.folded"
cprof-convert -t pprof "$tmp/one.folded" >/dev/null 2>"$tmp/err"
[ $? != 2 ] || skip_all "cprof was built without protobuf-c, or without the schema"
schema=/usr/share/gocode/src/github.com/google/pprof/proto
proto() { gzip -dcf "$1" | protoc --decode=perftools.profiles.Profile -I $schema profile.proto; }

made() { seed=$1; shift; python3 "$here/convert-made.py" $seed "$@" | cprof-dump -r; }
made 1 >"$tmp/a.bin" && made 2 600 hostile >"$tmp/h.bin" && made 3 1 >"$tmp/single.bin" && cprof-dump -r "$tests/data/small.txt" >"$tmp/s.bin" ||
	exit 1
cprof-dump -r "$tests/fuzz/corpus/profile-inlined" >"$tmp/i.bin"
cprof-fold "$tmp/h.bin" >"$tmp/h.folded" 2>/dev/null

# The schema's own decoder accepts the file, and every number refers to something.
if command -v protoc >/dev/null && [ -e $schema/profile.proto ]; then
	for f in a.bin h.bin single.bin i.bin h.folded; do
		cprof-convert -i -t pprof "$tmp/$f" >"$tmp/$f.pb"
		ok "protoc decodes $f" sh -c "gzip -dcf $tmp/$f.pb | protoc --decode=perftools.profiles.Profile -I $schema profile.proto >$tmp/$f.text"
		is "  no field is unknown to it" "$(grep -cE '^ *[0-9]+[:{ ]' "$tmp/$f.text")" 0
	done
	made 1 | cprof-dump | sed 's/name="ksys_/name="$Proxy/' | cprof-dump -r >"$tmp/proxies.bin" # four names that --norm makes one
	cprof-convert --norm -t pprof "$tmp/proxies.bin" >"$tmp/proxies.pb" 2>/dev/null
	proto "$tmp/proxies.pb" >"$tmp/proxies.text"
	is "functions of one name are one" "$(grep -c 'string_table: "$Proxy?"' "$tmp/proxies.text")" 1
	ok "ids are from 1 on without a gap, references hold, labels have a text or a number" python3 - "$tmp/a.bin.text" "$tmp/h.bin.text" "$tmp/h.folded.text" "$tmp/proxies.text" <<'X'
import re, sys
for path in sys.argv[1:]:
    ids = {"location": [], "function": [], "mapping": []}
    uses = {"location": set(), "function": set(), "mapping": set()}
    strings, texts, stack, label = 0, set(), [], {}
    for line in open(path):
        m = re.match(r' *(\w+) \{', line)
        if m:
            stack.append(m.group(1)); label = {}
        elif line.strip() == "}":
            if stack.pop() == "label":
                assert "key" in label and ("str" in label) != ("num" in label), label
        else:
            key, value = re.match(r' *(\w+): (.*)', line).groups()
            if key == "string_table":
                assert strings or value == '""'; strings += 1
            elif key == "id": ids[stack[-1]].append(int(value))
            elif key in ("location_id", "function_id", "mapping_id"): uses[key[:-3]].add(int(value))
            elif key in ("name", "filename", "build_id", "key", "str", "unit", "system_name", "type", "comment"): texts.add(int(value))
            label[key] = value
    for what in ids:
        assert ids[what] == list(range(1, len(ids[what]) + 1)), (path, what)
        assert uses[what] <= set(ids[what]), (path, what)
    assert max(texts) < strings
X
	is "  a mapping: where it lay, from which place in which file, of which build" \
		"$(proto "$tmp/i.bin.pb" | sed -n '/^mapping/,/^}/p' | tr -s '\n ' ' ' | sed 's/filename: [0-9]* build_id: [0-9]*/-/')" \
		"mapping { id: 1 memory_start: 4194304 memory_limit: 4202496 file_offset: 4096 - has_functions: true has_filenames: true has_line_numbers: true has_inline_frames: true } "
	like "  a return address is one less" "$(proto "$tmp/i.bin.pb" | grep 'address:' | head -1)" "address: $((0x4000ff))\$"
else
	skip "protoc decodes it" "there is no protoc, or no schema"
fi
command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q 'usage\|Usage' || { skip "go tool pprof reads it" "there is no go"; done_testing; }

export HOME="$tmp" PPROF_TMPDIR="$tmp"
pprof() { go tool pprof -nodefraction=0 -edgefraction=0 -nodecount=0 -sample_index=samples "$@" 2>"$tmp/err"; }
row='^ *\([0-9]*\) *[0-9.e-]*% *[0-9.e-]*% *\([0-9]*\) *[0-9.e-]*%  \(.*\)$'
ours() { cprof-top --by function -n 0 "$@" | sed -n "s/$row/\1 \2 \3/p" | sort; }
theirs() { pprof -top "$@" | sed -n "s/$row/\1 \2 \3/p" | sed 's/ (\(partial-\)\{0,1\}inline)$//' | sort; }

# alike NAME OPTION...: both tables of a capture are the same
alike() {
	name=$1; shift
	cprof-convert -t pprof "$@" "$tmp/$name" >"$tmp/pb" 2>"$tmp/err" || diag "$(cat "$tmp/err")"
	ours "$@" "$tmp/$name" >"$tmp/want"
	theirs "$tmp/pb" >"$tmp/got"
	same "go tool pprof -top is cprof-top: $name $*" "$tmp/want" "$tmp/got"
}
for f in i.bin s.bin single.bin a.bin h.bin h.folded; do alike $f; done
ok "  and there were many lines" test "$(wc -l <"$tmp/want")" -gt 50
for o in -i -U -K --norm "--focus ^loop$ --exclude ^mul$" "--pid 41" "--comm app" "--match ^loop$" "--from 0.1 --to 0.2" "--tid 141,142"; do alike a.bin $o; done
alike h.bin -i
alike h.folded --comm sh
is "  raw, too" "$(python3 "$here/convert-made.py" 1 | grep -v ^symbol | cprof-dump -r | tee "$tmp/raw.bin" | cprof-convert -t pprof >"$tmp/raw.pb" &&
	theirs "$tmp/raw.pb" | cksum)" "$(ours "$tmp/raw.bin" | cksum)"

cprof-convert -t pprof "$tmp/a.bin" >"$tmp/a.pb"
cprof-convert -t pprof "$tmp/h.bin" >"$tmp/h.pb"
pprof -top "$tmp/a.pb" >"$tmp/head"
like "the ledger is with it" "$(cat "$tmp/head")" '^ledger: 600 samples in .* 606 expected, 6 of 606 expected samples lost \(ring-full 6\)'
like "when it was" "$(cat "$tmp/head")" '^Time: (Nov 14, 2023|2023-11-14)'
like "for how long" "$(cat "$tmp/head")" '^Duration: 598'
is "time is the default" "$(go tool pprof -top "$tmp/a.pb" 2>/dev/null | sed -n 's/^Showing nodes accounting for .* of \(.*\) total/\1/p')" 600ms

# Processes, threads and containers are labels.
pprof -tags "$tmp/a.pb" >"$tmp/tags"
cprof-top --by process -n 0 "$tmp/a.bin" | sed -n "s/$row/\1 \3/p" | sed 's/ .*-/ /' | awk '{ n[$2] += $1 } END { for (p in n) print n[p], p }' | sort >"$tmp/want"
sed -n '/^ *pid: /,/^$/p' "$tmp/tags" | sed -n 's/^ *\([0-9]*\)[.]0 *(.*): /\1 /p' | sort >"$tmp/got"
same "-tags: each process has its samples" "$tmp/want" "$tmp/got"
is "  hosts have theirs" "$(sed -n '/^ *host: /,/^$/p' "$tmp/tags" | grep -oE '^ +[0-9.]+ .*: h[12]' | tr -s ' ')" " 300.0 (50.00%): h1
 300.0 (50.00%): h2"
like "  and containers" "$(cat "$tmp/tags")" '\): /docker/1$'
# If a process moves from one group to another, each sample is in the group of its time.
cprof-dump -r >"$tmp/moves.bin" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=1000000 millihertz=999000
flush
process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=42
comm time=1 thread=1 comm="web"
cgroup id=7 path="/a"
cgroup id=8 path="/b"
member time=1 process=1 cgroup=7
frame id=1 process=1 kind=exact address=0x10
node id=16 parent=0 frame=1
sample time=10 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000000
member time=20 process=1 cgroup=8
sample time=30 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000000
sample time=40 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000000
end time=50 reason=closed samples=3
flush
X
cprof-convert -t pprof "$tmp/moves.bin" >"$tmp/moves.pb"
pprof -tags "$tmp/moves.pb" | sed -n '/^ *container: /,/^$/p' | sed -n 's/^ *\([0-9]*\)[.]0 *(.*): /\1 /p' | sort >"$tmp/got"
printf '%s\n' '1 /a' '2 /b' >"$tmp/want"
same "  a process that moves has its samples in each" "$tmp/want" "$tmp/got"
# pprof tells files apart over the whole profile, even in the view of one thread.
named() { sed 's|\[[a-z0-9]*/app+|[app+|'; }
ours --tid 141 "$tmp/a.bin" | named | sort >"$tmp/want"
theirs -tagfocus=tid=141:141 "$tmp/a.pb" | named | sort >"$tmp/got"
same "-tagfocus is --tid" "$tmp/want" "$tmp/got"

is "-traces: all samples" "$(pprof -traces "$tmp/a.pb" | awk '/^-+\+/ { want = 1; next } want && $1 ~ /^[0-9]+$/ { n += $1; want = 0 } END { print n }')" 600
is "-peek: a function's own line" "$(pprof -peek '^loop$' "$tmp/a.pb" | sed -n "s/^ *\([0-9]*\) .*% *\([0-9]*\) .*% *| loop$/\1 \2/p")" \
	"$(ours "$tmp/a.bin" | sed -n 's/ loop$//p')"
is "-raw: as many stacks as there are" "$(pprof -raw "$tmp/a.pb" | grep -cE '^ +[0-9]+ +[0-9]+: ')" \
	"$(gzip -dcf "$tmp/a.pb" | protoc --decode=perftools.profiles.Profile -I $schema profile.proto | grep -c '^sample {')"
pprof -top -diff_base="$tmp/a.pb" "$tmp/a.pb" >"$tmp/got"
like "-diff_base: a profile is no different from itself" "$(cat "$tmp/got")" '^Showing nodes accounting for 0, 0% of 600 total'
is "  in any line" "$(sed -n "s/$row/\1 \2/p" "$tmp/got" | sort -u)" ""
pprof -top -diff_base="$tmp/a.pb" "$tmp/h.pb" >"$tmp/got"
like "  but from another" "$(cat "$tmp/got")" ' loop$'
pprof -proto -output="$tmp/again.pb" "$tmp/a.pb" >/dev/null
ours "$tmp/a.bin" >"$tmp/want"
theirs "$tmp/again.pb" >"$tmp/got"
same "-proto: written by pprof again, it is the same" "$tmp/want" "$tmp/got"
{ ours "$tmp/a.bin"; ours "$tmp/i.bin"; } | sed 's/^\([0-9]*\) \([0-9]*\) /\1\t\2\t/' | awk -F'\t' '{ f[$3] += $1; c[$3] += $2 } END { for (n in f) print f[n], c[n], n }' | sort >"$tmp/want"
cprof-convert -t pprof "$tmp/i.bin" >"$tmp/i.pb"
theirs "$tmp/a.pb" "$tmp/i.pb" >"$tmp/got"
same "two of them are added up" "$tmp/want" "$tmp/got"
cprof-convert -t pprof "$tmp/a.bin" "$tmp/i.bin" >"$tmp/both.pb"
theirs "$tmp/both.pb" >"$tmp/got"
same "  as operands, too" "$tmp/want" "$tmp/got"

# pprof must not look for names if cprof-sym has; otherwise it may.
is "pprof does not look for names that cprof-sym has looked for" "$(pprof -raw "$tmp/a.pb" | sed -n '/^Mappings/,$p' | grep -c '^[0-9].*\[FN\]')" "$(pprof -raw "$tmp/a.pb" | sed -n '/^Mappings/,$p' | grep -c '^[0-9]')"
is "  in a raw capture it does, except for the kernel" "$(pprof -raw "$tmp/raw.pb" | sed -n '/^Mappings/,$p' | grep '^[0-9].*\[FN\]' | sed 's/.* \(\[.*\]\)  *[a-f0-9]* \[FN.*/\1/')" "[kernel.kallsyms]"

# The profile's name, its time, and the capture's labels
cat >"$tmp/named.txt" <<'X'
segment major=1 minor=0 least=1
meta key="host" value="h"
meta key="start-realtime-ns" value="1700000000000000000"
meta key="start-monotonic-ns" value="1000000000"
meta key="label.service" value="web"
meta key="label.pid" value="own"
event id=1 name="cpu-clock" unit="ns" period=1000000 millihertz=999000
flush
process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=1 pid=43 nspid=0 parent=0 start=5 gen=0 via=snapshot
file id=1 major=8 minor=1 inode=1 generation=0 build-id= path="/lib64/ld-linux-x86-64.so.2"
file id=2 major=8 minor=1 inode=2 generation=0 build-id= path="/opt/a-program-with-a-name"
file id=3 major=8 minor=1 inode=3 generation=0 build-id= path="/opt/lower"
file id=4 major=8 minor=1 inode=4 generation=0 build-id= path="/opt/other"
mapping time=1 process=1 start=0x700000 length=0x1000 offset=0 prot=5 file=1
mapping time=1 process=1 start=0x400000 length=0x1000 offset=0 prot=5 file=2
mapping time=1 process=1 start=0x300000 length=0x1000 offset=0 prot=5 file=3
mapping time=1 process=2 start=0x100000 length=0x1000 offset=0 prot=5 file=4
thread id=1 time=1 process=1 tid=42
thread id=2 time=1 process=2 tid=43
comm time=1 thread=1 comm="a-program-with-"
comm time=1 thread=2 comm="other"
frame id=1 process=1 kind=exact address=0x700010
frame id=2 process=1 kind=exact address=0x400010
frame id=3 process=1 kind=exact address=0x300010
frame id=4 process=2 kind=exact address=0x100010
node id=16 parent=0 frame=1
node id=17 parent=0 frame=2
node id=18 parent=17 frame=3
node id=19 parent=0 frame=4
sample time=1000000000 event=1 cpu=0 thread=2 user=19 kernel=0 weight=1000
sample time=1100000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
sample time=2500000000 event=1 cpu=0 thread=1 user=18 kernel=0 weight=1000
sample time=3700000000 event=1 cpu=0 thread=1 user=16 kernel=0 weight=1000
end time=4000000000 reason=closed samples=4
flush
X
cprof-dump -r "$tmp/named.txt" >"$tmp/named.bin"
head_of() { cprof-convert -t pprof "$@" >"$tmp/named.pb" 2>"$tmp/err" && pprof -top "$tmp/named.pb" >"$tmp/head"; }
head_of "$tmp/named.bin"
is "the file is the executable of the process with the most samples" "$(sed -n 's/^File: //p' "$tmp/head")" a-program-with-a-name
like "  for as long as the capture is" "$(cat "$tmp/head")" '^Duration: 2\.70s'
like "  of which nobody knows what was expected" "$(cat "$tmp/head")" '^ledger: 4 samples in 3\.00 s, expected and lost samples unknown$'
is "labels of the capture are labels of the samples" "$(pprof -tags "$tmp/named.pb" | grep -oE '^ *(service|label.pid): |: (web|own)$' | tr -d ' :\n')" label.pidownserviceweb
sed 's/comm="a-program-with-"/comm="script.py"/' "$tmp/named.txt" | cprof-dump -r >"$tmp/script.bin"
head_of "$tmp/script.bin"
is "  where none is named after the command it is the lowest" "$(sed -n 's/^File: //p' "$tmp/head")" lower
head_of --pid 43 "$tmp/named.bin"
is "  of the process that is looked at" "$(sed -n 's/^File: //p' "$tmp/head")" other
head_of --from 1 --to 2 "$tmp/named.bin"
like "--from, --to: the duration is theirs" "$(cat "$tmp/head")" '^Duration: 1s'
like "  and that is told of the samples" "$(cat "$tmp/head")" '^ledger: 4 samples in 3\.00 s, 1 of them looked at, '
head_of --from @1700000001.25 --to @1700000009 "$tmp/named.bin"
like "  up to the last sample" "$(cat "$tmp/head")" '^Duration: 1\.45s'

# Cut and empty captures
head -c $(($(wc -c <"$tmp/a.bin") * 2 / 3)) "$tmp/a.bin" >"$tmp/cut.bin"
status "a capture that is cut short" 3 cprof-convert -t pprof "$tmp/cut.bin"
mv "$tmp/out" "$tmp/cut.pb"
ours "$tmp/cut.bin" >"$tmp/want" 2>/dev/null
theirs "$tmp/cut.pb" >"$tmp/got"
same "  is what is there of it" "$tmp/want" "$tmp/got"
ok "  which is something" test -s "$tmp/got"
status "no byte" 3 cprof-convert -t pprof /dev/null
like "  is an empty profile" "$(pprof -top "$tmp/out")" '^Showing nodes accounting for 0, 0% of 0 total'
status "no sample that counts" 0 cprof-convert -t pprof --pid 9999 "$tmp/a.bin"
like "  is told" "$(sed -n '$p' "$tmp/err")" \
	'the profile is empty; none of 600 samples matches the options; recorded processes: 402 sh \(14 %\)'
like "  and empty" "$(pprof -top "$tmp/out")" '^Showing nodes accounting for 0, 0% of 0 total'
awk 'BEGIN { for (i = 0; i < 60000; i++) print "root" i ";f" i % 7 " 1" }' >"$tmp/roots.folded"
cprof-convert -t pprof "$tmp/roots.folded" >"$tmp/roots.pb"
is "60,000 roots" "$(theirs "$tmp/roots.pb")" "$(ours "$tmp/roots.folded")"
ok "a full disk is told" sh -c "cprof-convert -t pprof $tmp/a.bin >/dev/full 2>$tmp/err; test \$? = 1"
cprof-convert -t pprof "$tmp/a.bin" | cmp -s - "$tmp/a.pb"
is "the same bytes each time" $? 0
done_testing
