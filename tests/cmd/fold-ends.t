#!/bin/sh
# Every way in which a stack can end, as the page lists them: which ones count as truncated, and how fold, top
# and diff name them
. "$(dirname "$0")/../lib/lib.sh"

# "0 complete", "1 fp-end", ... as the page has them; the number after the last is one not yet assigned.
sed -n '/^\.Ss Values of root/,/^\.El/s/^\.It \([0-9]*\) Ta \([a-z-]*\) Ta .*/\1 \2/p' "$top/man/cprof-stream.5" >"$tmp/roots"
n=$(wc -l <"$tmp/roots" | tr -d ' ')
is "the page's list has no gap" "$(cut -d' ' -f1 "$tmp/roots" | tr '\n' ' ')" "$(seq -s' ' 0 $((n - 1))) "
[ "$n" = 16 ] || echo "$n unknown" >>"$tmp/roots"
whole=complete,fp-end,kthread,not-asked
sed "s/^[0-9]* //" "$tmp/roots" | grep -vxE "$(echo $whole | tr ',' '|')" >"$tmp/cut"

# Four threads for each root: uN and kN with a frame in that half, nN and mN without
{
	cat <<'END'
segment major=1 minor=1 least=1
event id=1 name="cpu-clock" unit="ns" period=1000 millihertz=99000
flush
process id=1 time=1 pid=4 nspid=0 parent=0 start=5 gen=0 via=snapshot
frame id=1 process=1 kind=exact address=0x10
frame id=2 process=0 kind=exact address=0xffffffff81000000
string id=1 text="f"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
ksym time=1 address=0xffffffff81000000 size=0x10 name="g" module=""
END
	t=0
	while read -r root name; do
		printf 'node id=%d parent=%d frame=1\nnode id=%d parent=%d frame=2\n' $((t / 2 + 16)) "$root" $((t / 2 + 17)) "$root"
		for stack in "u user=$((t / 2 + 16)) kernel=0" "k user=0 kernel=$((t / 2 + 17))" "n user=$root kernel=0" "m user=0 kernel=$root"; do
			t=$((t + 1))
			printf 'thread id=%d time=1 process=1 tid=%d\ncomm time=1 thread=%d comm="%s"\n' $t $t $t "${stack%% *}$root"
			printf 'sample time=2 event=1 cpu=0 thread=%d %s weight=1000\n' $t "${stack#* }"
		done
	done <"$tmp/roots"
	printf 'end time=3 reason=closed samples=%d\nflush\n' $t
} >"$tmp/ends.txt"
cprof-dump -r "$tmp/ends.txt" >"$tmp/ends.bin" || exit 1

while read -r root name; do
	cut="[truncated: $name];"
	! echo $name | grep -qxE "$(echo $whole | tr ',' '|')" || cut=
	printf '%s\n' "u$root;${cut}f 1" "k$root;${cut}g 1"
	for c in n m; do
		line="$c$root;$cut"
		echo "${line%;} 1"
	done
done <"$tmp/roots" | sort >"$tmp/want"
status "stacks of every end are read" 0 cprof-fold --truncated "$tmp/ends.bin"
same "fold --truncated tells why, in both halves, with frames and without" "$tmp/want" "$tmp/out"
sed 's/;\[truncated: [a-z-]*\]//' "$tmp/want" >"$tmp/plain"
cprof-fold "$tmp/ends.bin" >"$tmp/got"
same "  and says nothing unasked" "$tmp/plain" "$tmp/got"
is "  -U and -K leave their half" "$(cprof-fold --truncated -U "$tmp/ends.bin" | grep -c trunc) $(cprof-fold --truncated -K "$tmp/ends.bin" | grep -c trunc)" \
	"$(wc -l <"$tmp/cut" | tr -d ' ') $(wc -l <"$tmp/cut" | tr -d ' ')"

cprof-top -n 0 --truncated "$tmp/ends.bin" >"$tmp/top"
why=$(sed 's/^/2 /' "$tmp/cut" | paste -sd, | sed 's/,/, /g')
twice=$((2 * $(wc -l <"$tmp/cut")))
share() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f%%", 100 * a / b }'; }
is "top's header counts the same" "$(grep -E '^(Stacks|Kernel)' "$tmp/top")" \
	"Stacks:     $((twice + 2)) user, $(share 1 $((twice + 2))) complete, $(share 1 $((twice + 2))) by frame pointers (unverified), $(share $twice $((twice + 2))) truncated ($why)
Kernel:     $((twice + 2)) stacks, $(share $twice $((twice + 2))) truncated ($why)"
rows() { awk '/\[truncated: .*\]$/ { print $4, $6, $7 }' "$@" | sort; }
rows "$tmp/top" >"$tmp/got"
sed 's/.*/4 [truncated: &]/' "$tmp/cut" | sort >"$tmp/want"
same "top --truncated has a row for each reason" "$tmp/want" "$tmp/got"
cprof-fold --truncated "$tmp/ends.bin" | cprof-top -n 0 --truncated | rows >"$tmp/got"
same "  the same from folded text" "$tmp/want" "$tmp/got"
cprof-diff --truncated -n 0 "$tmp/ends.bin" "$tmp/ends.bin" | sed -n 's/.*\(\[truncated: .*\)/4 \1/p' | sort >"$tmp/got"
same "diff --truncated has the same rows" "$tmp/want" "$tmp/got"
done_testing
