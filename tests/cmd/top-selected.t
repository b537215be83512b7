#!/bin/sh
# cprof-top: the header repeats the options that select samples: its first line is of the whole capture.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/made-captures.sh"
cd "$tmp" || exit 1

waits='event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0'
made_capture 0 one@1 two three@2 | sed "s/^event id=1.*/&\\n$waits/" | cprof-dump -r >a.bin || exit 1
cprof-top --comm one a.bin >got
is "a selection has a line after that of the capture" "$(sed -n 2p got)" "Selected:   --comm one"
cprof-top --from 0 --to 1h --comm 't w*' -U --exclude 'x y' --by comm --cum --wall a.bin >got 2>err
is "  with all its options as they were given, and no others" "$(sed -n 2p got)" \
	"Selected:   --from 0 --to 1h --comm 't w*' -U --exclude 'x y'"
cprof-top --by comm a.bin >got
unlike "without one there is none" "$(cat got)" '^Selected'
done_testing
