#!/bin/sh
# The pages for developers name files, functions, rooms and targets that exist.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
pages="common/README.md contrib/HACKING.md"

# gone FILE: prints each path in backquotes that does not exist, and each name in backquotes that follows a
# path and is not a word of that file. A path begins with a directory of the top; X, NAME and * in it mean any.
gone() {
	tr '\n' ' ' <"$1" | grep -oE '`[^` ]+`((:|,|,? which calls| or| and)? `[A-Za-z0-9_]+`)*' |
	while read -r file names; do
		file=$(printf '%s\n' "${file%:}" | tr -d '`,')
		case $file in
		*X.* | *'*'* | *NAME*) continue ;;
		bpf/* | cmd/* | common/* | contrib/* | man/* | tests/*) ;;
		*) continue ;;
		esac
		[ -e "$file" ] || printf '%s\n' "$file"
		[ -f "$file" ] || continue
		for name in $(printf '%s\n' "$names" | grep -oE '`[^`]+`' | tr -d '`'); do
			grep -qw -- "$name" "$file" || printf '%s in %s\n' "$name" "$file"
		done
	done
}
cat >"$tmp/page" <<'END'
See `tests/lib/lib.sh` `done_testing`, `done_nothing`; `cmd/nowhere.c`; `cmd/X.c` `some_name`.
END
is "the check sees them" "$(gone "$tmp/page")" "done_nothing in tests/lib/lib.sh
cmd/nowhere.c"
for p in $pages; do
	ok "there is $p" test -s "$p"
	is "  it names what exists" "$(gone "$p")" ""
done

# In the order of the floors, which house/layers.t has
for top_room in common cmd/cprof-record; do
	case $top_room in common) list=common_rooms ;; *) list=record_rooms ;; esac
	rooms=$(sed -n "s/^$list=\"\(.*\)\"\$/\1/p" "$here"/*layers.t)
	like "the floors of $top_room are found" "$rooms" ' '
	is "each room of $top_room has a line, the lowest first" \
		"$(sed -n "s,^| \`$top_room/\([a-z][a-z]*\)\` |.*,\1,p" common/README.md | tr '\n' ' ')" "$rooms "
done

# targets: those in .PHONY; hidden: those for scripts and rules, not for people
targets() {
	make -qpR BUILD="$tmp/build" help 2>/dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' | grep -vx FORCE | sort -u
}
hidden="bpf-objects bpftool dist-source guest"
make -s BUILD="$tmp/build" help >"$tmp/help"
listed=$(sed -n 's/^\([a-z][a-z0-9-]*\)  .*/\1/p' "$tmp/help" | sort)
is "make help lists each target" "$listed" "$(printf '%s\n' $hidden $hidden $(targets) | sort | uniq -u)"
is "  in lines of 110 columns at most" "$(grep -E '^.{111}' "$tmp/help")" ""
done_testing
