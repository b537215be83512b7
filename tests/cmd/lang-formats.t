#!/bin/sh
# Frames of interpreted languages in other programs' formats, and in the flame graph.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/lang-lib.sh"

cat >"$tmp/stacks" <<'X'
python 5 c:start m:main m:loop l:<module>:3 m:builtin_sorted m:list_sort m:loop j:Key.of:9 c:memcpy k:fault
python 2 c:start m:main m:loop l:<module>:4 s:not-yet
ruby 4 c:start m:vm_exec l:Foo#bar:0
X
lang_capture <"$tmp/stacks" >"$tmp/c"

# perf script's text
cprof-convert -t perfscript "$tmp/c" >"$tmp/text" 2>"$tmp/err"
tail -n +2 "$tmp/text" | sed '/^$/q' | tr -d '\t' | sed 's/^ *//' >"$tmp/got"
cat >"$tmp/want" <<'X'
ffffffff81000090 fault+0x0 ([kernel.kallsyms])
50080 memcpy+0x0 (/lib/libc.so.6)
0 Key.of (/usr/lib/json)
40060 list_sort+0x0 (/usr/bin/python)
40050 builtin_sorted+0x0 (/usr/bin/python)
0 <module> (/app/main)
40020 main+0x0 (/usr/bin/python)
50010 start+0x0 (/lib/libc.so.6)

X
same "perf script: address 0, the script as file" "$tmp/want" "$tmp/got"
is "  without a function" "$(grep -c '^	 *0 \[python: not-yet\] (\[python\])$' "$tmp/text")" 2
is "  --native all" "$(cprof-convert -t perfscript --native all "$tmp/c" | grep -c ' loop+')" 12
cprof-convert -t perfscript --native none "$tmp/c" >"$tmp/none"
is "  --native none" "$(grep -c '/usr/bin\|/lib/libc' "$tmp/none")" 0
cprof-convert -t stream "$tmp/text" 2>/dev/null | cprof-fold | sort >"$tmp/got"
cprof-fold "$tmp/c" | sed 's/\[python: not-yet\]/[unknown]/' | sort >"$tmp/want"
same "  read again, it has the same stacks, without the reasons" "$tmp/want" "$tmp/got"

# Readers of this text (stackcollapse-perf.pl, the Firefox Profiler's importer, speedscope) find a sample by
# its first line and the blank one after it. They take a frame as an address, a name, and a file without
# spaces in brackets at the end; a name that begins with a bracket is left out.
cat >"$tmp/readers.py" <<'X'
import re, sys
stack, samples = None, 0
for line in sys.stdin.read().split("\n"):
    if stack is None:
        if line == "" or line.startswith("#"):
            continue
        head = re.fullmatch(r"(\S.*?) +(\d+)/(\d+) +\[\d+\] +(\d+\.\d+): +\d+ \S+: *", line)
        if not head:
            print("no sample:", line)
            continue
        stack, samples = [], samples + 1
    elif line.strip() == "":
        stack = None
    else:
        frame = re.fullmatch(r"\s+([0-9a-f]+) (\S.*) \((\S+)\)", line)
        if not frame or frame.group(2).startswith("("):
            print("no frame:", line)
print(samples, "samples")
X
readers() { python3 "$tmp/readers.py"; }
is "  a reader's rules find fault with a file that has a space" \
	"$(printf 'a 1/1 [000] 1.000001:          1 x: \n\t 0 f (/a b)\n\t 0 (g) (/a)\n\n' | readers)" \
	"no frame: 	 0 f (/a b)
no frame: 	 0 (g) (/a)
1 samples"
is "  they read every frame of these" "$(readers <"$tmp/text")" "11 samples"
cat >"$tmp/odd" <<'X'
perl 1 m:main m:Perl_runops_standard l:<main>:1 l:(eval):2 l:main::(eval):3
php 1 m:main m:execute_ex l:<main>:1 l:Foo::{closure}:2
ruby 1 m:main m:vm_exec l:<top:1 l:block:2
X
lang_text <"$tmp/odd" | sed -e '/^script/s,/app/main,/my app/a (1)/main,' -e '/^function/{
	s/name="block"/name="block (2 levels) in <top (required)>"/
	s/name="<top"/name="Foo#<=>"/
}' | cprof-dump -r >"$tmp/odd.bin"
cprof-convert -t perfscript "$tmp/odd.bin" >"$tmp/odd.text"
is "  and of brackets and spaces in names and paths" "$(readers <"$tmp/odd.text")" "3 samples"
like "    with names as they are" "$(cat "$tmp/odd.text")" \
	' 0 block \(2 levels\) in <top \(required\)> \(/my\\040app/a\\040\(1\)/main\)$'
is "    but for the first bracket" \
	"$(grep -c -e ' 0 \[eval\] (/my' -e ' 0 main::(eval) (/my' "$tmp/odd.text")" 2

# The same names in flamegraph.pl's text
cprof-fold "$tmp/odd.bin" >"$tmp/got"
cat >"$tmp/want" <<'X'
perl;main;<main>;(eval);main::(eval) 1
php;main;<main>;Foo::{closure} 1
ruby;main;Foo#<=>;block (2 levels) in <top (required)> 1
X
same "folded text for flamegraph.pl: names as they are" "$tmp/want" "$tmp/got"

# A perf pipe has addresses alone.
if cprof-convert -t perf "$tmp/c" >"$tmp/perf.data" 2>"$tmp/err"; then
	pass "perf: written"
	if perf script -i "$tmp/perf.data" -F comm,ip >"$tmp/got" 2>/dev/null; then
		is "  without frames that have no address" \
			"$(awk '/^ruby/ { n++ } /^\t/ && n == 1' "$tmp/got" | wc -l)" 2
	else
		skip "  without frames that have no address" "perf does not read it here"
	fi
else
	fail "perf: written"
fi
status "  and --native means nothing there" 2 cprof-convert -t perf --native none "$tmp/c"

# speedscope
cat >"$tmp/frames.py" <<'X'
import json, sys
frames = json.load(sys.stdin)["shared"]["frames"]
key = sys.argv[1]
print(*sorted(f["name"] + " " + str(f[key]) for f in frames if key in f), sep=",")
X
frames() { cprof-convert -t speedscope --by all ${2:-} "$tmp/c" | python3 "$tmp/frames.py" $1; }
if cprof-convert -t speedscope "$tmp/c" >/dev/null 2>&1 && command -v python3 >/dev/null; then
	is "speedscope: name and script" "$(frames file)" \
		'<module> /app/main,Foo#bar /app/main,Key.of /usr/lib/json'
	is "  -l: the line, otherwise the function's first" "$(frames line -l)" \
		'<module> 3,<module> 4,Foo#bar 7,Key.of 9'
else
	skip "speedscope" "no jansson or no python3"
fi

# callgrind
cprof-convert -t callgrind "$tmp/c" >"$tmp/cg"
is "callgrind: the script is the file" \
	"$(awk '/^cf[in]=.*(json|Key.of)$/ { print $2 }' "$tmp/cg" | sort -u | tr '\n' ' ')" \
	'/usr/lib/json Key.of '

# pprof
schema=/usr/share/gocode/src/github.com/google/pprof/proto
if cprof-convert -t pprof "$tmp/c" >"$tmp/pb" 2>/dev/null && [ -e $schema/profile.proto ] &&
   command -v protoc >/dev/null; then
	gzip -dcf "$tmp/pb" >"$tmp/raw"
	protoc --decode=perftools.profiles.Profile -I $schema profile.proto <"$tmp/raw" >"$tmp/pb.text"
	python3 - "$tmp/pb.text" >"$tmp/got" <<'X'
import re, sys
strings, at, items = [], None, []
for line in open(sys.argv[1]):
    m = re.match(r'(\w+): "(.*)"$', line)
    if m and m.group(1) == "string_table":
        strings.append(m.group(2))
    elif re.match(r'(function|location|mapping) \{', line):
        at = (line.split()[0], {})
        items.append(at)
    elif at and re.match(r' +\w+: \d+$', line):
        key, value = line.strip().split(": ")
        at[1][key] = int(value)
    elif line == "}\n":
        at = None
functions = {i["id"]: i for kind, i in items if kind == "function"}
mappings = {i["id"]: strings[i["filename"]] for kind, i in items if kind == "mapping"}
for kind, i in items:
    if kind == "location" and mappings.get(i.get("mapping_id")) in ("[python]", "[ruby]"):
        f = functions[i["function_id"]]
        print(mappings[i["mapping_id"]], strings[f["name"]], strings[f.get("filename", 0)], i.get("line", 0))
print("first", mappings[1])
X
	cat >"$tmp/want" <<'X'
[python] <module> /app/main 3
[python] <module> /app/main 4
[python] Key.of /usr/lib/json 9
[python] [python: not-yet]  0
[ruby] Foo#bar /app/main 7
first /usr/bin/python
X
	sort "$tmp/got" >"$tmp/sorted"
	same "pprof: functions of scripts, in a mapping of the language" "$tmp/want" "$tmp/sorted"
	if command -v go >/dev/null && go tool pprof -top "$tmp/pb" >"$tmp/top" 2>/dev/null; then
		like "  which pprof shows" "$(cat "$tmp/top")" '45.45%.* 5 45.45%  *Key.of$|Key.of'
	else
		skip "  which pprof shows" "go tool pprof is not here"
	fi
else
	skip "pprof" "no protobuf-c, schema or protoc"
fi

# Rows for databases
like "tsv: the stack by name" "$(cprof-convert -t tsv "$tmp/c")" 'start;Foo#bar'

# The flame graph
cprof-flame "$tmp/c" >"$tmp/c.html"
python3 "$here/flame-block.py" labels "$tmp/c.html" | sort >"$tmp/got"
cat >"$tmp/want" <<'X'
0 builtin_sorted
0 list_sort
0 main
0 memcpy
0 start
1 fault
4 <module>
4 Foo#bar
4 Key.of
4 [python: not-yet]
5 python
5 ruby
X
same "flame graph: the kind interpreted, by the data and not by the name" "$tmp/want" "$tmp/got"
cprof-fold -a "$tmp/c" | cprof-flame | python3 "$here/flame-block.py" labels | sort >"$tmp/got"
same "  also from cprof-fold -a" "$tmp/want" "$tmp/got"
labels() { cprof-flame "$@" "$tmp/c" | python3 "$here/flame-block.py" labels | sort | tr '\n' ,; }
is "  --by language" "$(labels --by language)" '0 native,1 kernel,4 python,4 ruby,5 python,5 ruby,'
is "  --by module" "$(labels -U --by module)" \
	'0 libc.so.6,0 python,4 [python],4 json,4 main,5 python,5 ruby,'
like "  the picture's legend" "$(cprof-flame -o svg "$tmp/c")" '>interpreted 54.55 %<'
is "  --native none: no user code" "$(labels --native none)" \
	'1 fault,4 <module>,4 Foo#bar,4 Key.of,4 [python: not-yet],5 python,5 ruby,'

# Filters pass the records on, and ask for no names.
cprof-sym "$tmp/c" >"$tmp/named" 2>"$tmp/err"
like "cprof-sym does not count them" "$(cat "$tmp/err")" '9 of 9 frames named'
kept() { cprof-dump "$1" | grep -e '^script' -e '^function' -e '^lang-frame' -e '^node' -e '^sample'; }
kept "$tmp/c" >"$tmp/want"
kept "$tmp/named" >"$tmp/got"
same "  and passes them on" "$tmp/want" "$tmp/got"
cprof-sym --from @1000000000 --to @1000000000.000001004 "$tmp/c" 2>/dev/null >"$tmp/cut"
is "  of a window too" "$(cprof-fold "$tmp/cut")" \
	'python;start;main;<module>;builtin_sorted;list_sort;Key.of;memcpy;fault 3'
status "cprof-archive has nothing to do with them" 0 cprof-archive -d "$tmp/archive" "$tmp/c"
done_testing
