#!/bin/sh
# Unknown options, missing arguments and unwanted ones: each command prints one sentence of the same form,
# with status 2, and the user's input reaches the terminal only as text.
. "$(dirname "$0")/../lib/lib.sh"
escape=$(printf '\033')

record=
[ ! -x "$BIN/cprof-record" ] || record=record
for command in annotate archive convert diff dump flame fold $record run sym top; do
	status "$command: an option that is not known" 2 "cprof-$command" "--nonsense$escape[31m"
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: invalid option \"--nonsense\\x1b[31m\""
	status "  an argument that is not taken" 2 "$BIN/cprof-$command" --version=1
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: --version takes no argument"
	status "  a letter that is not known" 2 "cprof-$command" -Z
	is "  its sentence" "$(head -n 1 "$tmp/err")" "cprof-$command: invalid option \"-Z\""
done
for command in archive:-d convert:--to diff:-n flame:-o fold:--from ${record:+record:-F} top:--by; do
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
for word in top:--mach:--match flame:--heatmpa:--heatmap ${record:+record:--ouput:--output}; do
	option=${word#*:} meant=${option#*:} option=${option%:*}
	status "a word like an option" 2 "cprof-${word%%:*}" $option
	is "  which one was meant" "$(head -n 1 "$tmp/err")" \
		"cprof-${word%%:*}: invalid option \"$option\" (did you mean $meant?)"
done
status "a value like one of those" 2 cprof-top --by functoin
is "  which one was meant" "$(head -n 1 "$tmp/err")" \
	'cprof-top: invalid --by "functoin" (expected function, '\
'module, language, line, file, syscall, process, thread, comm, cpu, container, user, '\
'waker, culprit, lock or label.KEY; did you mean function?)'
status "a value like none" 2 cprof-flame -o nothing
is "  no guess" "$(head -n 1 "$tmp/err")" 'cprof-flame: invalid -o "nothing" (expected html, svg or FILE)'

# A shortened option that takes the operand as its argument leaves the command with standard input.
echo 'app;work 1' >"$tmp/x.sym"
status "a shortened option whose argument is a file" 2 cprof-top --com "$tmp/x.sym"
is "  is refused" "$(head -n 1 "$tmp/err")" \
	"cprof-top: invalid option \"--com\" (did you mean --comm NAME? \"$tmp/x.sym\" is a file)"
status "the same option with another argument" 0 cprof-top --com app "$tmp/x.sym"
status "  with =" 0 cprof-top --com=app "$tmp/x.sym"
status "a whole one takes a file's name" 3 cprof-top --comm "$tmp/x.sym" /dev/null
like "a short usage" "$(cprof-archive -h | head -n 1)" '^usage: cprof-archive \[OPTION ...\] \[FILE ...\]$'
done_testing
