#!/bin/sh
# Names from debuginfod servers: Debian's, and servers that are missing, silent, or wrong.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

unset DEBUGINFOD_URLS DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE
export DEBUGINFOD_CACHE_PATH="$tmp/cache"
export no_proxy=127.0.0.1
servers=
trap '[ -z "$servers" ] || kill $servers; rm -rf "$tmp"' EXIT

cp "$tests/data/three.c" "$tmp/f.c"
gcc -g -O1 -shared -fPIC -Wl,--build-id -o "$tmp/whole.so" "$tmp/f.c"
id=$(build_id "$tmp/whole.so")
mkdir "$tmp/served" "$tmp/lib" "$tmp/none"
# capture [ID]: of a library in $tmp/lib, or nowhere
capture() {
	segment; process 1; file 1 "$tmp/lib/f.so" "${1-$id}"; loads 1 1 "$tmp/whole.so"
	for s in first second third; do nm "$tmp/whole.so" | awk -v s=$s '$3 == s { print "0x" $1 }'; done | frames
	finish
}
sym() { capture "$id" | cprof-dump -r | cprof-sym --debug-dir "$tmp/none" "$@" 2>"$tmp/err" >"$tmp/out"; }
line() { name_of "$tmp/out" | sed 's/^\[.*bounds$/-/' | tr '\n' ','; } # only an address means no name, even if it is a function's start
path() { sources "$tmp/out" | sed "s,$tmp/cache/,,; s,$id,ID,"; }

status 'no server is named' 2 sh -c 'cprof-sym --debuginfod </dev/null'
like '  that is said' "$(cat "$tmp/err")" '^cprof-sym: --debuginfod requires a server in DEBUGINFOD_URLS'
DEBUGINFOD_URLS='  ' status 'nothing but blanks' 2 sh -c 'cprof-sym --debuginfod </dev/null'
capture | cprof-dump -r >"$tmp/bin"
DEBUGINFOD_URLS=http://127.0.0.1:1 cprof-sym --debuginfod </dev/null 2>"$tmp/err" >"$tmp/out"
if grep -q 'not installed' "$tmp/err"; then
	skip 'asking a server' 'no libdebuginfod'
	done_testing
fi

# A server that is not there
export DEBUGINFOD_URLS=http://127.0.0.1:1
sym --debuginfod
is 'a server that cannot be reached: no names' "$? $(line) $(path)" "0 -,-,-, 1 no-file none $tmp/lib/f.so"
like '  it is said once, at the end' "$(grep debuginfod "$tmp/err")" \
	'^cprof-sym: debuginfod: 2 of 2 requests failed \(.+\)$'
for i in 1 2 3; do
	segment; process 1
	for f in 1 2 3; do file $f "/no/such/$i$f" "00$i${f}2233445566778899"; mapping 1 $f $((f << 20)) 4096 0; done
	for f in 1 2 3; do printf '0x%x\n' $((f << 20)); done | frames
	finish
done | cprof-dump -r | cprof-sym --debuginfod 2>"$tmp/err" >"$tmp/out"
like '  after three failures nothing is asked' "$(grep debuginfod "$tmp/err")" \
	'debuginfod: 3 of 3 requests failed \(.+\); no further requests were made$'
rm -rf "$tmp/cache"
sym
is 'nobody is asked without the option' "$(line) $(ls "$tmp/cache" 2>/dev/null)" '-,-,-, '

# A server that takes connections and never answers, and one that gives a file of another build
cat >"$tmp/odd.py" <<'X'
import http.server, socket, sys
if sys.argv[1] == "silent":
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(64)
    print(s.getsockname()[1], flush=True)
    kept = []
    while True:
        kept.append(s.accept())
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, flush=True)
        body = open(sys.argv[2], "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(s.server_port, flush=True)
s.serve_forever()
X
# odd NAME ARGUMENT...: starts such a server; DEBUGINFOD_URLS names it, its output goes to $tmp/NAME
odd() {
	python3 "$tmp/odd.py" "$@" >"$tmp/$1" 2>&1 &
	servers="$servers $!"
	until [ -s "$tmp/$1" ]; do sleep 0.05; done
	DEBUGINFOD_URLS=http://127.0.0.1:$(head -n 1 "$tmp/$1")
	rm -rf "$tmp/cache"
}
if command -v python3 >/dev/null; then
	odd silent
	DEBUGINFOD_TIMEOUT=1 sym --debuginfod
	is 'a server that says nothing: no names' "$(line)" '-,-,-,'
	is '  it is asked once' "$(grep debuginfod "$tmp/err")" \
		'cprof-sym: debuginfod: 1 of 1 requests failed (timed out); no further requests were made'
	sed 's/x \* 3/x * 7/' "$tmp/f.c" >"$tmp/g.c"
	gcc -g -O1 -shared -fPIC -Wl,--build-id -o "$tmp/other.so" "$tmp/g.c"
	odd liar "$tmp/other.so"
	sym --debuginfod
	is 'a file of another build is not used' "$(line) $(path)" "-,-,-, 1 no-file none $tmp/lib/f.so"
	head -c 1000 /dev/urandom >"$tmp/noise"
	odd noisy "$tmp/noise"
	sym --debuginfod
	is 'nor is one of noise' "$(line)" '-,-,-,'
else
	skip 'servers that say nothing, or lie' 'no python3'
fi

# Debian's server
command -v debuginfod >/dev/null || { skip "Debian's server" 'no debuginfod'; done_testing; }
export DEBUGINFOD_CACHE_PATH="$tmp/cache"
rm -rf "$tmp/cache"
strip -o "$tmp/stripped.so" "$tmp/whole.so"
objcopy --only-keep-debug "$tmp/whole.so" "$tmp/f.debug"
# serve FILE...: starts a new server with just these files
serve() {
	port=$((20000 + ($$ + $(date +%N | sed 's/^0*//')) % 20000))
	rm -rf "$tmp/served" "$tmp/cache"
	mkdir "$tmp/served"
	cp "$@" "$tmp/served"
	env -u DEBUGINFOD_URLS debuginfod -vvv -F -t 0 -g 0 -d :memory: -p $port "$tmp/served" >"$tmp/server" 2>&1 &
	servers="$servers $!"
	DEBUGINFOD_URLS=http://127.0.0.1:$port
	i=0
	while [ $i -lt 200 ] && [ "$(grep -c "recorded buildid=.* file=$tmp/served/" "$tmp/server")" != $# ]; do
		sleep 0.1
		i=$((i + 1))
	done
}
asked() { grep -cE "/buildid/[0-9a-f]*/$1" "$tmp/server"; }
debugged='first+0 debug,second+0 debug,third+0 debug,'
serve "$tmp/f.debug" "$tmp/stripped.so"
cp "$tmp/stripped.so" "$tmp/lib/f.so"
sym
is 'a stripped library' "$(line)" 'first+0 dynsym,-,third+0 dynsym,'
sym --debuginfod
is '  with its debug file from a server' "$(line) $(path)" "$debugged 1 ok debug ID/debuginfo"
is '  nothing is said of it' "$(cat "$tmp/err")" 'cprof-sym: 3 of 3 frames named (100.0 %)'
rm "$tmp/lib/f.so"
sym --debuginfod
is 'the library is not there' "$(line) $(path)" "$debugged 1 ok debug ID/debuginfo"
is '  the cache had it' "$(asked debuginfo)" 1
DEBUGINFOD_URLS=http://127.0.0.1:1 sym --debuginfod
is '  it has it without a server, too' "$(line)" "$debugged"
serve "$tmp/stripped.so"
sym --debuginfod
is 'a server that has the executable alone' "$(line) $(path)" \
	'first+0 dynsym,-,third+0 dynsym, 1 ok dynsym ID/executable'
serve "$tmp/whole.so"
sym --debuginfod
is 'one that was never stripped' "$(line | sed 's/symtab/debug/g')" "$debugged"
# Files that it does not have: two segments and two paths, one request of each kind
serve "$tmp/stripped.so"
for i in 1 2; do
	segment; process 1
	for f in 1 2; do file $f "/no/such/$f" 00112233445566778899; mapping 1 $f $((f << 20)) 4096 0; done
	for f in 1 2; do printf '0x%x\n' $((f << 20)); done | frames
	finish
done | cprof-dump -r | cprof-sym --debuginfod 2>"$tmp/err" >"$tmp/out"
is 'what it does not have is asked for once' "$(asked debuginfo) $(asked executable)" '1 1'
is '  and is no failure' "$(grep -c debuginfod "$tmp/err")" 0
done_testing
