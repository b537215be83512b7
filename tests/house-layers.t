#!/bin/sh
# The layers of the tree: a file may include only headers of its own room and of rooms below it.
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1

rooms=$(for r in base stream capture elf dwarf go unwind walk jit locate resolve profile folded select gather views stats perfscript export \
	flame page; do [ ! -d "common/$r" ] || echo "$r"; done | xargs) # lowest first

# includes FILE...: the project's own headers, "file: header"
includes() { grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" | sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1: \2/'; }

# upward: prints the lines "common/room/file: header" whose header is not in that room or below
upward() {
	awk -v rooms="$rooms" 'BEGIN { n = split(rooms, list); for (i = 1; i <= n; i++) floor[list[i]] = i }
		{ split($1, from, "/"); m = split($2, to, "/")
		  if (!(from[2] in floor) || m != 3 || to[1] != "common" || !(to[2] in floor) || floor[to[2]] > floor[from[2]])
			print }'
}

is "the check sees what points up" "$(upward <<'END'
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

is "each room is on the map" "$(ls common | sort | tr '\n' ' ')" "$(echo "$rooms" | tr ' ' '\n' | sort | tr '\n' ' ')"
is "common/ looks only down" "$(includes common/*/*.[ch] | upward)" ""
is "bpf/ looks at nothing but itself and the walk" "$(includes bpf/*.[ch] | grep -Ev ": (bpf/|common/(unwind|walk)/(rule|space|state|walk|walk_memory)\\.h)")" ""
is "cmd/ includes its own and common/" "$(includes cmd/*.[ch] | grep -Ev ': (cmd/([a-z-]+/)?[a-z_]+\.h|common/.*)$')" ""
for d in cmd/*/; do
	is "$d includes its own, common/ and bpf/" \
		"$(includes $(find "$d" -name '*.[ch]') | grep -Ev ": ($d([a-z]+/)?[a-z_]+\\.h|cmd/(shared/)?[a-z]+\\.h|common/.*|bpf/.*)\$")" ""
done
is "only the recorder includes bpf/" "$(includes $(find cmd tests -name '*.[ch]') |
	grep ': bpf/' | grep -v '^cmd/cprof-record/')" ""

# One dependency, one room
system() { grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$1>" $2 2>/dev/null | sed 's,/[^/]*$,,' | sort -u | tr '\n' ' '; }
all=$(find cmd common -name '*.[ch]')
is "libbpf is in the recorder" "$(system '(bpf|linux)/(bpf|libbpf|btf)\.h' "$all" | grep -v '^cmd/cprof-record $')" ""
is "xxhash is in the base room" "$(system 'xxhash\.h' "$all")" "common/base "
is "liblzma is in the ELF room" "$(system 'lzma\.h' "$all")" "common/elf "
is "libelf gets files from bounds.c alone" "$(grep -lE '\<(elf_begin|elf_memory|elf_clone|dwarf_begin|dwfl_begin) ?\(' $all)" "common/elf/bounds.c"
is "libdeflate is in the DWARF room" "$(system 'libdeflate\.h' "$all")" "common/dwarf "
is "libdw is in the DWARF room" "$(system '(elfutils/(libdw|libdwelf|libdwfl)|dwarf)\.h' "$all")" "common/dwarf "
is "jansson is in the export room" "$(system 'jansson\.h' "$all")" "common/export "
is "protobuf-c is in the export room" "$(system '(protobuf-c/.*|profile\.pb-c)\.h' "$all")" "common/export "
is "zlib is in the export room" "$(system 'zlib\.h' "$all")" "common/export "
is "libiberty is in the room that resolves" "$(system 'libiberty/demangle\.h' "$all")" "common/resolve "

# Libraries return: no printing, no exiting.
is "nothing under common/ prints or exits" \
	"$(grep -nE '\<(printf|puts|putchar|fprintf|vprintf|vfprintf|perror|exit|_exit|warnx?|errx?) ?\(' common/*/*.[ch])" ""

# Two functions of one name link as long as nobody needs anything else from their files; and some callers get
# the wrong one.
if [ -e "$BUILD/libcprof.a" ]; then
	is "no name of the library is there twice" "$(nm "$BUILD/libcprof.a" 2>/dev/null | awk '$2 ~ /^[TDBRC]$/ { print $3 }' | sort | uniq -d)" ""
else
	skip "no name of the library is there twice" "it is not built"
fi

is "no merge is left half done" "$(grep -rlE '^(<<<<<<<|>>>>>>>) ' Makefile README.md bpf cmd common contrib man tests)" ""

if [ -e .git ] && tops=$(git ls-files 2>/dev/null) && [ -n "$tops" ]; then
	is "the top level is what it is" "$(echo "$tops" | sed 's,/.*,,' | sort -u | grep -v '^\.' | tr '\n' ' ')" \
		"LICENSE Makefile README.md bpf cmd common contrib man tests "
else
	skip "the top level is what it is" "no git checkout"
fi
done_testing
