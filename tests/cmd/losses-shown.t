#!/bin/sh
# Mappings and files that the recorder could not read are in the capture, and each reader shows them.
. "$(dirname "$0")/../lib/lib.sh"

# segment COST...: a segment of one sample with these costs
segment() {
	echo 'segment major=1 minor=9 least=1'
	echo 'event id=1 name="cpu-clock" unit="ns" period=1000000000 millihertz=1000'
	echo 'process id=1 time=1000 pid=7 nspid=7 parent=1 start=1 gen=0 via=snapshot'
	echo 'thread id=1 time=1000 process=1 tid=7'
	echo 'comm time=1000 thread=1 comm="c"'
	echo 'frame id=1 process=0 kind=exact address=0xffffffff81000010'
	echo 'node id=16 parent=0 frame=1'
	echo 'sample time=2000 event=1 cpu=0 thread=1 user=0 kernel=16 weight=1000000000'
	echo 'ledger time=3000 cpu=0 outcome=expected count=1'
	echo 'ledger time=3000 cpu=0 outcome=emitted count=1'
	for cost; do echo "cost time=3000 $cost"; done
	echo 'end time=4000 reason=closed samples=1'
}
missing() {
	segment "what=mappings-unread count=3" "what=mappings-cut count=1" \
		"what=mappings-left-out count=900" "what=files-unopened count=2"
}
words='3 times the mappings of a process not read, 1 time the mappings of a process cut'
words="$words, 900 mappings left out, 2 files not opened"

segment 'what=user-ns count=9' | cprof-dump -r >"$tmp/whole"
status "a capture that lacks nothing" 0 cprof-fold --no-names "$tmp/whole"
is "  has no message" "$(cat "$tmp/err")" ""
missing | cprof-dump -r >"$tmp/part"
is "the values have names" "$(cprof-dump "$tmp/part" | grep -c '^cost time=3000 what=[a-z-]* count=[1-9]')" 4
status "cprof-fold of one that does" 0 cprof-fold --no-names "$tmp/part"
like "  reports them" "$(cat "$tmp/err")" "^cprof-fold: $tmp/part: $words\$"
status "cprof-top" 0 cprof-top --no-names "$tmp/part"
like "  has them in its header" "$(cat "$tmp/out")" "^# *Lost: *$words|^Lost: *$words"
{ missing; missing; } | cprof-dump -r >"$tmp/two"
status "several segments" 0 cprof-fold --no-names "$tmp/two"
like "  are added up" "$(cat "$tmp/err")" \
	'6 times .* not read, 2 times .* cut, 1800 mappings left out, 4 files not opened$'
segment 'what=99 count=5' | cprof-dump -r >"$tmp/later"
status "a value of a later version" 0 cprof-fold --no-names "$tmp/later"
is "  is passed over" "$(cat "$tmp/err")" ""
done_testing
