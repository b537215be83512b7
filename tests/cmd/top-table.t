#!/bin/sh
# cprof-top: flat and cumulative by name, recursion once, the ledger in the header
. "$(dirname "$0")/../lib/lib.sh"

top() { cprof-top "$@" 2>"$tmp/err"; }
rows() { sed '1,/^ *flat /d' | tr -s ' ' | sed 's/^ //'; }

printf '%s\n' 'a;foo 5' 'a;foo.part.0;z 3' 'a;foo;z 7' >"$tmp/a"
top "$tmp/a" >"$tmp/got"
cat >"$tmp/want" <<'X'
Total:             15 samples, 3 of 3 functions shown

      flat   flat%    sum%        cum    cum%
        10  66.67%  66.67%         10  66.67%  z
         5  33.33% 100.00%         12  80.00%  foo
         0   0.00% 100.00%          3  20.00%  foo.part.0
X
same "a function is one row, however its lines sort" "$tmp/want" "$tmp/got"

printf '%s\n' 'a;r;s;r;r 4' 'a;s;r 2' 'b;s 1' 'b;r;s 3' 'a;a 5' 'c 7' >"$tmp/r"
top "$tmp/r" | rows >"$tmp/got"
cat >"$tmp/want" <<'X'
7 31.82% 31.82% 7 31.82% c
6 27.27% 59.09% 9 40.91% r
5 22.73% 81.82% 5 22.73% a
4 18.18% 100.00% 10 45.45% s
X
same "recursion counts once, the command is no function" "$tmp/want" "$tmp/got"
is "--cum sorts by cum" "$(top --cum "$tmp/r" | rows | cut -d' ' -f6 | tr '\n' ' ')" "s r c a "
is "-n cuts" "$(top -n 2 "$tmp/r" | rows | cut -d' ' -f6 | tr '\n' ' ')" "c r "
like "  and says so" "$(top -n 2 "$tmp/r")" '^Total: .* 2 of 4 functions shown$'
is "--by process" "$(top --by process "$tmp/r" | rows | cut -d' ' -f1,6 | tr '\n' ,)" "11 a,7 c,4 b,"
is "--match" "$(top --match '^s$' "$tmp/r" | rows | cut -d' ' -f1,4,6 | tr '\n' ,)" "6 9 r,4 10 s,"
status "--by module needs a capture" 2 cprof-top --by module "$tmp/r"
is "two operands add up" "$(top "$tmp/r" "$tmp/a" | sed -n 's/^Total: *//p')" "37 samples, 7 of 7 functions shown"

# Cumulative weights of many random stacks, against a plain count of lines with the name
awk 'BEGIN { srand(5); for (i = 0; i < 2000; i++) { s = "comm"; d = 1 + int(rand() * 15); for (k = 0; k < d; k++) s = s ";f" int(rand() * 40); print s, 1 + int(rand() * 9) } }' >"$tmp/m"
awk '{ n = $NF; sub(/ [0-9]+$/, ""); m = split($0, f, ";"); flat[f[m]] += n; split("", seen)
	for (i = 2; i <= m; i++) if (!seen[f[i]]++) cum[f[i]] += n }
	END { for (k in cum) print k, flat[k] + 0, cum[k] }' "$tmp/m" | sort >"$tmp/want"
top -n 0 "$tmp/m" | rows | awk '{ print $6, $1, $4 }' | sort >"$tmp/got"
is "there are 40 functions" "$(wc -l <"$tmp/got")" 40
same "flat and cum are what a count by hand gives" "$tmp/want" "$tmp/got"

cat >"$tmp/c.txt" <<'X'
segment major=1 minor=0 least=1
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
flush
process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
process id=2 time=10 pid=43 nspid=0 parent=0 start=6 gen=0 via=snapshot
thread id=1 time=10 process=1 tid=42
thread id=2 time=10 process=1 tid=50
thread id=3 time=10 process=2 tid=43
comm time=10 thread=1 comm="db"
comm time=10 thread=2 comm="db"
comm time=10 thread=3 comm="db"
file id=1 major=8 minor=1 inode=77 generation=0 build-id=01 path="/usr/bin/db"
file id=2 major=8 minor=1 inode=78 generation=0 build-id=02 path="/usr/lib/libc.so.6"
mapping time=10 process=1 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
mapping time=10 process=1 start=0x500000 length=0x2000 offset=0x0 prot=5 file=2
mapping time=10 process=2 start=0x400000 length=0x2000 offset=0x1000 prot=5 file=1
frame id=1 process=1 kind=return address=0x400100
frame id=2 process=1 kind=exact address=0x500100
frame id=3 process=2 kind=exact address=0x400100
frame id=4 process=1 kind=return address=0x400200
frame id=5 process=0 kind=exact address=0xffffffff81000000
frame id=6 process=0 kind=exact address=0xffffffffc0000000
node id=16 parent=1 frame=1
node id=17 parent=16 frame=2
node id=18 parent=2 frame=3
node id=19 parent=16 frame=4
node id=20 parent=19 frame=2
node id=21 parent=0 frame=5
node id=22 parent=21 frame=6
sample time=1000000000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000000
sample time=2000000000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000000
sample time=2500000000 event=1 cpu=0 thread=2 user=20 kernel=22 weight=30000000
sample time=3500000000 event=1 cpu=0 thread=3 user=18 kernel=0 weight=10000000
string id=1 text="main"
string id=2 text="memcpy"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=dynsym name=2 offset=0 file=0 line=0
ksym time=4000000000 address=0xffffffff81000000 size=0x10 name="ksys_read" module=""
ksym time=4000000000 address=0xffffffffc0000000 size=0x10 name="xfs_read" module="xfs"
ledger time=4000000000 cpu=1 outcome=expected count=300
ledger time=4000000000 cpu=1 outcome=emitted count=3
ledger time=4000000000 cpu=2 outcome=emitted count=1
ledger time=4000000000 cpu=1 outcome=idle count=290
ledger time=4000000000 cpu=1 outcome=ring-full count=6
ledger time=4000000000 cpu=0 outcome=sideband-lost count=2
cost time=4000000000 what=user-ns count=10000000
cost time=4000000000 what=system-ns count=20000000
cost time=4000000000 what=bpf-ns count=5000000
cost time=4000000000 what=bytes count=4096
cost time=4000000000 what=rss-bytes count=3145728
end time=4000000000 reason=closed samples=4
flush
X
cprof-dump -r "$tmp/c.txt" >"$tmp/c.bin" || exit 1
top -v "$tmp/c.bin" >"$tmp/got"
cat >"$tmp/want" <<'X'
3.00 s at 100 Hz
CPUs 1.3 % busy: 0.7 user, 0.3 kernel, 0.3 unnamed; 6 lost (2 %)
Caution:    only 4 samples: shares may be off by 35 points (95 %)
Samples:    4 in 3.00 s
Ledger:     300 expected: 4 emitted, 290 idle, 6 ring-full
Lost:       6 of 300 expected samples lost (ring-full 6), 2 records of processes and mappings lost
Stacks:     4 user, 0.00% complete, 75.00% by frame pointers (unverified), 25.00% truncated (1 depth)
Unresolved: 25.00% of innermost frames
Recorder:   0.035 s of CPU (0.010 user, 0.020 system, 0.005 BPF), 4096 bytes written, 3.0 MiB of memory
Total:              4 samples, 6 of 6 functions shown

      flat   flat%    sum%        cum    cum%
         2  50.00%  50.00%          3  75.00%  memcpy [libc.so.6]
         1  25.00%  75.00%          1  25.00%  [db+0x1100]
         1  25.00% 100.00%          1  25.00%  xfs_read [xfs]
         0   0.00% 100.00%          3  75.00%  main [db]
         0   0.00% 100.00%          1  25.00%  [db+0x1200]
         0   0.00% 100.00%          1  25.00%  ksys_read [kernel]
X
same "a capture with its ledger" "$tmp/want" "$tmp/got"
is "  the table is that of its folded text" "$(cprof-fold "$tmp/c.bin" 2>/dev/null | cprof-top | rows)" "$(top "$tmp/c.bin" | rows)"
top --by module "$tmp/c.bin" | rows >"$tmp/got"
cat >"$tmp/want" <<'X'
2 50.00% 50.00% 3 75.00% libc.so.6
1 25.00% 75.00% 4 100.00% db
1 25.00% 100.00% 1 25.00% [xfs]
0 0.00% 100.00% 1 25.00% [kernel]
X
same "--by module" "$tmp/want" "$tmp/got"
is "--by process" "$(top --by process "$tmp/c.bin" | rows | cut -d' ' -f1,4,6 | tr '\n' ,)" "3 3 db-42,1 1 db-43,"
is "--by thread" "$(top --by thread "$tmp/c.bin" | rows | cut -d' ' -f1,4,6 | tr '\n' ,)" "2 2 db-42/42,1 1 db-42/50,1 1 db-43/43,"
is "  its header" "$(top -v --by thread "$tmp/c.bin" | head -9)" "$(top -v "$tmp/c.bin" | head -9)"
is "  without user stacks it says nothing of them" "$(top -v -K "$tmp/c.bin" | grep -c '^Stacks')" 0
is "--weight ns is shown as time" "$(top --weight ns -n 2 "$tmp/c.bin" | rows | cut -d' ' -f1,2,6 | tr '\n' ,)" \
	"30.00ms 50.00% xfs_read,20.00ms 33.33% memcpy,"
is "--truncated" "$(top --truncated "$tmp/c.bin" | rows | cut -d' ' -f1,4,6- | grep trunc)" "0 1 [truncated: depth]"
is "--pid" "$(top --pid 43 "$tmp/c.bin" | rows | cut -d' ' -f1,6)" "1 [db+0x1100]"
like "  the header tells what was looked at" "$(top -v --pid 43 "$tmp/c.bin")" '^Samples: +4 in 3.00 s, 1 of them looked at$'
is "-K" "$(top -K "$tmp/c.bin" | rows | cut -d' ' -f1,6 | tr '\n' ,)" "1 xfs_read,0 ksys_read,"
is "--from" "$(top --from 1.5 "$tmp/c.bin" | rows | awk '{ n += $1 } END { print n }')" 2
sed '/^end/i\
cost time=4000000000 what=table-bytes count=2726298\
cost time=4000000000 what=tables count=34\
cost time=4000000000 what=tables-refused count=2\
cost time=4000000000 what=tables-evicted count=5\
cost time=4000000000 what=stacks-deferred count=1' "$tmp/c.txt" | cprof-dump -r >"$tmp/t.bin"
is "what unwinding by tables took, and what had no room" "$(top -v "$tmp/t.bin" | grep '^Tables')" \
	"Tables:     34 built, 2.6 MiB, memory was short 2 times, 5 evicted to make room; 1 stack unwound in user space"
like "  over captures: a peak, and sums" "$(top -v "$tmp/t.bin" "$tmp/t.bin" | grep '^Tables')" ' 68 built, 2.6 MiB,.* 2 stacks '
cat "$tmp/c.bin" "$tmp/c.bin" >"$tmp/cc.bin"
top "$tmp/c.bin" | sed '/^Total/,$d' >"$tmp/got"
cat >"$tmp/want" <<'X'
3.00 s at 100 Hz
CPUs 1.3 % busy: 0.7 user, 0.3 kernel, 0.3 unnamed; 6 lost (2 %)
Caution:    only 4 samples: shares may be off by 35 points (95 %)
Lost:       6 of 300 expected samples lost (ring-full 6), 2 records of processes and mappings lost
Stacks:     4 user, 0.00% complete, 75.00% by frame pointers (unverified), 25.00% truncated (1 depth)
X
same "without -v two lines, and those about missing data" "$tmp/want" "$tmp/got"
like "totals go on over captures in one stream" "$(top -v "$tmp/cc.bin")" '^Samples: +8 in 6.00 s$'
like "  and over operands" "$(top -v "$tmp/c.bin" "$tmp/cc.bin")" '^Ledger: +900 expected: 12 emitted'

printf 'sh;main 5\nsh 2\n' >"$tmp/text"
is "folded text beside it is reported, because none of this is known for it" "$(top "$tmp/c.bin" "$tmp/text" | sed -n '/^Text/,/^Total/p')" \
	"Text:       7 more from folded text, for which none of this is known
Total:             11 samples, 7 of 7 functions shown"
unlike "  and alone there is no such line" "$(top "$tmp/text"; top "$tmp/c.bin")" '^Text'

# Selections without data
for c in cprof-top cprof-fold cprof-flame 'cprof-convert -t callgrind' 'cprof-convert -t tsv'; do
	$c --event nosuch "$tmp/c.bin" 2>"$tmp/err" >"$tmp/out"
	like "${c#cprof-}: an event that is not there" "$(cat "$tmp/err")" '^cprof-[a-z]*: no samples selected, [a-z ]* (empty|written); none of 4 samples matches the options; recorded events: cpu-clock$'
done
cprof-top --comm nosuch "$tmp/c.bin" 2>"$tmp/err" >"$tmp/out"
is "a command that is not there" "$(cat "$tmp/err")" "cprof-top: no samples selected, the table is empty; none of 4 samples matches the options; recorded commands: db (100 %)"
cprof-top --comm nosuch "$tmp/text" 2>"$tmp/err" >"$tmp/out"
is "  in folded text" "$(cat "$tmp/err")" "cprof-top: no samples selected, the table is empty"

# modules FILE LINE...: makes a capture with a sample at offset 0x128f of each file: "BUILD-ID PATH"
modules() {
	out=$1; shift
	{
		printf 'segment major=1 minor=0 least=1\nevent id=1 name="c" unit="ns" period=9 millihertz=9\nflush\n'
		n=0
		for f; do
			n=$((n + 1))
			cat <<X
process id=$n time=1 pid=$n nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=$n time=1 process=$n tid=$n
comm time=1 thread=$n comm="sh"
file id=$n major=8 minor=1 inode=$n generation=0 build-id=${f%% *} path="${f#* }"
mapping time=2 process=$n start=0x${n}0000 length=0x2000 offset=0x1000 prot=5 file=$n
frame id=$n process=$n kind=exact address=0x${n}028f
node id=$((n + 15)) parent=0 frame=$n
sample time=$((n + 2)) event=1 cpu=0 thread=$n user=$((n + 15)) kernel=0 weight=9
X
		done
		printf 'end time=99 reason=closed samples=%d\nflush\n' $n
	} | cprof-dump -r >"$out"
}
names() { top "$@" | rows | cut -d' ' -f1,6- | tr '\n' ,; }

# Files of one base name are kept apart, and shown with more of their path if there are several.
modules "$tmp/o" '0a /b/o1/app' '0b /b/o2/app' '0c /lib/libc.so.6'
is "two programs of one base name are two modules" "$(names --by module "$tmp/o")" "1 libc.so.6,1 o1/app,1 o2/app,"
is "  and so are their unnamed frames" "$(names "$tmp/o")" "1 [libc.so.6+0x128f],1 [o1/app+0x128f],1 [o2/app+0x128f],"
modules "$tmp/o1" '0b /b/o2/app'; modules "$tmp/o2" '0c /lib/libc.so.6' '0a /b/o1/app'
is "  in any order, over captures" "$(names "$tmp/o2" "$tmp/o1")" "$(names "$tmp/o")"
cat "$tmp/o1" "$tmp/o2" >"$tmp/o12"
is "  and over segments" "$(names "$tmp/o12")" "$(names "$tmp/o")"
is "  --match sees the names" "$(names --match '^.o1/' "$tmp/o")" "1 [o1/app+0x128f],"
is "  alone each is what it is called" "$(names --by module "$tmp/o1")$(names "$tmp/o1")" "1 app,1 [app+0x128f],"
is "  cprof-fold calls a place by its base name, as ever" "$(cprof-fold "$tmp/o")" \
	"$(printf '%s\n' 'sh;[app+0x128f] 2' 'sh;[libc.so.6+0x128f] 1')"
modules "$tmp/o" '0a /b/o1/app' '0a /c/app' '0a /b/o1/app (deleted)'
is "one build is one module, wherever it lies" "$(names --by module "$tmp/o")" "3 app,"
modules "$tmp/o" '0a /x/y/bin/app' '0b /x/z/bin/app' '0c /app' ' /q/bin/app'
is "as many directories as it takes" "$(names --by module "$tmp/o")" "1 /app,1 q/bin/app,1 y/bin/app,1 z/bin/app,"
modules "$tmp/o" '0123abcdef /bin/app' 'fedcba9876 /bin/app (deleted)'
is "two builds at one path are told apart by build ID" "$(names "$tmp/o")" \
	"1 [app (0123abcd)+0x128f],1 [app (fedcba98)+0x128f],"
modules "$tmp/o" '0123abcdef /bin/app' '0123abcdff /bin/app' ' /bin/app' 'ab /sbin/app'
is "  all of it where it must be" "$(names --by module "$tmp/o")" \
	"1 bin/app (0123abcdef),1 bin/app (0123abcdff),1 bin/app (no build ID),1 sbin/app,"
modules "$tmp/o" '0a /bin/app' ' /bin/app'
is "a file whose build ID was not read is the one at its path" "$(names --by module "$tmp/o")" "2 app,"
done_testing
