#!/bin/sh
# A program that runs from a memfd has names: from its mappings while it runs, later from an archive
# or debug files.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
. "$tests/lib/archive-lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all 'the recorder is not built'

pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null; wait 2>/dev/null; rm -rf "$tmp"' EXIT
echo 'unsigned long work_in_library(unsigned long n) { volatile unsigned long s = 0; for (unsigned long i = 0; i < n; i++) s += i; return s; }' |
	gcc -O1 -fno-omit-frame-pointer -shared -fPIC -Wl,--build-id -o "$tmp/lib.so" -x c -
cp "$BUILD/tests/memfd" "$tmp/memfd"
chmod 755 "$tmp" "$tmp/memfd" "$tmp/lib.so"
begin() { # COMMAND...
	: >"$tmp/ready"
	"$@" "$tmp/memfd" "$tmp/lib.so" >"$tmp/ready" 2>&1 &
	pid=$!
	i=0
	until grep -q ready "$tmp/ready" || [ $i = 200 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; i=$((i + 1)); done
	grep -q ready "$tmp/ready" || skip_all "$(cat "$tmp/ready")"
}
end() { kill -KILL $pid; wait $pid 2>/dev/null; pid=; }
leaves() { cprof-fold -U "$1" | sed 's/ [0-9]*$//; s/.*;//' | grep -E '^(work_in_|\[memfd)' | sort | uniq -c | awk '{ print $2 }' | tr '\n' ' '; }
both='work_in_library work_in_program '

begin env
cprof-record -q -F 499 -p $pid -o "$tmp/s.bin" 2 2>"$tmp/err" || skip_all "$(cat "$tmp/err")"
cprof-dump "$tmp/s.bin" | grep '^file .*memfd:copy' >"$tmp/files"
if grep -q 'build-id= ' "$tmp/files" && ! printf '6.11\n%s\n' "$(uname -r)" | sort -C -V; then
	skip_all 'this kernel tells no build ID of what a process had mapped before'
fi
is 'two memfds of one name are recorded' "$(sed 's/.*path=//' "$tmp/files" | uniq -c | sed 's/^ *//')" '2 "/memfd:copy (deleted)"'
is '  each with its build ID' "$(sed 's/.*build-id=\([^ ]*\) .*/\1/' "$tmp/files" | sort)" \
	"$({ build_id "$tmp/memfd"; build_id "$tmp/lib.so"; } | sort)"
cprof-sym "$tmp/s.bin" >"$tmp/sym" 2>"$tmp/err"
is 'while it runs both have names' "$(leaves "$tmp/sym")" "$both"
like '  by what it has mapped' "$(sources "$tmp/sym" | grep -E 'map_files|/exe')" ' ok (symtab|debug) /proc/[0-9]+/(map_files/|exe)'
cprof-archive -d "$tmp/kept" "$tmp/s.bin" 2>"$tmp/err"
end

cprof-sym "$tmp/s.bin" 2>"$tmp/err" | leaves - >"$tmp/got"
like 'when it is gone there are none' "$(cat "$tmp/got")" '^(\[memfd:copy\+0x[0-9a-f]*\] )+$'
cprof-sym --debug-dir "$tmp/kept" "$tmp/s.bin" >"$tmp/sym" 2>"$tmp/err"
is '  but by the archive' "$(leaves "$tmp/sym")" "$both"

# Its user may open the program, but not all files that it has mapped.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	begin setpriv --reuid 65534 --regid 65534 --clear-groups
	cprof-record -q -F 499 -p $pid -o "$tmp/u.bin" 0.5 2>"$tmp/err"
	chmod 644 "$tmp/u.bin"
	user "$BIN/cprof-sym" "$tmp/u.bin" >"$tmp/sym" 2>"$tmp/err"
	like 'to its user the program has names' "$(leaves "$tmp/sym")" 'work_in_program '
	end
else
	skip 'to its user the program has names' 'not root'
fi
done_testing
