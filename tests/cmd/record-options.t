#!/bin/sh
# The recorder's options: invalid depths, unwind methods and sizes are refused before anything begins.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"

# taken OPTION ARGUMENT...: each is accepted, and the output file, which comes next, fails
taken() {
	option=$1; shift
	for a; do
		cprof-record "$option" "$a" -o "$tmp/none/x" -- true 2>"$tmp/err"
		is "$option $a is taken" "$? $(sed "s|$tmp||" "$tmp/err")" "1 cprof-record: /none/x: No such file or directory"
	done
}
# refused OPTION SENTENCE ARGUMENT...: each is refused, and one sentence gives the reason
refused() {
	option=$1 sentence=$2; shift 2
	for a; do
		cprof-record "$option" "$a" -o "$tmp/none/x" -- true 2>"$tmp/err"
		is "$option \"$a\" is refused" "$? $(head -n 1 "$tmp/err")" "2 cprof-record: $option: \"$a\" $sentence"
	done
}
# invalid OPTION NOUN EXPECTED ARGUMENT...: likewise, with a sentence that names the expected values, perhaps
# with a guess
invalid() {
	option=$1 noun=$2 expected=$3; shift 3
	for a; do
		cprof-record "$option" "$a" -o "$tmp/none/x" -- true 2>"$tmp/err"
		is "$option \"$a\" is refused" "$? $(sed 's/; did you mean [a-z]*?)$/)/; q' "$tmp/err")" \
			"2 cprof-record: invalid $noun \"$a\" (expected $expected)"
	done
}

taken --unwind auto table fp
invalid --unwind --unwind 'auto, table or fp' dwarf '' FP autos
taken --engine auto bpf perf
invalid --engine --engine 'auto, bpf or perf' ebpf

taken --unwind-mem 64M 1M 1024K 1048576 16G 17179869184 2047K
invalid --unwind-mem --unwind-mem 'a size from 1M to 16G, like 64M' 0 '' M 1048575 1023K 17G 16777217K 17179869185 \
	64MB 64MM -1M '+64M' ' 64M' '64M ' 6.4M 0x100000 99999999999999999999 18446744073709551617 18014398509481984K

taken --mem 64M 1M 67108864 64G
invalid --mem --mem 'a size from 1M to 64G, like 64M' 0 '' 1023K 65G 64MB -1M

taken -e cpu-clock cycles page-faults cs,faults/7,cpu-clock instructions/1000000
invalid -e event 'a number of events per sample from 1 to 1000000000 at its end, as in page-faults/100' page-faults/ cs/-1 cs/0x1 cs/1000000001

taken -d 1 512 1023
invalid -d -d 'a whole number from 1 to 1023' 0 1024 -1 all
# An error is not hidden above a long usage text; only a wrong option prints that.
status "a label twice" 2 cprof-record -l service=a -l zone=b -l service=2 -o "$tmp/none/x" -- true
is "says which, and where help is" "$(cat "$tmp/err")" "cprof-record: -l: service is given twice, as \"a\" and as \"2\"
cprof-record --help lists the options, man cprof-record explains them"
status "labels of which one begins as another" 1 cprof-record -l service=a -l serviceb=b -l serv=c -o "$tmp/none/x" -- true
status "an option that is none" 2 cprof-record --nothing
is "has the sentence" "$(head -n 1 "$tmp/err")" 'cprof-record: invalid option "--nothing"'
cprof-record --depth 1024 -- true 2>"$tmp/err"
is "--depth is its long form" $? 2
for o in -p -t; do
	status "the first of two $o counts, too" 1 cprof-record -o "$tmp/x" $o 4194304 $o $$ 0.1
	like "  and is looked for" "$(cat "$tmp/err")" 'no (process|thread) has the id 4194304'
done
mkfifo "$tmp/fifo"
status "metrics in the place of a pipe, which would be no more" 2 cprof-record --metrics "$tmp/fifo" -o "$tmp/none/x" -- true
is "  it is still there" "$([ -p "$tmp/fifo" ] && echo yes)" yes
status "an option without its argument is refused too" 2 cprof-record --unwind-mem
done_testing
