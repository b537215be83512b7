#!/bin/sh
# The pages for developers name files, functions, rooms and targets that exist.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
pages="common/README.md contrib/HACKING.md"

# defines FILE NAME: succeeds if the file has the definition of this function, array or macro. A call, a
# declaration and a comment are none. Definitions begin in the first column; methods of scripts are indented.
defines() {
	awk -v name="$2" -v method="$(case $1 in *.js) echo 1 ;; esac)" '
	BEGIN { word = "(^|[^A-Za-z0-9_])" name }
	$0 ~ "^#define " name "([( \t]|$)" { found = 1 }
	$0 ~ "^[A-Za-z]" && $0 ~ word "(\\[[^]]*\\])* = " { found = 1 }
	method && $0 ~ "^\t(async )?" name "\\([^;]*\\) [{]$" { found = 1 }
	$0 ~ "^[A-Za-z]" && $0 ~ word "\\(|BPF_[A-Z]*\\(" name "[,)]" { header = 1 }
	header && /[{]/ { found = 1 }
	/[;{]/ { header = 0 }
	END { exit !found }' "$1"
}

# gone FILE: prints each path in backquotes that does not exist, and each name in backquotes that follows a
# path and is not defined in that file. A path begins with a directory of the top; X, NAME and * in it mean
# any.
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
			defines "$file" "$name" || printf '%s in %s\n' "$name" "$file"
		done
	done
}
cat >"$tmp/x.c" <<'END'
/* commented() is not here. */
int declared(int x,
	     int y);
static int helper(void)
{
	called(1);
	if (tested(2)) {
		return 1;
	}
	return 0;
}
static const struct row rows[] = { { called } };
static int
later(int a, int b)
{
	return local = declared(a, b);
}
int BPF_PROG(hook, int a)
{
	return 0;
}
END
cat >"$tmp/x.js" <<'END'
class A {
	method(a) {
		this.used(a);
		if (used(a)) {
		}
	}
}
END
defined() { for name in $2; do ! defines "$1" "$name" || printf '%s ' "$name"; done; }
is "definitions are told from calls, declarations and comments" \
	"$(defined "$tmp/x.c" 'commented declared helper called tested rows row later local hook a')" \
	"helper rows later hook "
is "  in scripts, too" "$(defined "$tmp/x.js" 'method used a')" "method "
cat >"$tmp/page" <<'END'
See `tests/lib/lib.sh` `done_testing`, `done_nothing`; `cmd/nowhere.c`; `cmd/X.c` `some_name`.
END
is "the check sees them" "$(gone "$tmp/page")" "done_nothing in tests/lib/lib.sh
cmd/nowhere.c"
for p in $pages; do
	ok "there is $p" test -s "$p"
	is "  it names what exists" "$(gone "$p")" ""
done

is "tests/README.md names each bench" \
	"$(cd tests/bench && for b in *.sh; do grep -q "\`$b\`" ../README.md || echo "$b"; done)" ""

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
