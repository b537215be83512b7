#!/bin/sh
# perf script's text made from a capture, and a capture with names made from perf script's text
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" || exit 1
collapse() { "$tests/lib/collapse.py" "$@"; }
convert() { cprof-convert -t stream --demangle none "$@"; } # the collapser cannot demangle C++

# 1. By hand: every form of a line
same_folds() { # DESCRIPTION FILE: the collapser's result is cprof-fold's result for the stream
	convert "$2" >one.bin 2>err || { fail "$1"; diag "$(cat err)"; return; }
	sed 's/@@[A-Za-z0-9_.]*\(+0x[0-9a-f]*\)* (/\1 (/' "$2" | collapse -i >want
	cprof-fold -i one.bin >got
	same "$1" got want
}
sed '$d' "$tests/fuzz/corpus/perfscript-forms.txt" | sed '$d' >forms
same_folds "the forms of heads and frames" forms
is "  whole" "$(cut -d' ' -f1-3 got)" ":-1;a:b 1
h t;work 1
kworker/0:1-e [x];[kernel];[vsyscall] 1
no tid;[unknown];LazyCompile:~x /a
plain;[libc.so.6];work.isra.0;hot_50;ext4_write;generic_perform_write 1"
like "inlined functions and lines" "$(cprof-fold -il one.bin)" 'outer \(demo\.c:40\);inner \(inner\.h:7\);std::vector<int, std::allocator<int> >::push_back\(int const&\) \(demo\.c:35\) 1$'
like "  or not" "$(cprof-fold one.bin)" 'outer;std::vector'
like "the kernel and JIT code are what they are" "$(cprof-fold -a one.bin)" 'ext4_write_\[k\];generic_perform_write_\[k\] 1'
like "  JIT code" "$(cprof-fold -a one.bin)" 'b\.js:1_\[j\];'
is "files" "$(cprof-top --by module -n 20 one.bin | sed '1,/^ *flat/d' | sed -E 's/^ *[0-9]+ +[0-9.%]+ +[0-9.%]+ +([0-9]+) +[0-9.%]+ +(.*)/\2 \1/' | sort)" "[anon] 1
[ext4] 1
[guest.kernel.kallsyms.1] 1
[jit] 1
[kernel] 2
[unknown] 1
[vsyscall] 1
a dir (x86)/demo 1
h t 1
libc.so.6 1
tmp/demo 2"
is "processes and threads" "$(cprof-fold -t --comm plain --comm 'no tid' one.bin | cut -d';' -f1)" "no tid-10/10
plain-10515/10516"
is "time and CPU" "$(cprof-dump one.bin | grep '^sample' | head -1 | cut -d' ' -f2-4,8)" "time=45500260099000 event=1 cpu=1 weight=2004008"
is "periods, and events with their units" "$(cprof-dump one.bin | sed -n 's/^event id=//p')" '1 name="cpu-clock" unit="ns" period=2004008 millihertz=0
2 name="cycles:u" unit="" period=1 millihertz=0
3 name="instructions:ppp" unit="" period=1 millihertz=0
4 name="cycles" unit="" period=1 millihertz=0'
is "what perf script --header says" "$(cprof-dump one.bin | sed -n 's/^meta key=//p' | head -4)" '"host" value="somewhere"
"kernel-release" value="6.1.0"
"arch" value="x86_64"
"command-line" value="/usr/bin/perf record -g ./a"'
# Counted events weigh their periods, also after a round trip; the clock is the default even if a page fault
# came first.
printf 'a 1/1 1.0: %s:\n\t12 f (/x)\n\n' "7 page-faults:u" "1000 cpu-clock" "5 page-faults:u" "3 sched:sched_switch" >kinds
convert kinds >kinds.bin
total() { cprof-fold "$@" 2>/dev/null | awk '{ n += $NF } END { print n + 0 }'; }
is "counted events weigh their periods" "$(total --event faults kinds.bin) $(total --event sched kinds.bin)" "12 3"
is "  the clock is what counts, wherever it comes" "$(total kinds.bin)" 1
is "  for other formats, too" "$(cprof-convert -t callgrind kinds.bin | sed -n 's/^summary: //p')" 1
is "  and so does it in the header" \
	"$(cprof-top -v kinds.bin | sed -n 's/^\(Samples\|Total\): *//p' | cut -d, -f1 | tr '\n' ,)" \
	"1 in 0.00 s and 3 of other events,1 samples,"
is "  they do after two conversions" "$(cprof-convert -t perfscript kinds.bin | cprof-convert -t stream | total --event faults)" 12
printf 'a 1/1 1.0: %s:\n\t12 f (/x)\n\n' "7000 cycles:ppp" "900 instructions:u" "800 cpu/event=0x3c/:u:H" >hard
is "the hardware's are samples" "$(convert hard | total)" 3
is "how stacks ended is not known" "$(cprof-top -v one.bin | sed -n 's/^Stacks: *//p')" \
	"4 user, 100.00% ended for an unknown reason, 0.00% truncated"
is "  nor in a flame graph" "$(cprof-flame one.bin | "$here/flame-block.py" head | sed -n 's/^ledger Truncated = //p')" "0.00 % of user stacks; 100.00 % ended for an unknown reason"
is "a thread that perf does not know has no number" "$(cprof-fold -t --comm :-1 one.bin)" ":-1-0/0;a:b 1"
printf 'a 1/1 1.0: 1 x:\n\t12 fopen@@GLIBC_2.2.5+0x2 (/x)\n\t13 malloc@plt+0x1 (/x)\n\t14 ~f /a/@@b/c+0x1 (/x)\n\t15 std::f@@V_1 (/x)\n\n' >versions
is "versions of symbols are no part of names" "$(convert versions | cprof-fold)" "a;std::f;~f /a/@@b/c;malloc@plt;fopen 1"
sed 's/$/\r/' forms >crlf
convert crlf | cprof-fold -i >got
same "lines that end in CR LF" got want
sed 's/^	 */  /' forms | grep -v '^   *[0-9a-z.]*[.][ch]:' >spaces
convert spaces | cprof-fold -i >got
same "frames behind blanks" got want
# Old perf, whose frames are not indented; commands that look like addresses (dd, 12), and heads that end in a
# file.
cat >flat <<'X'
dd 300 [000] 5.000001: cpu-clock: 
ffffffff8103d0ba native_safe_halt ([kernel.kallsyms])
401000 LazyCompile:~f x.js:1 (/tmp/perf-300.map)
7f0012 [unknown] ([unknown])
401a40 main (/usr/bin/dd)

dd 300 [000] 5.000002: cpu-clock:      ffffffff8103d0ba native_safe_halt ([kernel.kallsyms])
dd 300 [000] 5.000003: cpu-clock: 
401b std::vector<int, std::allocator<int> >::f(int const&) (/usr/bin/dd)
401a40 main (/usr/bin/dd (deleted))
12 34 [001] 5.000004: cycles: 
401a40 main (/usr/bin/dd)
X
collapse -i <flat >flat.want
for c in '' ' with CR LF,s/$/\r/' ' and the same indented,s/^[0-9a-f]* [^ ]* *.*)$/\t&/;s/^\t\(dd 300\)/\1/'; do
	sed "${c#*,}" flat >flat.txt
	status "frames that are not indented${c%%,*}" 0 convert flat.txt
	cprof-fold -i out >got
	same "  whole" got flat.want
done
printf 'a 1 1.0: 1 x:\n401000 main (/x)\nbad luck\nface it (with a file)\n12 f\n\n401001 g (/x)\n' >flat
status "no such frame" 3 convert flat
is "  is what has no file or no sample" "$(cat err)" "cprof-convert: flat: line 3: neither the head of a sample nor a frame; 3 of 7 lines left out"
sed 's/+0x[0-9a-f]*\( (\)/\1/' forms >bare
convert bare | cprof-fold -i >got
same "no offsets" got want

# Names are those of cprof-sym: by default without parameters, and only for frames of files.
cat >cxx <<'X'
a 1/1 [000] 1.0: 10 cpu-clock:
	 1 ns::map<int, long>::get(int) const+0x1 (/x)
	 2 void ns::put<int>(int) [clone .constprop.0]+0x1 (/x)
	 4 (anonymous namespace)::f(char const*, ...) (/x)
	 5 ns::g(int)::{lambda(char)#1}::operator()(char) const (inlined)
	 5 std::ostream& std::operator<< <char>(std::ostream&, char) (/x)
	 6 <alloc::vec::Vec<T> as core::iter::Iterator>::next (/x)
	 7 main.(*T).f (/x)
	 8 foo.isra.0 (/x)
	 9 LazyCompile:~f<int>(int) file.js:1 (/tmp/perf-1.map)
	 ffffffff81000000 k<int>(int) ([kernel.kallsyms])

X
cxx='LazyCompile:~f<int>(int) file.js:1;foo.isra.0;main.(*T).f'
names() { sed '/ffff/d' cxx | cprof-convert -t stream "$@" | cprof-fold -i; }
is "names of C++ and Rust are simplified, and no others" "$(names)" "a;$cxx;<alloc::vec::Vec as core::iter::Iterator>::next;std::operator<<;ns::g::{lambda#1}::operator();(anonymous namespace)::f;ns::put;ns::map::get 1"
is "  with templates" "$(names --demangle templates)" "a;$cxx;<alloc::vec::Vec<T> as core::iter::Iterator>::next;std::operator<< <char>;ns::g::{lambda#1}::operator();(anonymous namespace)::f;ns::put<int>.constprop;ns::map<int, long>::get 1"
is "  as they are" "$(names --demangle none)" "a;$cxx;<alloc::vec::Vec<T> as core::iter::Iterator>::next;std::ostream& std::operator<< <char>(std::ostream&, char);ns::g(int)::{lambda(char)#1}::operator()(char) const;(anonymous namespace)::f(char const*, ...);void ns::put<int>(int) [clone .constprop.0];ns::map<int, long>::get(int) const 1"
is "  the kernel's as they are" "$(grep -v '^	 [1-9] ' cxx | cprof-convert -t stream | cprof-fold)" "a;k<int>(int) 1"
status "an unknown way to demangle" 2 cprof-convert -t stream --demangle some cxx
status "  it is for a stream" 2 cprof-convert -t pprof --demangle full cxx

# cprof-sym changes nothing, and does not look for names that perf made up in a file.
sh=$(command -v sh)
cat >self <<X
a 1/1 [000] 1.0: 10 cpu-clock:
	            1000 not_there+0x10 ($sh)
	            1200 [unknown] ($sh)

X
convert self >one.bin
cprof-sym one.bin >two.bin 2>err
cprof-fold one.bin >got
cprof-fold two.bin >want
same "cprof-sym changes nothing" got want
is "  of what there is" "$(cat got)" "a;[${sh##*/}];not_there 1"
cprof-dump one.bin | grep '^symbol' >one
cprof-dump two.bin | grep '^symbol' >two
same "  and adds no name" one two

# 2. Bad lines are counted and the first is reported; good samples are delivered.
{ cat forms; printf 'what is this\n\tzzz\n'; sed 's/^plain/again/' forms; } >bad
status "bad lines" 3 convert bad
n=$(grep -c '' forms)
is "  the first by its number" "$(cat err)" "cprof-convert: bad: line $((n + 1)): neither the head of a sample nor a frame; 2 of $((2 * n + 2)) lines left out"
is "  the rest is there" "$(cprof-fold out | awk '{ n += $NF } END { print n }')" 10
status "a frame of nobody" 3 sh -c 'printf "\t12 a (b)\n" | cprof-convert -t stream'
like "  is told" "$(cat err)" "line 1: a frame without the head of its sample"
awk 'BEGIN { printf "a 1 1.0: 1 x:\n\t12 "; for (i = 0; i < 200000; i++) printf "abcdefghij"; print " (b)\n\t13 c (d)\n" }' >long
status "a line of 2 MB" 3 convert long
is "  is left out of its stack" "$(cprof-fold out)" "a;c 1"
printf '# captured\n\nw 123/124 [000] 5.000001: 1010 cpu-clock: \n\t401000 main+0x1 (/x)\n\n' >told.txt
for c in cprof-fold cprof-top 'cprof-convert -t pprof'; do
	status "$c of such text" 3 $c told.txt
	is "  names the option" "$(cat "$tmp/err")" "${c%% *}: told.txt: this is perf script text: convert it with cprof-convert -f perfscript -t stream"
done
is "  folded text that looks like it is none" "$(echo 'w 123/124 [000] 5.000001: 1010 cpu-clock: 7' | cprof-fold)" 'w 123/124 [000] 5.000001: 1010 cpu-clock: 7'
status "-f perfscript for another format" 2 cprof-convert -f perfscript -t callgrind told.txt
like "  names the second command" "$(cat "$tmp/err")" 'cprof-convert -t stream FILE [|] cprof-convert -t callgrind$'
status "nothing" 3 convert /dev/null
is "  is told" "$(cat err)" "cprof-convert: /dev/null: no samples"
is "  and is a stream" "$(cprof-dump out | grep -c '^end')" 1
status "folded text, in which a head would have neither time nor event" 3 sh -c 'printf "foo bar 12\nbaz 9\na;b 7 \n" | cprof-convert -t stream'
is "  is told" "$(cat err)" "cprof-convert: standard input: line 1: neither the head of a sample nor a frame; 3 of 3 lines left out
cprof-convert: standard input: no samples; this is not perf script text"
is "  and makes no sample" "$(cprof-dump out | grep -c '^sample')" 0
status "records without a sample" 3 sh -c 'printf "a 1 [000] 1.0: PERF_RECORD_MMAP -1/0: x\n" | cprof-convert -t stream'
is "  are told" "$(cat err)" "cprof-convert: standard input: no samples"
status "an event and no time" 0 sh -c 'printf "a b 12 cycles:u:\n\t12 f (/x)\n" | cprof-convert -t stream'
is "  are a sample" "$(cprof-fold out)" "a b;f 1"
status "a time and no event" 0 sh -c 'printf "a b 12 1.5:\n\t12 f (/x)\n" | cprof-convert -t stream'
is "  are one" "$(cprof-fold out)" "a b;f 1"
status "no file" 1 convert gone
[ ! -c /dev/full ] || status "a full disk" 1 sh -c 'cprof-convert -t stream forms >/dev/full'
status "-f perfscript is for a stream" 2 cprof-convert -f perfscript -t pprof forms
status "-f of something else" 2 cprof-convert -f nonsense -t stream forms
status "filters are not for it" 2 convert --comm x forms
status "-f perfscript -t stream" 0 cprof-convert -f perfscript -t stream forms

# Hostile names, deep stacks, many events, processes and files: memory is bounded, and nothing is lost.
awk 'BEGIN {
	for (i = 0; i < 20000; i++) {
		printf "c;%d</script>\"%s 1/%d [000] 1.%06d: 5 ev%d:u:\n", i % 7, i % 3 ? "" : "\377\033", i, i, i % 100
		for (d = 0; d < i % 50; d++)
			printf "\t%x f%d;\"</script>\200\\+0x1 (/f/%d)\n", d, i % 1000 * d, i % 333
		print ""
	} }' >hostile
status "hostile names, a hundred events" 0 convert hostile
is "  every sample is there" "$(cprof-fold out | awk '{ n += $NF } END { print n }')" 20000
is "  of 63 events at most" "$(cprof-dump out | grep '^event' | tail -1 | cut -d' ' -f2-3)" 'id=63 name="other"'
awk 'BEGIN { print "a 1 1.0: 1 x:"; for (i = 0; i < 70000; i++) printf "\t%x f%d (/f)\n", i, i % 10; print "" }' >deep
status "a stack of 70,000 frames" 0 convert deep
is "  loses the outer ones, and says so" "$(cprof-dump out | awk '/^node/ && !n++ { root = $3 } END { print n, root }')" "65536 parent=2"
endless() { # DESCRIPTION N STATUS ROOT STATEMENT: one sample of lines that all differ, with 500 MB of memory
	awk "BEGIN { print \"a 1 1.0: 1 x:\"; for (x = \"x\"; length(x) < 50000;) x = x x
		for (i = 0; i < $2; i++) { $5 } }" | (limit_memory 500000; convert >out 2>err)
	is "one sample with $1" "$? $(cprof-fold out | awk '{ n += $NF } END { print n }')" "$3 1"
	is "  its stack says whether it was cut" \
		"$(cprof-dump out | sed -n '/^node/{s/.* \(parent=[0-9]*\).*/\1/p;q}')" "$4"
}
endless "3 million frames" 3000000 0 parent=2 'printf "\t%x f (/f)\n", i'
endless "1 GB of frames with long names" 20000 0 parent=2 'printf "\t%x f%d", i, i; print x " (/f)"'
endless "3 million source lines of one frame" 3000000 0 parent=1 \
	'if (i == 0) print "\t12 f (/f)"; print "  f.c:" i'
endless "1 GB of source lines with long paths" 20000 0 parent=2 'print "\t12 f (/f)\n  " x i ".c:1"'
endless "3 million lines that are no frames" 3000000 3 "" 'print "\tzzz " i'
printf 'a 1 1.0: 1 x:\n\t12 f (/f)\n  f.c:7\n\tzzz\n  bad.c:9\n\t14 g (/f)\n\n' >after
status "a bad line, and a source line after it" 3 convert after
is "  is not the source line of the frame before" "$(cprof-fold -l out)" "a;g;f (f.c:7) 1"
modules() { # TIME TIME: a module, and another one that is later at the same address
	printf 'a 1%s cycles:\n\tffffffffc0000010 f ([%s])\n\n' "$1" one "$2" two | convert |
		cprof-fold --by module | xargs
}
is "a module where another one was before" "$(modules ' 1.0:' ' 2.0:')" "a;[one] 1 a;[two] 1"
is "  also in text without times" "$(modules '' '')" "a;[one] 1 a;[two] 1"

# 3. Text from captures: by hand, and back
back() { # DESCRIPTION CAPTURE
	cprof-convert -t perfscript --no-names "$2" >text
	convert text >again.bin || fail "$1 is read"
	for o in "" -i -K -U -p -t; do
		cprof-fold --no-names $o "$2" >want 2>/dev/null
		cprof-fold $o again.bin >got 2>/dev/null
		cmp -s got want || { fail "$1: cprof-fold $o"; diag "$(diff got want | head -5)"; return; }
	done
	collapse -i text >got
	cprof-fold --no-names -i "$2" >want
	cmp -s got want || { fail "$1: collapsed by the book"; diag "$(diff got want | head -5)"; return; }
	pass "$1"
}
cprof-dump -r "$tests/data/small.txt" >small.bin
back "a small capture as text and back" small.bin
is "a sample as text" "$(cprof-convert -t perfscript small.bin | head -4)" "sh 42/42 [001] 0.002000:   10101010 cpu-clock:
	ffffffff81000000 _stext+0x0 ([kernel.kallsyms])
	          400100 main+0x10 (/nowhere/sh)
	          400200 [sh+0x200] (/nowhere/sh)"
convert hostile >hostile.bin
cprof-fold hostile.bin >want
cprof-convert -t perfscript hostile.bin >text
convert text | cprof-fold >got
same "hostile names as text and back" got want
is "filters are those of cprof-fold" "$(cprof-convert -t perfscript --pid 42 --from 0.0005 small.bin | grep -c '^sh')" 2
is "  -U" "$(cprof-convert -t perfscript -U small.bin | grep -c kallsyms)" 0
status "--match is none of them" 2 cprof-convert -t perfscript --match x small.bin
for o in "--focus x" "--exclude x" --norm -l --full-paths "--weight ns"; do
	status "  nor is $o" 2 cprof-convert -t perfscript $o small.bin
done
status "a cut capture" 3 sh -c 'head -c -30 small.bin | cprof-convert -t perfscript'
like "  gives what is good" "$(cat out)" "^sh 42/42 .001. 0.002000"

# Waits stay waits, in nanoseconds, after a round trip; the events in the header can be shown.
{
	printf 'segment major=1 minor=2 least=1\nflush\nevent id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000\n'
	printf 'event id=%d name="off-cpu:%s" unit="ns" period=0 millihertz=0\n' 2 sleep 3 uninterruptible 4 run-queue
	printf 'process id=1 time=10 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot\nthread id=1 time=10 process=1 tid=42\n'
	printf 'comm time=10 thread=1 comm="x"\nframe id=1 process=1 kind=exact address=0x1000\nnode id=16 parent=0 frame=1\n'
	printf 'sample time=%d000 event=%d cpu=0 thread=1 user=16 kernel=0 weight=%d\n' 2000000 1 1000 4000000 2 1500000123 \
		4100000 3 77000001 4200000 4 5
	printf 'end time=4300000000 reason=closed samples=4\nflush\n'
} | cprof-dump -r >waits.bin || exit 1
cprof-convert -t perfscript --wall waits.bin >waits.txt
convert -f perfscript waits.txt >back.bin
is "waiting time has its unit" "$(cprof-dump back.bin | sed -n 's/^event id=[0-9]* name="\(off-cpu.*\)" period.*/\1/p')" \
	"$(cprof-dump waits.bin | sed -n 's/^event id=[0-9]* name="\(off-cpu.*\)" period.*/\1/p')"
for o in --wall "--event off-cpu" "--event off-cpu:sleep" "--wall --weight samples" "--wall --from 1" ""; do
	cprof-fold $o waits.bin >want
	cprof-fold $o back.bin >got
	same "  as text and back: cprof-fold $o" got want
done
facts() { cprof-top -v --wall "$1" | sed -n '/^\(Waiting\|Total\):/p'; }
is "  the header and its table agree" "$(facts back.bin)" "$(facts waits.bin)"

printf 'demo 1/1 1.5:  1 cpu-clock: \n\t1ab78 _dl_start_user+0x0 (/lib/ld.so)\n  :0\n\n' >nowhere
is "a source line that perf found no file for" "$(convert nowhere 2>&1 | cprof-fold)" "demo;_dl_start_user 1"

# 4. Recordings of perf
make -s -C "$top" BUILD="$BUILD" "$BUILD/contrib/demo" >make.log 2>&1
record() { perf record -q -B -N -e cpu-clock -F 499 -g -o perf.data "$BUILD/contrib/demo" 1 >err 2>&1 && perf script -i perf.data 2>/dev/null | grep -q .; }
# On a busy machine perf may come back without a sample.
if command -v perf >/dev/null && { record || record; }; then
	perf script -i perf.data --header >perf.txt 2>/dev/null
	same_folds "perf's own capture folds as by the book" perf.txt
	perf script -i perf.data --no-inline -F comm,pid,tid,time,event,ip,sym,dso >fields.txt 2>/dev/null
	same_folds "  with other fields, and no offsets" fields.txt
	# perf 6.1 sometimes aborts when it looks for source lines, or overwrites one of them: the last try
	# counts.
	for try in 1 2 3 4 5; do
		perf script -i perf.data --ns -F +srcline,+pid --show-task-events --show-mmap-events >lines.txt 2>/dev/null
		scripted=$?
		[ $scripted = 0 ] && convert lines.txt 2>said >/dev/null && [ ! -s said ] && break
	done
	if [ $scripted = 0 ]; then
		same_folds "  with source lines, in nanoseconds, with other records between" lines.txt
	else
		skip "  with source lines" "perf script fails"
	fi
	convert perf.txt >one.bin
	like "cprof-top knows where the time went" "$(cprof-top -n 1 one.bin | tail -1)" ' hot_50$'
	back "  and back" one.bin
else
	skip "perf's own capture" "perf records nothing here: $(head -1 err)"
fi

# 5. Recordings of cprof
if [ -x "$BIN/cprof-record" ] && cprof-record -q -F 999 -o raw.bin -- "$BUILD/contrib/demo" 1 2>err; then
	cprof-sym -il raw.bin >sym.bin 2>/dev/null
	back "a live capture as text and back" sym.bin
	back "  without names" raw.bin
else
	skip "a live capture as text and back" "nothing can be recorded here"
fi
done_testing
