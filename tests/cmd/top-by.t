#!/bin/sh
# --by: several keys, filters that look at the real stack, and functions of one name in several modules.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/by-lib.sh"

by_capture "$tmp/c.bin" "$tmp/truth"
is "the capture has all samples" \
	"$(cprof-fold "$tmp/c.bin" 2>"$tmp/err" | awk '{ n += $NF } END { print n }')" \
	"$(wc -l <"$tmp/truth" | tr -d ' ')"

# Rows with flat and cum, without the shares
rows() { # KEYS OPTION...
	keys=$1; shift
	n=$(echo "$keys" | tr , '\n' | wc -l)
	cprof-top --by "$keys" -o tsv -n 0 "$@" "$tmp/c.bin" 2>"$tmp/err" |
		sed 1d | cut -f "1-$n,$((n + 1)),$((n + 3))" | LC_ALL=C sort
}
for keys in comm process thread cpu container syscall module line file thread,function function,module,line \
	module,function cpu,container,thread syscall,function container,syscall,comm,module \
	thread,cpu,file; do
	case $keys in
	*module*) wanted() { by_rows "$tmp/truth" "$keys" "$@"; } ;;
	*function) # -v has the module after the function
		wanted() { by_rows "$tmp/truth" "$keys,module" "$@" | awk -F '\t' '{
			OFS = FS; m = $(NF - 2); $(NF - 3) = $(NF - 3) " " (m ~ /^\[/ ? m : "[" m "]")
			$(NF - 2) = $(NF - 1); $(NF - 1) = $NF; NF--; print }' | LC_ALL=C sort; } ;;
	*) wanted() { by_rows "$tmp/truth" "$keys" "$@"; } ;;
	esac
	wanted >"$tmp/want"
	rows "$keys" -v >"$tmp/got"
	same "--by $keys" "$tmp/want" "$tmp/got"
	wanted malloc >"$tmp/want"
	rows "$keys" -v --match '^malloc$' >"$tmp/got"
	same "  --match ^malloc\$" "$tmp/want" "$tmp/got"
	is "    with all samples of it" "$(awk -F '\t' '{ n += $(NF - 1) } END { print n }' "$tmp/got")" \
		"$(cprof-fold --match '^malloc$' "$tmp/c.bin" | awk '{ n += $NF } END { print n }')"
done

# Sums of folded text by its roots
roots() { awk '{ n = $NF; sub(/;.*/, ""); w[$0] += n } END { for (r in w) print r, w[r] }' | LC_ALL=C sort; }
# Folded text, by awk from the text of whole stacks
cprof-fold -t --match '^malloc$' "$tmp/c.bin" | roots >"$tmp/want"
cprof-fold --by thread --match '^malloc$' "$tmp/c.bin" | LC_ALL=C sort >"$tmp/got"
same "cprof-fold --by thread --match" "$tmp/want" "$tmp/got"
cprof-fold -t "$tmp/c.bin" >"$tmp/want"
cprof-fold --by thread,function "$tmp/c.bin" >"$tmp/got"
same "cprof-fold --by thread,function: threads as roots" "$tmp/want" "$tmp/got"
cprof-fold --by thread,function --max-mem 1M "$tmp/c.bin" >"$tmp/got"
same "  with little memory" "$tmp/want" "$tmp/got"
cprof-fold --container "$tmp/c.bin" | sed 's/;[^; ]*//' | cprof-fold >"$tmp/want"
cprof-fold --by container,function "$tmp/c.bin" >"$tmp/got"
same "--by container,function: the command is not a frame" "$tmp/want" "$tmp/got"
for o in '--match ^work$' '--exclude ^malloc$' '--focus ^vfs' '--base ^main$' '--norm --collapse-recursion' \
	'--base ^main$ --match ^malloc$'; do
	cprof-fold -t $o "$tmp/c.bin" >"$tmp/all"
	case $o in
	--base*) cprof-fold $o --by thread,function "$tmp/c.bin" | sed 's/^[^;]*;//' | cprof-fold >"$tmp/got"
		cprof-fold "$tmp/all" >"$tmp/want" ;;
	*) cp "$tmp/all" "$tmp/want"; cprof-fold $o --by thread,function "$tmp/c.bin" >"$tmp/got" ;;
	esac
	same "  $o" "$tmp/want" "$tmp/got"
done
cprof-fold --by thread,function --reverse "$tmp/c.bin" | sed 's/^[^;]*;//' | cprof-fold >"$tmp/got"
cprof-fold "$tmp/c.bin" | sed 's/^[^;]*;//' | cprof-fold |
	awk '{
		c = $NF; sub(/ [0-9]+$/, ""); n = split($0, f, ";"); s = f[n]
		while (--n > 0) s = s ";" f[n]
		print s, c }' |
	cprof-fold >"$tmp/want"
same "  --reverse keeps the thread outermost" "$tmp/want" "$tmp/got"
is "of folded text: process and function" \
	"$(printf '%s\n' 'a;f;g 2' 'b;f 1' | cprof-fold --by process,function | tr '\n' ,)" "a;f;g 2,b;f 1,"
is "  filters before processes" "$(printf '%s\n' 'a;f;g 2' 'b;f 1' |
	cprof-top --by process --match '^g$' -o tsv | sed 1d | cut -f1,2 | tr '\t\n' ' ,')" "a 2,"
is "  system calls" "$(printf '%s\n' 'a;f;do_syscall_64;__x64_sys_read 2' 'a;do_syscall_64;x 4' 'a;g 9' \
	'a;g;do_syscall_64;x64_sys_call;ksys_read;vfs_read 1' |
	cprof-fold --by syscall | tr '\n' ,)" "[no system call] 9,[unknown system call] 4,read 3,"
status "  but no CPU" 2 sh -c 'echo "a;b 1" | cprof-fold --by cpu,function'
like "    which is said" "$(cat "$tmp/err")" '--by cpu requires a capture, not folded text'
for name in __arm64_sys_openat __se_sys_openat __do_sys_openat __ia32_compat_sys_openat \
	__x64_sys_openat.isra.0; do
	is "  $name" "$(echo "a;$name 1" | cprof-fold --by syscall)" "openat 1"
done
is "  a mapping" "$(echo "a;ksys_mmap_pgoff 1" | cprof-fold --by syscall)" "mmap 1"

# Pages and comparisons
if command -v python3 >/dev/null; then
	cprof-flame --by thread,function "$tmp/c.bin" >"$tmp/p.html"
	cprof-fold -ta "$tmp/c.bin" | sed 's/_\[.\]//g' >"$tmp/folded"
	"$here/flame-block.py" boxes "$tmp/p.html" | grep -v ';' | awk '{ print $1, $3 }' |
		LC_ALL=C sort >"$tmp/got"
	roots <"$tmp/folded" >"$tmp/want"
	same "cprof-flame --by thread,function: the roots" "$tmp/want" "$tmp/got"
fi
cprof-diff --by comm,module -o tsv "$tmp/c.bin" "$tmp/c.bin" >"$tmp/diff" 2>"$tmp/err"
is "cprof-diff --by comm,module" "$(sed 1d "$tmp/diff" | cut -f 1,2,4 | LC_ALL=C sort | tr '\t\n' ' ,')" \
	"$(by_rows "$tmp/truth" comm,module | cut -f 1-3 | tr '\t\n' ' ,')"
is "  its columns" "$(head -n 1 "$tmp/diff" | cut -f 1-3 | tr '\t' ,)" "comm,module,changed"

# Functions of one name in several modules are rows of their own.
names() {
	cprof-top -n 0 -o tsv "$@" "$tmp/c.bin" 2>"$tmp/err" | sed 1d | cut -f 1,2,4 |
		LC_ALL=C sort | tr '\t\n' ' ,'
}
# The same from the truth. The awk expression gives the text after a function.
told() {
	by_rows "$tmp/truth" function,module |
		awk -F '\t' '{ m = $2 ~ /^\[/ ? $2 : "[" $2 "]"; m = '"$1"'; print $1 m, $3, $4 }' |
		LC_ALL=C sort | tr '\n' ,
}
is "main and malloc have their modules, the others none" "$(names)" \
	"$(told '$1 == "main" || $1 == "malloc" ? " " m : ""')"
is "  -v: all have them" "$(names -v)" "$(told '" " m')"
like "  in the table" "$(cprof-top "$tmp/c.bin")" ' main \[cc1\]$'
like "  --peek: callers too" "$(cprof-top --peek '^malloc$' "$tmp/c.bin")" ' main \[as\]$'
like "  --tree" "$(cprof-top --tree "$tmp/c.bin")" ' main \[as\]$'
like "  --stacks" "$(cprof-top --stacks 0 "$tmp/c.bin")" ' malloc \[musl.so\]$'
like "  one table, with columns" "$(cprof-top --by thread,function "$tmp/c.bin")" '  thread     *function$'
like "    aligned" "$(cprof-top -n 0 --by thread,function "$tmp/c.bin")" '  as-42/42   main$'
like "  --tree --by thread,function has a tree a thread" \
	"$(cprof-top --tree --by thread,function "$tmp/c.bin")" '% +cc1-41/50$'

# Errors
status "a key that is not there" 2 cprof-top --by thread,place "$tmp/c.bin"
like "  is named" "$(cat "$tmp/err")" 'invalid --by "place" \(expected function, module, language, line,'
status "a key twice" 2 cprof-top --by thread,function,thread "$tmp/c.bin"
like "  is refused" "$(cat "$tmp/err")" 'expected each key once'
status "--peek and threads" 2 cprof-top --peek x --by thread,function "$tmp/c.bin"
done_testing
