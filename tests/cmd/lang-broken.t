#!/bin/sh
# Broken records of interpreted languages are refused in a sentence, and the rest of the capture is shown.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/lang-lib.sh"

echo 'python 3 m:main m:loop l:f:1' | lang_text >"$tmp/text"
# broken TEXT SED WANT: the capture, changed by sed, is damaged as said
broken() {
	sed "$2" "$tmp/text" | cprof-dump -r >"$tmp/c" 2>/dev/null
	status "$1" 3 cprof-fold "$tmp/c"
	like "  in a sentence" "$(cat "$tmp/err")" "$3"
}
broken "a script of a language that nobody knows" \
	's/^\(script id=1 language=\)python/\140/' 'a script of an unknown language'
broken "a script of a process that is not there" \
	's/^\(script id=1 .*process=\)1/\17/' 'a script of an undefined process'
broken "a script twice" '/^script id=1/p' 'a script defined twice'
broken "a function of an undefined script" \
	's/^\(function .*script=\)1/\19/' 'a function of an undefined script'
broken "a function twice" '/^function/p' 'a function defined twice'
broken "a frame's id twice" '/^lang-frame/p' 'a frame defined twice'
broken "  that of a machine frame" \
	'/^frame id=1/{p;s/.*/lang-frame id=1 process=1 language=python function=0 line=0 state=lost &/;
	s/ frame id.*/ tier=none inlined=0 position=0/;}' \
	'a frame defined twice'
broken "a state out of range" '/^lang-frame/s/state=ok/state=99/' 'a language frame in an unknown state'
broken "a known function in a state without one" \
	'/^lang-frame/s/state=ok/state=lost/' 'whose function is known and not known'
broken "no function, and no reason" \
	'/^lang-frame/s/function=1/function=0/' 'without a function and without a reason'
broken "an undefined function" \
	'/^lang-frame/s/function=1/function=2/' 'a language frame of an undefined function'
broken "a function of another language" \
	'/^lang-frame/s/python/ruby/' 'a language frame of a function of another language'
broken "the kernel's" '/^lang-frame/s/process=1/process=0/' 'a language frame of an undefined process'
broken "an id that would take gigabytes" 's/^lang-frame id=3/lang-frame id=2000000000/' 'an id out of range'
broken "a symbol of such a frame" 's/^\(symbol frame=\)1/\13/' 'a name for a frame of a language'
broken "frames of two processes in one stack" \
	'/^process id=1/{p;s/id=1/id=2/;s/pid=101/pid=9/;};/^lang-frame/s/process=1/process=2/' \
	'a node of another process than its parent'

# The rest is shown.
printf '%s\n' 'python 3 m:main m:loop l:f:1' 'ruby 2 m:main l:g:1' | lang_text |
	sed '/^lang-frame.*ruby/s/function=2/function=9/' | cprof-dump -r >"$tmp/c"
is "other stacks stay" "$(cprof-fold "$tmp/c" 2>/dev/null)" 'python;main;f 3'

# A newer version may add fields.
sed '/^lang-frame/s/$/ tail=0102/;/^script/s/$/ tail=07/' "$tmp/text" | cprof-dump -r >"$tmp/c"
is "fields of a newer version do no harm" "$(cprof-fold "$tmp/c" 2>&1)" 'python;main;f 3'
is "  and pass through cprof-sym" "$(cprof-sym "$tmp/c" 2>/dev/null | cprof-dump | grep -c ' tail=0')" 3

# Each prefix and each flipped byte of a capture ends in a status.
printf '%s\n' 'python 3 m:main m:loop l:f:1 u:20 m:loop s:lost' 'ruby 2 m:main l:g:1' | lang_capture >"$tmp/c"
size=$(wc -c <"$tmp/c") bad=0
at=40
while [ $at -lt $size ]; do
	head -c $at "$tmp/c" | cprof-fold >/dev/null 2>&1
	[ $? -le 3 ] || bad=$((bad + 1))
	at=$((at + 37))
done
is "cut anywhere: no crash" $bad 0
done_testing
