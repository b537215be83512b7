#!/bin/sh
# cprof-record: subs, files and lines of Perl programs, in the stacks of the C code around them.
# shellcheck disable=SC2154 # lib.sh sets tmp and tests
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/python-lib.sh"
may_record_all
[ -f /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are unwound by tables only on x86-64"
perl=${PERL:-/usr/bin/perl}
[ -x "$perl" ] || skip_all "there is no $perl"
"$perl" -e 'exit($] < 5.032 || $] >= 5.045)' || skip_all "$perl is not one of 5.32 to 5.44"
"$perl" -MTime::HiRes -MList::Util -e 1 2>/dev/null || skip_all "$perl has no Time::HiRes or List::Util"
known=$tests/loads/known.pl

status "a program of known shares" 0 \
	sh -c 'cprof-record -q -F 999 -o "$0/known.bin" -- "$1" "$2" 0.3 "$0/stacks" >"$0/program"' \
	"$tmp" "$perl" "$known"
cprof-sym <"$tmp/known.bin" 2>/dev/null >"$tmp/sym.bin"
cprof-fold --native none "$tmp/sym.bin" >"$tmp/folded"
like "each kind of call has its share, within 2 points" \
	"$(shares_of "$tmp/folded" "$tmp/program")" '^all (29|30)$'
is "  and none another" "$(shares_of "$tmp/folded" "$tmp/program" | grep -vc '^all')" 0
# The first samples are from before the interpreter's file was read: not-yet. A thread's interpreter is empty
# while it is made or freed, also in threads.so itself, as it resolves the functions that do so.
cprof-fold --native all "$tmp/sym.bin" >"$tmp/all"
is "nothing was unreadable or lost" \
	"$(grep '\[perl: ' "$tmp/all" | grep -v -e not-yet -e ";perl_clone;" -e ";perl_destruct;" \
		-e ";\[threads\.so+")" ""

# Perl has no name for code in a pattern, and caller() dies at a format.
cprof-fold -l --native none "$tmp/sym.bin" >"$tmp/lines"
sed -n 's/^[^;]*;\(.*\);main::spin (.*/\1/p' "$tmp/lines" | grep -v in_format |
	sed 's/(?{}) /main::__ANON__ /' | LC_ALL=C sort -u >"$tmp/got"
LC_ALL=C sort -u "$tmp/stacks" >"$tmp/want"
ok "caller() has $(grep -c . "$tmp/want") stacks" [ "$(grep -c . "$tmp/want")" -ge 27 ]
same "  and each sample one of these, with its files and lines" "$tmp/got" "$tmp/want"
is "a format has its frame" \
	"$(grep -o 'main::by_format;main::REPORT;main::in_format' "$tmp/folded" | sort -u)" \
	'main::by_format;main::REPORT;main::in_format'

# calls FRAME: the frames between the sub that calls and the frame, without symbols that a stripped perl lacks
calls() {
	grep -F ";$1;" "$tmp/all" | head -n 1 |
		sed "s/.*;\(main::[^;]*;Perl_pp_.*;$1\);main::spin.*/\1/" |
		tr ';' '\n' | grep -v '^\[' | tr '\n' ' '
}
# native TEXT GOT WANT: as like, where perl's own functions have names: from 5.40 on it exports few of them
native() {
	if grep -q 'Perl_pp_sort' "$tmp/all"; then
		like "$@"
	else
		skip "$1" "this perl does not export its operators"
	fi
}
native "a comparison is above the sort" "$(calls main::by_number)" \
	'^main::by_sort Perl_pp_sort .*Perl_runops_standard main::by_number $'
native "  that of a block, too" "$(calls main::in_block)" \
	'^main::by_block Perl_pp_sort .*Perl_runops_standard main::in_block $'
native "  and the last call of a block" "$(calls main::in_last)" \
	'^main::by_last Perl_pp_sort .*Perl_runops_standard main::in_last $'
native "an overloaded operator is above the operator" "$(calls Number::plus)" \
	'^main::__ANON__ Perl_pp_add .*Perl_amagic_call Perl_runops_standard Number::plus $'
compared='Number::compare .*Perl_runops_standard Number::compared'
native "  and an eval in it in a loop of its own" "$(calls Number::compared)" \
	"^main::__ANON__ Perl_pp_ncmp .*Perl_runops_standard $compared \$"
native "a tied variable is above the assignment" "$(calls Tied::FETCH)" \
	'^main::__ANON__ Perl_pp_sassign .*Perl_call_sv Perl_runops_standard Tied::FETCH $'
native "code is above the pattern" "$(grep -m 1 ';main::in_pattern;.*;main::spin' "$tmp/all")" \
	';main::in_pattern;Perl_pp_match;.*;Perl_runops_standard;main::spin'
like "the file's own code is above its loop" "$(grep -m 1 ';main::plain;' "$tmp/all")" \
	';perl_run;Perl_runops_standard;<main>;main::measured;main::plain;main::spin'

# named FOLDED: of the samples with perl's loop, those with a frame, by thousand
named() {
	awk '/Perl_runops_standard|\[perl: / { n = $NF; all += n; if ($0 !~ /\[perl: /) good += n }
		END { printf "%d", all ? 1000 * good / all : 0 }' "$1"
}
cat >"$tmp/short.pl" <<'END'
use strict; use warnings; use Time::HiRes 'time';
sub work { my $text = join ',', map { $_ * 2 } 1 .. 100; return length $text }
my $end = time + $ARGV[0];
work() while time < $end;
END
# The first one lasts: on a busy machine it takes long until the recorder has read the interpreter's file.
cprof-record -q -F 999 -o "$tmp/short.bin" -- sh -c '"$0" "$1" 1.5; i=0
	while [ $i -lt 60 ]; do "$0" "$1" 0.03; i=$((i + 1)); done' "$perl" "$tmp/short.pl"
cprof-sym <"$tmp/short.bin" 2>/dev/null | cprof-fold --native all --from 1.5 >"$tmp/short"
ok "60 processes of 40 ms: 98 % of perl's samples have frames ($(named "$tmp/short") of 1000)" \
	[ "$(named "$tmp/short")" -ge 980 ]

# A program that others wrote: the texts of perl's own modules as a manual
pod2man=$(command -v pod2man)
if [ -n "$pod2man" ] && "$perl" -MPod::Man -e 1 2>/dev/null; then
	"$perl" -e 'for my $d (@INC) { push @files, glob "$d/*.pm $d/*/*.pm" }
		for (@files) {
			local (@ARGV, $/) = ($_, undef);
			my $t = <>;
			print $t, "\n\n=cut\n\n" if ($n += length $t) < 4e6
		}' >"$tmp/big.pod" 2>/dev/null
	cprof-record -q -F 499 -o "$tmp/pod.bin" -- \
		"$perl" "$pod2man" "$tmp/big.pod" "$tmp/big.man" >/dev/null 2>&1
	# --from: the first samples come before the recorder has read the interpreter's file.
	cprof-sym <"$tmp/pod.bin" 2>/dev/null | cprof-fold --native all --from 0.5 >"$tmp/pod"
	ok "pod2man: 99 % of perl's samples have frames ($(named "$tmp/pod") of 1000)" \
		[ "$(named "$tmp/pod")" -ge 990 ]
	is "  and their root is the program" \
		"$(grep 'Perl_runops_standard' "$tmp/pod" |
			grep -v -e '<main>' -e '\[perl: not-yet' | wc -l)" 0
	like "  whose methods are there" \
		"$(grep -o 'Pod::[A-Za-z:_]*' "$tmp/pod" | sort | uniq -c | sort -rn | head -n 40)" \
		'Pod::Simple::'
else
	skip "pod2man: 99 % of perl's samples have frames" "there is no pod2man"
fi

# Code that comes and goes at the same addresses: each text defines a sub whose name is its number.
cat >"$tmp/churn.pl" <<'END'
no warnings; use Time::HiRes 'time';
my $end = time + 2;
for (my $i = 1; time < $end; $i++) {
	eval "sub made$i { my \$x = 0; \$x += \$_ for 1 .. 3000; return \$x } made$i()";
	delete $main::{"made$i"};
}
END
cprof-record -q -F 999 -o "$tmp/churn.bin" -- "$perl" "$tmp/churn.pl"
cprof-fold -l --native none "$tmp/churn.bin" 2>/dev/null |
	grep -o '(eval) ((eval [0-9]*):1);main::made[0-9]* ((eval [0-9]*):1)' |
	sed 's/[^0-9]*\([0-9]*\)):1);main::made\([0-9]*\) ((eval \([0-9]*\).*/\1 \2 \3/' >"$tmp/churn"
ok "code that comes and goes is seen ($(sort -u "$tmp/churn" | wc -l) subs)" \
	[ "$(sort -u "$tmp/churn" | wc -l)" -ge 20 ]
is "  and has its own name" \
	"$(awk '{ print $1 - $3, $1 - $2 }' "$tmp/churn" | sort -u | wc -l) $(awk '$1 != $3' "$tmp/churn")" \
	"1 "

cat >"$tmp/fork.pl" <<'END'
sub in_child { my $end = (times)[0] + 0.3; while ((times)[0] < $end) { } }
for (1 .. 5) { my $child = fork; if (!$child) { in_child(); exit } waitpid $child, 0 }
END
cprof-record -q -F 999 -o "$tmp/fork.bin" -- "$perl" "$tmp/fork.pl"
is "forked children have frames" "$(cprof-dump "$tmp/fork.bin" |
	awk '/^function .*name="main::in_child"/ { id = $2; sub(/id=/, "function=", id) }
		/^lang-frame/ && id && index($0, " " id " ") && !($3 in seen) { seen[$3]; n++ }
		END { print n + 0 }')" 5

cprof-record -q --lang none -F 999 -o "$tmp/none.bin" -- "$perl" "$tmp/fork.pl"
is "--lang none has none" "$(cprof-dump "$tmp/none.bin" | grep -c lang-frame)" 0
# Processes that are not recorded start a copy of the interpreter again and again.
cp "$(readlink -f "$(command -v perl)")" "$tmp/perl-other"
(while [ ! -e "$tmp/done" ]; do "$tmp/perl-other" -e 1; done) &
cprof-record -q -F 1 -o "$tmp/other.bin" -- sleep 2
touch "$tmp/done"
wait
is "an interpreter of other processes is not read" "$(cprof-dump "$tmp/other.bin" | grep -c 'what=tables ')" 0
done_testing
