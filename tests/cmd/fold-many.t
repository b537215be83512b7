#!/bin/sh
# Views of captures in which much refers to the same long thing take time in proportion to their size.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"

sanitized && skip_all "takes very long under the sanitizers"
command -v python3 >/dev/null || skip_all "python3 is not here"
# Without a bound, each of these takes hours.
soon() { timeout 300 "$@" >"$tmp/got" 2>"$tmp/err"; echo $?; }

# A frame that is at one of two places in turn, with 256 functions inlined there, each with a name of 16 kB
{
	segment
	process 1
	python3 - <<'X'
for f in 1, 2:
    print('file id=%d major=8 minor=1 inode=%d generation=0 build-id= path="/x%d"' % (f, f, f))
print('frame id=1 process=1 kind=exact address=0x1010\nnode id=16 parent=1 frame=1')
for i in range(256):
    print('string id=%d text="%s"' % (i + 1, 'f%d%s' % (i, 'x' * 16000)))
for i in range(256):
    print('symbol frame=1 from=0 level=%d source=debug name=%d offset=0 file=0 line=0' % (i, i + 1))
for i in range(200000):
    print('mapping time=%d process=1 start=0x1000 length=0x1000 offset=%d prot=5 file=%d' %
          (10 + i, i % 2, i % 2 + 1))
    print('sample time=%d event=1 cpu=0 thread=1 user=16 kernel=0 weight=1' % (10 + i))
X
	finish
} | cprof-dump -r >"$tmp/places"
is "a frame with long names, at two places in turn" "$(soon cprof-fold -i "$tmp/places")" 0
is "  is counted" "$(sed 's/.* //' "$tmp/got")" 200000
is "  likewise as callgrind's functions" "$(soon cprof-convert -i -t callgrind "$tmp/places")" 0

# A stack of a million frames, with a sample at each
{
	segment
	process 1
	echo 'frame id=1 process=1 kind=exact address=0x1010'
	awk 'BEGIN {
		print "node id=16 parent=1 frame=1"
		for (i = 17; i < 1000000; i++)
			print "node id=" i " parent=" i - 1 " frame=1"
		for (i = 16; i < 1000000; i++)
			print "sample time=1000 event=1 cpu=0 thread=1 user=" i " kernel=0 weight=1"
	}'
	finish
} | cprof-dump -r >"$tmp/deep"
is "functions of each thread, in stacks of a million frames" \
	"$(soon cprof-top --by thread,function "$tmp/deep")" 0
like "  are counted" "$(cat "$tmp/got")" ' 999984 '

# A process that changes its control group often, beside many threads with run time that is not due yet
{
	segment
	echo 'event id=2 name="off-cpu:sleep" unit="ns" period=0 millihertz=0'
	printf 'cgroup id=%s path="/%s"\n' 1 a 2 b
	process 1
	process 2
	awk 'BEGIN {
		for (i = 3; i <= 300000; i++)
			print "thread id=" i " time=1 process=1 tid=" i + 1000
		for (i = 3; i <= 300000; i++)
			print "ran time=1000 thread=" i " ns=10 span=20"
		print "sample time=1000 event=1 cpu=0 thread=300000 user=0 kernel=0 weight=1"
		for (i = 0; i < 300000; i++)
			print "member time=1001 process=2 cgroup=" i % 2 + 1
	}'
	finish
} | cprof-dump -r >"$tmp/groups"
is "changes of a control group beside many threads" "$(soon cprof-fold --wall "$tmp/groups")" 0
is "  leave their run time" "$(awk '/not sampled/ { print $NF }' "$tmp/got")" 2999980
is "  and the names that a selection without samples lists" \
	"$(soon cprof-fold --wall --comm nobody "$tmp/groups"; grep -c 'recorded commands' "$tmp/err")" "0
1"
done_testing
