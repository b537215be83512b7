#!/bin/sh
# The map of the house: a file may include only its own room and rooms below it; no two files need each other; rooms stay small; and
# one name stands for one thing.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

# The floors, lowest first; those of the recorder carry main.c and the files beside it.
common_rooms="base foreign compress stream capture elf symbols dwarf go unwind lang python ruby hotspot javascript walk jit locate demangle resolve profile folded select gather blame views stats perfscript export import timed annotate flame page"
record_rooms="host helper config rings programs source output process unwind lang encode"

# includes FILE...: the project's own headers, "file: header"
includes() { grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" | sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1: \2/'; }

# upward TOP ROOMS: of lines "TOP/room/file: header", those whose header is not in that room or below. Files beside the rooms are above.
upward() {
	awk -v top="$1/" -v rooms="$2" '
		function floor_of(path) {
			if (index(path, top) != 1) return -1
			n_parts = split(substr(path, length(top) + 1), part, "/")
			return n_parts == 1 ? n + 1 : n_parts == 2 && part[1] in floor ? floor[part[1]] : -1
		}
		BEGIN { n = split(rooms, list); for (i = 1; i <= n; i++) floor[list[i]] = i }
		{ from = floor_of(substr($1, 1, length($1) - 1)); to = floor_of($2); if (from < 0 || to < 0 || to > from) print }'
}

is "the check sees includes that point up" "$(upward common "$common_rooms" <<'END'
common/stream/a.c: common/base/le.h
common/stream/a.c: common/stream/record.h
common/stream/a.c: common/capture/capture.h
common/base/b.c: cmd/shared/cli.h
common/base/b.c: bpf/sample.h
common/elf/c.c: symbols.h
common/attic/c.c: common/base/le.h
END
)" "common/stream/a.c: common/capture/capture.h
common/base/b.c: cmd/shared/cli.h
common/base/b.c: bpf/sample.h
common/elf/c.c: symbols.h
common/attic/c.c: common/base/le.h"

is "common/ has the rooms on the map" "$(ls common | grep -v '\.md$' | sort | tr '\n' ' ')" "$(echo "$common_rooms" | tr ' ' '\n' | sort | tr '\n' ' ')"
is "the recorder has the rooms on the map" "$(find cmd/cprof-record -mindepth 1 -type d | sed 's,.*/,,' | sort | tr '\n' ' ')" \
	"$(echo "$record_rooms" | tr ' ' '\n' | sort | tr '\n' ' ')"
is "common/ includes only downward" "$(includes common/*/*.[ch] | upward common "$common_rooms")" ""
is "the recorder includes only downward" \
	"$(includes cmd/cprof-record/*.[ch] cmd/cprof-record/*/*.[ch] | grep ': cmd/cprof-record/' | upward cmd/cprof-record "$record_rooms")" ""
is "bpf/ includes only itself, the walk and the layout of interpreters" \
	"$(includes bpf/*.[ch] bpf/*/*.[ch] | grep -Ev ': (bpf/|common/unwind/rule\.h|common/walk/|common/lang/[a-z]+\.h)')" ""
is "a command of one file includes cmd/shared/ and common/" \
	"$(includes cmd/*.c cmd/shared/*.[ch] cmd/shared/*/*.[ch] |
	grep -Ev ': (cmd/shared/([a-z]+/)?[a-z_]+\.h|common/.*)$')" ""
for d in cmd/cprof-*/; do
	is "$d includes its own, cmd/shared/ and common/" \
		"$(includes "$d"*.[ch] $(find "$d" -mindepth 2 -name '*.[ch]') | grep -Ev ": ($d([a-z]+/)?[a-z_]+\\.h|cmd/shared/([a-z]+/)?[a-z_]+\\.h|common/.*|bpf/.*)\$")" ""
done
is "only the recorder, and unit tests, include bpf/" "$(includes $(find cmd tests -name '*.[ch]') | grep ': bpf/' | grep -v -e '^cmd/cprof-record/' -e '^tests/verify/' -e '^tests/unit/')" ""

# circles: of lines "A B", those that tsort calls a loop
circles() { tsort 2>&1 >/dev/null | grep -v 'contains a loop' | sed 's/^tsort: //' | tr '\n' ' '; }
is "the check sees a circle" "$(printf 'a b\nb c\nc a\nc d\n' | circles)" "a b c "
# Templates for BPF programs take what their includer defines: unwind.bpf.h comes after percpu.bpf.h or
# event_ring.bpf.h, and says so.
is "no header includes itself by others" "$(includes $(find cmd common bpf -name '*.h') | tr -d : | circles)" ""
if [ -e "$BUILD/libcprof.a" ] && [ -d "$BUILD/obj/cmd/cprof-record" ]; then
	(cd "$BUILD/obj" && find cmd common -name '*.o' | LC_ALL=C sort | xargs nm -A 2>/dev/null) | awk '
		{ sub(/:.*/, "", $1); name = $NF; kind = $(NF - 1) }
		kind ~ /^[TDBRCVW]$/ { if (name != "main") at[name] = $1 }
		kind == "U" { uses[$1 " " name] = 1 }
		END { for (u in uses) { split(u, p, " "); if (p[2] in at && at[p[2]] != p[1]) print p[1], at[p[2]] } }' | sort -u >"$tmp/needs"
	ok "objects need each other" test -s "$tmp/needs"
	is "no two objects need each other, in a circle of any length" "$(circles <"$tmp/needs")" ""
	# The linker would take either of two functions with one name.
	is "no name of the library is there twice" "$(nm "$BUILD/libcprof.a" 2>/dev/null | awk '$2 ~ /^[TDBRC]$/ { print $3 }' | sort | uniq -d)" ""
else
	skip "no two objects need each other" "they are not built"
fi

is "no folder holds more than 30 files" "$(find cmd common bpf -type f | sed 's,/[^/]*$,,' | sort | uniq -c | awk '$1 > 30 { print $2, $1 }')" ""
# A BPF program and the module that loads it may share a name, as may the parts of commands that are alike: main.
is "no file name stands in two rooms" "$(find cmd common -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u | awk -F/ '$NF != "main" { n[$NF]++; at[$NF] = at[$NF] " " $0 }
	END { for (b in n) if (n[b] > 1) print at[b] }')" ""
is "no static function's name is one word that four files share" "$(grep -hoE '^static [a-z_0-9 ]*[ *][a-z0-9]+\(' -r cmd common bpf --include='*.[ch]' -H |
	sed 's/^\([^:]*\):.*[ *]\([a-z0-9]*\)($/\1 \2/' | sort -u | awk '{ n[$2]++ } END { for (w in n) if (n[w] > 3) print w, n[w] }' | sort)" ""

# One dependency, one room.
system() { grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$1>" $2 2>/dev/null | sed 's,/[^/]*$,,' | sort -u | tr '\n' ' '; }
all=$(find cmd common -name '*.[ch]')
is "libbpf is in the recorder" "$(system '(bpf|linux)/(bpf|libbpf|btf)\.h' "$all" | tr ' ' '\n' | grep -v -e '^cmd/cprof-record' -e '^$')" ""
is "xxhash is in the base room" "$(system 'xxhash\.h' "$all")" "common/base "
is "liblzma is in the room that compresses" "$(system 'lzma\.h' "$all")" "common/compress "
is "libelf gets files from bounds.c alone" "$(grep -lE '\<(elf_begin|elf_memory|elf_clone|dwarf_begin|dwfl_begin) ?\(' $all)" "common/elf/bounds.c"
is "libdeflate is in the DWARF room" "$(system 'libdeflate\.h' "$all")" "common/dwarf "
is "libdw is in the DWARF room" "$(system '(elfutils/(libdw|libdwelf|libdwfl)|dwarf)\.h' "$all")" "common/dwarf "
is "jansson is in the export room" "$(system 'jansson\.h' "$all")" "common/export "
is "protobuf-c is in the export room" "$(system '(protobuf-c/.*|profile\.pb-c)\.h' "$all")" "common/export "
is "zlib is in the room that compresses" "$(system 'zlib\.h' "$all")" "common/compress "
is "libzstd is in the room that compresses" "$(system 'zstd\.h' "$all")" "common/compress "
is "libiberty is in the room that demangles" "$(system 'libiberty/demangle\.h' "$all")" "common/demangle "

# Libraries return: no printing, no exiting. Only forked processes end.
is "nothing under common/ prints or exits" \
	"$(grep -nE '\<(printf|puts|putchar|v?fprintf|vprintf|perror|_?exit|warnx?|errx?) ?\(' common/*/*.[ch] |
	grep -vE '^common/foreign/(foreign_process|helper)\.c:.*\<_exit ?\(')" ""

is "no merge is left half done" "$(grep -rlE '^(<<<<<<<|>>>>>>>) ' Makefile README.md bpf cmd common contrib man tests)" ""

if [ -e .git ] && tops=$(git ls-files 2>/dev/null) && [ -n "$tops" ]; then
	is "the top level is what it is" "$(echo "$tops" | sed 's,/.*,,' | sort -u | grep -v '^\.' | tr '\n' ' ')" \
		"LICENSE Makefile README.md bpf cmd common contrib man tests "
else
	skip "the top level is what it is" "no git checkout"
fi
done_testing
