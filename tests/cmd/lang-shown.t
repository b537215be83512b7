#!/bin/sh
# Frames of interpreted languages: names, lines, reasons, --native, --by, and the header.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/lang-lib.sh"

folds() { cprof-fold "$@" "$tmp/c" 2>&1; } # of the capture, in lines
shows() { # TEXT STACK WANT OPTIONS...: how a single stack is shown
	text=$1; echo "$2" | lang_capture >"$tmp/one"; want=$3; shift 3
	is "$text" "$(cprof-fold "$@" "$tmp/one" 2>&1)" "$want"
}

# The cases: text, options, stack, line
grep -v '^#' "$tests/data/cases/lang-shown.txt" >"$tmp/cases"
while read -r text; do
	[ -n "$text" ] || continue
	read -r options && read -r stack && read -r want || fail "the cases are whole"
	[ "$options" != none ] || options=
	shows "$text" "$stack" "$want" $options
done <"$tmp/cases"
for state in no-metadata unsupported-version not-yet unreadable over-budget lost depth; do
	shows "a reason: $state" "php 1 m:main m:execute_ex s:$state" "php;main;[php: $state] 1"
done

# Many stacks at once give the sum of each by itself.
cat >"$tmp/stacks" <<'X'
python 5 c:start m:main m:loop l:<module>:3 m:list_sort m:loop l:key:9 m:PyObject_Vectorcall c:memcpy k:fault
python 4 c:start m:main m:loop l:<module>:3 m:list_sort m:loop l:key:9
python 3 c:start m:main m:loop l:<module>:3 m:list_sort
python 2 c:start m:main m:loop s:not-yet
python 1 c:start m:main m:loop l:<module>:3 m:loop j:Decoder.decode:11 u:1000
ruby 6 c:start m:vm_exec l:<main>:1 l:Foo#bar:0 k:fault
c 7 c:start m:main m:loop c:memcpy
X
lang_capture <"$tmp/stacks" >"$tmp/c"
for o in '' -l '--native all' '--native none' -a '--by module' '--by language' -U -K -p '--by process'; do
	folds $o >"$tmp/all"
	while read -r line; do
		echo "$line" | lang_capture >"$tmp/one"
		cprof-fold $o "$tmp/one" 2>/dev/null
	done <"$tmp/stacks" | sed 's/-101 / /; s/-10[123]\([; ]\)/\1/' | cprof-fold >"$tmp/each"
	sed 's/-10[123]\([; ]\)/\1/' "$tmp/all" >"$tmp/got"
	same "one by one or together: cprof-fold $o" "$tmp/each" "$tmp/got"
done
is "-a marks them" "$(folds -a | sed -n 's/^ruby;//p')" 'start;<main>_[l];Foo#bar_[l];fault_[k] 6'
is "--by module: their scripts" "$(folds -U --by module | grep -v '^c;')" 'python;libc.so.6;python;[python] 2
python;libc.so.6;python;main;json;python 1
python;libc.so.6;python;main;python 3
python;libc.so.6;python;main;python;main 4
python;libc.so.6;python;main;python;main;libc.so.6 5
ruby;libc.so.6;main;main 6'

# Tables
cprof-top --by language -o tsv "$tmp/c" 2>/dev/null | cut -f 1,2,4 >"$tmp/got"
printf '%s\t%s\t%s\n' name flat cum native 11 28 kernel 11 11 python 6 15 ruby 0 6 >"$tmp/want"
same "cprof-top --by language: flat by the innermost frame, cum by any" "$tmp/want" "$tmp/got"
like "  with the number of languages" "$(cprof-top --by language "$tmp/c")" '4 of 4 languages shown$'
native() { cprof-top "$@" --by language -o tsv "$tmp/c" | awk -F '\t' '$1 == "native" { print $2 }'; }
is "  --native all counts the interpreter" "$(native --native all)" 11
is "  --native none, only programs without a language" "$(native --native none)" 7
cprof-top --tree --by language --min-share 0 "$tmp/c" >"$tmp/got"
is "  --tree" "$(awk '$1 == 6 && /ruby/' "$tmp/got" | wc -l)" 3
status "  of folded text" 2 sh -c 'echo "a;b 1" | cprof-top --by language'
like "    requires a capture" "$(cat "$tmp/err")" '--by language requires a capture, not folded text'
status "another --native" 2 cprof-top --native some "$tmp/c"
is "  is an error" "$(head -n 1 "$tmp/err")" \
	'cprof-top: invalid --native "some" (expected all, lib or none)'

# Python has 25 frames, weighed by samples: 5 + 5, 4 + 4, 3 and 1 + 1 with a name, 2 without.
header() { cprof-top -v "$@" | sed -n 's/^Languages: *//p'; }
is "the header: named frames by language" "$(header "$tmp/c")" \
	'92.00% named (python), 8.00% not-yet; 100.00% named (ruby)'
is "  whatever is shown of the others" "$(header --native all "$tmp/c")" "$(header --native none "$tmp/c")"
is "  of the samples counted" "$(header --comm ruby "$tmp/c")" '100.00% named (ruby)'
is "  of several captures" "$(header "$tmp/c" "$tmp/c")" "$(header "$tmp/c")"
is "  nothing without languages" "$(header --comm c "$tmp/c")" ''
lang_text <"$tmp/stacks" | sed 's/^end /source file=0 status=ok kind=none path=""\n&/' |
	cprof-dump -r >"$tmp/looked"
like "innermost frames without a function have a reason" "$(cprof-top -v "$tmp/looked" 2>/dev/null)" \
	' 2 in \[python\] \(not-yet\)$'

# Two processes with frames of two states: each is counted by itself.
cat >"$tmp/stacks2" <<'X'
python 5 m:main m:loop l:<module>:3 m:loop s:unreadable s:unreadable
python 3 m:main m:loop s:not-yet
php 2 m:main m:execute_ex s:not-yet
php 2 m:main m:execute_ex l:f:3
X
lang_capture <"$tmp/stacks2" >"$tmp/c2"
under() { cprof-top -v "$@" | sed -n '/^Languages/,/^[A-Z]/{/^ /p}' | tr -s ' ' | cut -d ' ' -f 3-; }
is "under the line, the processes of frames without a name" "$(under "$tmp/c2")" \
	"10 in python-101 (python: unreadable)
3 in python-101 (python: not-yet)
2 in php-102 (php: not-yet)"
like "  with their share of all frames" "$(cprof-top -v "$tmp/c2")" '^ +45.45% +10 in python-101'
is "  of the samples counted" "$(under --comm php "$tmp/c2")" "2 in php-102 (php: not-yet)"
is "  of several captures" "$(under "$tmp/c2" "$tmp/c2" | head -n 1)" "20 in python-101 (python: unreadable)"
is "  none if all have names" "$(under --comm ruby "$tmp/c")" ""
{ cat "$tmp/stacks2"; for state in no-metadata over-budget depth; do echo "php 1 m:main s:$state"; done; } |
	lang_capture >"$tmp/c3"
is "  each of them" "$(cprof-top -v "$tmp/c3" | grep -c ' in php-')" 4

# The same function at another line and id is the same.
other='python 40 m:main m:loop l:other:1 l:<module>:4 m:list_sort m:loop l:key:10'
sed "s/^python 4 .*/$other/" "$tmp/stacks" | lang_capture >"$tmp/d"
cprof-diff -o tsv "$tmp/c" "$tmp/d" 2>/dev/null | cut -f 1 >"$tmp/got"
is "cprof-diff compares them by name" "$(grep -c -e '^key$' -e '^<module>$' -e '^other$' "$tmp/got")" 3
done_testing
