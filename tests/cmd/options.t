#!/bin/sh
# Unknown options, missing arguments and unwanted ones: each command prints one sentence of the same form,
# with status 2, and the user's input reaches the terminal only as text.
. "$(dirname "$0")/../lib/lib.sh"
escape=$(printf '\033')

for command in archive convert diff dump flame fold record sym top; do
	status "$command: an option that is not known" 2 "cprof-$command" "--nonsense$escape[31m"
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: invalid option \"--nonsense\\x1b[31m\""
	status "  an argument that is not taken" 2 "$BIN/cprof-$command" --version=1
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: --version takes no argument"
	status "  a letter that is not known" 2 "cprof-$command" -Z
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: invalid option \"-Z\""
done
for command in archive:-d convert:--to diff:-n flame:-o fold:--from record:-F top:--by; do
	option=${command#*:} command=${command%%:*}
	status "$command: $option without its argument" 2 "cprof-$command" "$option"
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: $option requires an argument"
done
cprof-top --cum -Zv 2>"$tmp/err"
is "a letter that is not known, before others" "$(head -n 1 "$tmp/err")" 'cprof-top: invalid option "-Z"'
cprof-top --fro 1 </dev/null >"$tmp/out" 2>"$tmp/err"
unlike "an option may be shortened" "$(cat "$tmp/err")" 'invalid option'
cprof-top --f 1 2>"$tmp/err"
is "but not to what several begin with" "$(head -n 1 "$tmp/err")" \
	'cprof-top: invalid option "--f" (expected one of --focus, --from, --full-paths)'
done_testing
